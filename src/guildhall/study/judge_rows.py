"""Verdicts of people and of each judge on the same work, as rows that accounts and trained graders count from.

Which judgments these are is decided by `count`, once for each group of graders.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl
from sqlalchemy import select

from guildhall.analysis.accountability import Coverage
from guildhall.analysis.counting import Counted, VerdictFrames, count
from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import CRITERIA
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.policy import PROGRAMS, GraderGroup, GroupKind, Policy
from guildhall.domain.prepared import Prepared
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.errors import NothingJudged
from guildhall.grading.judges.features import maker_of, maker_of_model
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.policy import policies_of

Makers = Mapping[str, str]


@dataclass(frozen=True)
class JudgedWork:
    """A study's verdicts by group; each group is counted once, when it is asked for."""

    workspace: Workspace
    study: Study
    makers: Makers = field(default_factory=dict)
    """Families of authors by name; where one is missing, its model string before the slash stands for it."""
    judge_makers: Makers = field(default_factory=dict)

    @cached_property
    def groups(self) -> list[GraderGroup]:
        return list(self._policies)

    @cached_property
    def judges(self) -> dict[str, GraderGroup]:
        """The programs that judged, by name."""
        return {str(group.name): group for group in self.groups if group.kind in PROGRAMS}

    def by(self, name: str) -> Counted:
        """What counts of one program; `NothingJudged` where it gave no verdict."""
        if name not in self.judges:
            raise NothingJudged(f"the account of {name}")
        return self.counted(self.judges[name])

    def counted(self, group: GraderGroup) -> Counted:
        return count(self._verdicts, self._policies[group])

    @cached_property
    def people(self) -> list[PairScore]:
        """The leading group of people, or where there is none of simulated graders; kinds are never pooled."""
        leading = next((one for one in self.groups if one.of_people or one.kind is GroupKind.SIMULATED), None)
        return [] if leading is None else list(self.rows(self.counted(leading)))

    def rows(self, counted: Counted) -> Iterator[PairScore]:
        """A row for each pair: whole rounds of a judge only."""
        group, pairs = counted.policy.graders, counted.pairs
        human = group.kind not in PROGRAMS
        for at, answer in enumerate(counted.answers.iter_rows(named=True)):
            sample, base = (pairs.submission.names[code] for code in (pairs.submission.codes[at], pairs.base[at]))
            grader, first = pairs.grader.names[pairs.grader.codes[at]], answer["place"] < answer["base_place"]
            yield PairScore(
                task=pairs.task.names[pairs.task.codes[at]],
                model=pairs.model.names[pairs.model.codes[at]],
                sample=sample,
                grader=grader,
                human=human,
                score=float(pairs.halves[at]) / 2,
                shown_first=first,
                grader_kind=str(group.kind) if human else "automatic",
                sweep=int(pairs.sweep[at]),
                log_length_ratio=_ratio(self._words.get(sample), self._words.get(base)),
                kin=None if human else self._kin(sample, grader, group),
                cost_usd=answer["cost_usd"],
                criteria=_criteria(answer),
            )

    def coverage(self, counted: Counted) -> Coverage:
        """Both denominators of a judge: verdicts asked for and given, failures by kind, and what they took along."""
        lost = counted.unanswered
        failed = lost.filter(pl.col("rank").is_null()).join(self._verdicts.failures, on="failure", how="left")
        kinds = failed["name"].fill_null("unknown").value_counts()
        costs = pl.concat([counted.answers["cost_usd"], lost["cost_usd"]])
        answered = int(lost["rank"].is_not_null().sum())
        return Coverage(
            asked=len(counted.answers) + len(lost),
            verdicts=len(counted.answers) + answered,
            failures=dict(sorted(kinds.iter_rows())),
            left_out_with_them=answered,
            cost_usd=float(costs.sum()) if not costs.null_count() else None,
        )

    @cached_property
    def _policies(self) -> dict[GraderGroup, Policy]:
        return policies_of(self.workspace, self.study, self._verdicts)

    @cached_property
    def _verdicts(self) -> VerdictFrames:
        return read_verdicts(
            self.workspace.store, [self.study.id], parts=self.workspace.verdict_parts, tried=self.study
        )

    @cached_property
    def _words(self) -> dict[str, int]:
        """How many words each piece of work holds, as it was made ready; the newest look counts."""
        table = shelf_of(Prepared).table
        with self.workspace.store.reading() as connection:
            found = connection.execute(select(table.c.subject, table.c.body).order_by(table.c.seq)).all()
        looks = {subject: json.loads(body) for subject, body in found}
        return {
            subject: len(look["text"].split()) + sum(file["words"] for file in look["files"])
            for subject, look in looks.items()
        }

    @cached_property
    def _authors(self) -> dict[str, str | None]:
        """The family of each judged submission's author, as far as it is known."""
        names = {name for group in self.groups for name in self.counted(group).pairs.submission.names}
        made = {key: self.workspace.store.get(Submission, key).author for key in names}
        return {key: maker_of(one, self.makers) if isinstance(one, ModelRun) else None for key, one in made.items()}

    def _kin(self, sample: str, grader: str, group: GraderGroup) -> bool | None:
        model = next((one.plan.model for one in self.study.design.judges if one.plan.name == group.name), None)
        judge, own = self.judge_makers.get(grader) or maker_of_model(model), self._authors.get(sample)
        return None if judge is None or own is None else judge == own


def _ratio(own: int | None, other: int | None) -> float | None:
    return None if own is None or other is None else math.log((own + 1) / (other + 1))


def _criteria(answer: Mapping[str, object]) -> dict[str, float]:
    """Each criterion from the work's own side: 1 better, 0.5 alike, 0 worse."""
    found = {name: answer[name.replace(" ", "_")] for name in CRITERIA}
    return {name: 0.5 + 0.5 * ((step > 0) - (step < 0)) for name, step in found.items() if isinstance(step, int)}
