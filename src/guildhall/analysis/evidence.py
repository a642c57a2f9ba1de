"""What a report rests on: counted judgments of one group of graders, the others beside, and facts that chapters ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.counting import Counted
from guildhall.analysis.missing import Becomes, missing_grades
from guildhall.analysis.paired import Drift, rates_by_task
from guildhall.analysis.pairs import NOT_ASKED, Pairs
from guildhall.analysis.spreads import THESE
from guildhall.analysis.tables import Coded, Floats, Table, distinct
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.policy import GraderGroup, GroupKind
from guildhall.domain.report import TaskRates
from guildhall.domain.studies import Study


def tasks_and_models(rows: Pairs, tasks: pl.DataFrame) -> Table | None:
    """One row per task, model and grader, in the columns `guildhall analyze savings` reads.

    Review is a task's mean active time at a grader's first sight of it, priced at the wage of the task's occupation;
    a model's minutes and dollars are means over its samples, as the ledger booked them.
    """
    n_tasks, n_models = len(rows.wording.names), len(rows.model.names)
    n_graders = len(rows.grader.names) + 1
    pair = rows.model.codes.astype(np.int64) * n_tasks + rows.wording.codes
    said, at = distinct(pair * n_graders + rows.grader.codes + 1, n_models * n_tasks * n_graders)
    pairs, grader = np.divmod(said, n_graders)
    model, task = np.divmod(pairs, n_tasks)
    hours, wage = (_of_tasks(rows, tasks, name) for name in ("hours", "wage"))
    review = _review_minutes(rows)
    spent = _spent(rows, n_models * n_tasks)
    known = ~np.isnan(hours[task]) & ~np.isnan(spent["minutes"][pairs])
    if not known.any():
        return None
    asked = rows.accepted != NOT_ASKED
    columns: dict[str, Coded | Floats] = {
        "task": Coded(task[known].astype(np.int32), rows.wording.names),
        "model": _named(model[known], rows.model.names),
        "grader": Coded((grader[known] - 1).astype(np.int32), rows.grader.names),
        "human_minutes": 60 * hours[task],
        "human_cost": (hours * wage)[task],
        "minutes": spent["minutes"][pairs],
        "cost": spent["cost"][pairs],
        "wins": _count(at, rows.score == 1.0),
        "ties": _count(at, rows.score == 0.5),
        "judgments": _count(at, np.ones(len(rows), dtype=np.bool_)),
        "accepted": _count(at, rows.accepted == 1),
        "rated": _count(at, asked),
    }
    if review is not None:
        columns |= {"review_minutes": review[task], "review_cost": (review / 60 * wage)[task]}
    kept = {name: cells if isinstance(cells, Coded) else cells[known] for name, cells in columns.items()}
    return Table(kept, int(known.sum()))


def _named(codes: NDArray[Any], names: tuple[str, ...]) -> Coded:
    """Codes over the names that occur: the expert is nobody's row."""
    used, renumbered = np.unique(codes, return_inverse=True)
    return Coded(renumbered.astype(np.int32), tuple(names[code] for code in used.tolist()))


def _count(at: NDArray[Any], which: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.bincount(at, which), dtype=np.float64)


def _of_tasks(rows: Pairs, tasks: pl.DataFrame, fact: str) -> Floats:
    """A fact of each wording among the pairs'; NaN where unknown."""
    known = dict(zip(tasks["key"], tasks[fact], strict=True))
    return np.array([known.get(name) for name in rows.wording.names], dtype=np.float64)


def _review_minutes(rows: Pairs) -> Floats | None:
    """Each task's mean; a judgment of several works counts once. None where no time was taken."""
    _, first = np.unique(rows.judgment, return_index=True)
    seen = first[(rows.exposure[first] == 1) & ~np.isnan(rows.active_s[first])]
    if not len(seen):
        return None
    return _means(rows.wording.codes[seen], rows.active_s[seen] / 60, len(rows.wording.names))


def _spent(rows: Pairs, size: int) -> dict[str, Floats]:
    """Mean minutes and dollars of each (model, task), over the samples that were judged; NaN where unknown."""
    first = rows.deliverables.first
    pair = rows.model.codes[first].astype(np.int64) * len(rows.wording.names) + rows.wording.codes[first]
    return {"minutes": _means(pair, rows.seconds[first] / 60, size), "cost": _means(pair, rows.cost_usd[first], size)}


def _means(group: NDArray[Any], values: Floats, size: int) -> Floats:
    """The mean of each group's known values; NaN for a group without one."""
    known = ~np.isnan(values)
    times = np.bincount(group[known], minlength=size)
    total = np.bincount(group[known], values[known], minlength=size)
    means: Floats = np.divide(total, times, out=np.full(size, np.nan), where=times > 0)
    return means


class Need(StrEnum):
    """A table of facts beside the judgments; it is read only where a chapter needs it. Its columns:

    `severity`: `submission, task, model` (null for a person's work), `severity, grader, control, drawn`.
    `files`: `author, task, submission, ending, rules`: delivered files with the faults that checks found in each.
    `steering`: `author, task, submission, rules`: all work, with the attempts to steer whoever judges found in each.
    `tells`: `submission`: work that still hints at its maker.
    `lengths`: `submission, words`: how many words all that was delivered holds.
    `picks`: `author, chosen, order`: tries a judge picked from.
    `reasons`: `coder, judgment, label`: justifications by the label that names their main reason.
    `opened`: `submission, declined`: works in sets that were opened and not judged, and how often they were declined.
    `justifications`: `judgment, side, model, task, words`: what graders wrote, by whose work lost or won.
    """

    SEVERITY = "severity"
    FILES = "files"
    STEERING = "steering"
    TELLS = "tells"
    LENGTHS = "lengths"
    PICKS = "picks"
    REASONS = "reasons"
    JUSTIFICATIONS = "justifications"
    OPENED = "opened"


@dataclass(frozen=True)
class Evidence:
    """All a chapter may look at. It opens nothing: the same evidence gives the same section anywhere."""

    study: Study
    counted: Counted
    tasks: pl.DataFrame
    """The study's tasks with their facts: `key, id, sector, occupation, hours, wage, references, expert, ...`."""
    others: Mapping[GraderGroup, Counted] = field(default_factory=dict)
    """Other groups that judged the same study under the same rules: never pooled with these."""
    facts: Mapping[Need, pl.DataFrame] = field(default_factory=dict)
    submissions: int = 0
    """Works that were shown in comparisons with the baseline's."""
    omissions: int = 0
    """Files or parts of files that could not be shown, over all sides of counted judgments."""
    comparisons: int = 0
    earlier: Evidence | None = None
    """The earlier wave where the two may be pooled: its pairs are among these."""
    drift: Drift | None = None
    """What the anchors of a later wave say."""
    level: float = 0.95
    seed: int = 0

    @property
    def pairs(self) -> Pairs:
        return self.counted.pairs

    @property
    def rehearsed(self) -> bool:
        """Whether simulated graders judged: then no figure is about any model, and no clock's time is told."""
        return self.study.design.rehearsal or self.group.kind is GroupKind.SIMULATED

    @cached_property
    def rates(self) -> list[WinRate]:
        """Every model's rates against the baseline: a report tells one value of each."""
        return win_rates(self.counted.outcomes, level=self.level)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """In the order in which every chapter tells of them: the highest rate first, ties counting half."""
        ranked = sorted(
            self.rates, key=lambda one: (one.half_tie.value is None, -(one.half_tie.value or 0.0), one.model)
        )
        return tuple(one.model for one in ranked)

    @cached_property
    def tasks_and_models(self) -> Table | None:
        """What savings rest on: a row for each task, model and grader; None where no hours or times are known."""
        pairs = self.pairs
        if self.counted.policy.these_graders:
            # One grader is no sample: what is said is said of these very ones.
            pairs = replace(pairs, grader=Coded(np.zeros_like(pairs.grader.codes), (THESE,)))
        return tasks_and_models(pairs, self.tasks)

    @cached_property
    def task_rates(self) -> TaskRates:
        """Each task's own rates by model."""
        return rates_by_task(self.counted.outcomes, self.waves)

    @property
    def wanted(self) -> int:
        """How many grades each piece of work was to get; a program's rounds are whole, and count as one."""
        people = self.group.of_people or self.group.kind is GroupKind.SIMULATED
        return (self.study.plan.graders_per_set or self.study.design.hall.graders_per_set) if people else 1

    @cached_property
    def lacking(self) -> pl.DataFrame | None:
        """Works with how many of their grades are missing; None where nobody knows what was tried."""
        tried = self.counted.attempted
        return None if tried is None else missing_grades(tried, self.pairs, wanted=self.wanted)

    @property
    def done(self) -> float | None:
        """The share of the planned gradings of what was brought that is done; None where it is unknown."""
        tried = self.counted.attempted
        if tried is None or self.lacking is None:
            return None
        asked = self.wanted * int((tried["becomes"] == Becomes.TO_GRADE.value).sum())
        open_ = int(self.lacking.filter(becomes=Becomes.TO_GRADE.value)["lacking"].sum())
        return 1.0 - open_ / asked if asked else None

    @property
    def group(self) -> GraderGroup:
        return self.counted.policy.graders

    @property
    def baseline(self) -> str:
        return self.counted.policy.baseline

    @property
    def waves(self) -> tuple[Study, ...]:
        """The studies whose pairs are here, the earliest first."""
        return (*(self.earlier.waves if self.earlier is not None else ()), self.study)
