"""Columns of counted judgments: one entry for each model's work against the baseline's in each judgment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Halves, Outcomes
from guildhall.analysis.tables import Coded, Codes, Floats, distinct

if TYPE_CHECKING:
    from guildhall.analysis.counting import VerdictFrames

NOT_ASKED = -2
"""The answer of a grader who was not asked."""
BREAKDOWNS = {
    "sector": "By sector",
    "occupation": "By occupation",
    "file_type": "By type of deliverable asked for",
    "hours": "By time an expert takes",
    "references": "With and without reference files",
    "specification": "By how well the brief is specified",
    "condition": "By prompt condition",
    "effort": "By reasoning effort",
}
HOURS = ((2.0, "0-2 h"), (4.0, "2-4 h"), (8.0, "4-8 h"), (float("inf"), "8 h and more"))


class Deliverables(NamedTuple):
    """Judged deliverables: their codes, where each first stands in the pairs, and which one each pair is of."""

    code: Codes
    first: NDArray[np.int64]
    at: Codes


@dataclass(frozen=True)
class Pairs:
    """Columns of equal length: entry i is one model's work against the baseline's in one judgment.

    `halves` is 2 won, 1 tied, 0 lost. `model_place` is 0 when the model's work stood at A. `guess`: 1 the grader named
    the person rightly, -1 wrongly, 0 named no one side, or `NOT_ASKED`. `accepted`: 1 when the grader found the model's
    work usable as it is, 0 when not, or `NOT_ASKED`. `active_s` is as the grader corrected it, else by the clock, NaN
    when unknown; `exposure` is 0 when unknown. `judgment` is the judgment's row number in the store. `seconds` and
    `cost_usd` are what the work took its author, NaN when unknown.
    """

    task: Coded
    """By id: who met one wording of a task is not blind to another, and judges of both go together."""
    wording: Coded
    """By key: facts belong to a wording."""
    model: Coded
    sample: Coded
    submission: Coded
    base: Codes
    """The baseline's work beside it, in the codes of `submission`."""
    grader: Coded
    halves: Halves
    model_place: NDArray[np.int16]
    guess: NDArray[np.int8]
    accepted: NDArray[np.int8]
    active_s: Floats
    exposure: NDArray[np.int32]
    sweep: NDArray[np.int32]
    confidence: Floats
    seconds: Floats
    cost_usd: Floats
    judgment: NDArray[np.int64]
    columns: Mapping[str, Coded]

    def __len__(self) -> int:
        return len(self.halves)

    @property
    def score(self) -> Floats:
        """1 won, 0.5 tied, 0 lost."""
        return self.halves / 2.0

    def keep(self, which: NDArray[Any]) -> Pairs:
        """Some entries only, by flags or by places; names stay."""
        if which.dtype == np.bool_ and which.all():
            return self
        return Pairs(**{one.name: _kept(getattr(self, one.name), which) for one in fields(self)})

    def and_also(self, other: Pairs) -> Pairs:
        """Both together."""
        found = {one.name: _joined(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        bases = (Coded(one.base, one.submission.names) for one in (self, other))
        return Pairs(**{**found, "base": _joined_codes(*bases).codes})

    def of_model(self, name: str) -> Pairs:
        return self.keep(is_word(self.model, name))

    def by_model(self) -> Iterator[tuple[str, Pairs]]:
        """Each model's entries, in the order of their names."""
        order = np.argsort(self.model.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.model.codes, minlength=len(self.model.names)))
        parts = dict(zip(self.model.names, np.split(order, ends[:-1]), strict=True)) if len(ends) else {}
        for name in sorted(parts):
            if len(parts[name]):
                yield name, self.keep(parts[name])

    @cached_property
    def deliverables(self) -> Deliverables:
        """The deliverables that were judged."""
        code, at = distinct(self.submission.codes, len(self.submission.names))
        first = np.zeros(len(code), dtype=np.int64)
        first[at[::-1]] = np.arange(len(at))[::-1]  # of several entries the last one assigned, the first, stays
        return Deliverables(code, first, at)

    def outcomes(self) -> Outcomes:
        """What estimators of rates take."""
        return Outcomes(
            task=self.task,
            model=self.model,
            sample=self.sample,
            halves=self.halves,
            grader=self.grader,
            groups=self.columns,
        )


def pairs_from(shown: pl.DataFrame, verdicts: VerdictFrames) -> Pairs:
    """Pairs from rows of models' work in counted judgments, each with `base_place` and `base_rank` beside it."""
    work = _Finder(verdicts.works, "work", shown)
    task = _Finder(verdicts.tasks, "task", shown)
    grader = _Finder(verdicts.graders, "grader", shown)
    rank, base_rank = _whole(shown, "rank", 0), _whole(shown, "base_rank", 0)
    active = shown["active_ms"].cast(pl.Float64).to_numpy() / 1000
    return Pairs(
        task=task.coded("id"),
        wording=task.coded("key"),
        model=work.coded("name"),
        sample=work.coded("sample"),
        submission=Coded(work.at.astype(np.int32), tuple(verdicts.works["key"])),
        base=_Finder(verdicts.works, "work", shown, column="base_work").at.astype(np.int32),
        grader=grader.coded("name"),
        halves=(1 + np.sign(base_rank - rank)).astype(np.int8),
        model_place=_whole(shown, "place", 0).astype(np.int16),
        guess=_guesses(shown),
        accepted=_whole(shown, "accepted", NOT_ASKED).astype(np.int8),
        active_s=active,
        exposure=_whole(shown, "exposure", 0).astype(np.int32),
        sweep=_whole(shown, "sweep", 1).astype(np.int32),
        confidence=work.numbers("confidence"),
        seconds=work.numbers("seconds"),
        cost_usd=work.numbers("cost_usd"),
        judgment=_whole(shown, "judgment", 0),
        columns=_breakdowns(task, work),
    )


def is_word(column: Coded, word: str) -> NDArray[np.bool_]:
    """Where a column holds a word."""
    code = column.names.index(word) if word in column.names else len(column.names)
    return np.asarray(column.codes == code)


def words_in(column: Coded) -> list[str]:
    """The words that really stand in a column, in the order of their codes."""
    return [column.names[code] for code in np.unique(column.codes).tolist() if code >= 0]


def taken(column: Coded, places: NDArray[Any]) -> Coded:
    return Coded(column.codes[places], column.names)


class _Finder:
    """A small frame (works, tasks, graders) looked up for each row of a large one; its words are coded once."""

    def __init__(self, frame: pl.DataFrame, key: str, rows: pl.DataFrame, *, column: str | None = None) -> None:
        known, wanted = frame[key].to_numpy(), rows[column or key].to_numpy()
        order = np.argsort(known)
        self.frame = frame
        self.at = order[np.searchsorted(known, wanted, sorter=order)] if len(known) else np.zeros(0, np.intp)

    def coded(self, column: str) -> Coded:
        return taken(coded(self.frame[column]), self.at)

    def numbers(self, column: str) -> Floats:
        found: Floats = self.frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return found[self.at]


def coded(words: pl.Series) -> Coded:
    """A column of words, the names in the order of the alphabet; null is unknown."""
    names = words.drop_nulls().cast(pl.String).unique().sort()
    codes = words.cast(pl.String).replace_strict(
        names, pl.int_range(len(names), dtype=pl.Int32, eager=True), default=-1
    )
    return Coded(codes.cast(pl.Int32).to_numpy(), tuple(names))


def _breakdowns(task: _Finder, work: _Finder) -> dict[str, Coded]:
    facts = task.frame.select(
        "sector",
        "occupation",
        "specification",
        file_type="kinds",
        hours=pl.Series([_hours(hours) for hours in task.frame["hours"]], dtype=pl.String),
        references=pl.when(pl.col("references") > 0).then(pl.lit("with reference files")).otherwise(pl.lit("without")),
    )
    found = {name: taken(coded(facts[name]), task.at) for name in facts.columns}
    found |= {name: work.coded(name) for name in ("condition", "effort")}
    return {name: found[name] for name in BREAKDOWNS}


def _hours(hours: float | None) -> str | None:
    return None if hours is None else next(label for limit, label in HOURS if hours < limit)


def _whole(frame: pl.DataFrame, column: str, unknown: int) -> NDArray[np.int64]:
    return frame[column].cast(pl.Int64).fill_null(unknown).to_numpy()


def _guesses(shown: pl.DataFrame) -> NDArray[np.int8]:
    """Whether the place named is the baseline's; only pairs ask."""
    named = _whole(shown, "guess", NOT_ASKED)
    right = np.where(named == _whole(shown, "base_place", 0), 1, -1)
    return np.where(named >= 0, right, np.where(named == NOT_ASKED, NOT_ASKED, 0)).astype(np.int8)


def _kept(cells: Any, which: NDArray[Any]) -> Any:
    if isinstance(cells, Coded):
        return taken(cells, which)
    if isinstance(cells, Mapping):
        return {name: taken(column, which) for name, column in cells.items()}
    return cells[which]


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, Coded):
        return _joined_codes(first, second)
    if isinstance(first, Mapping):
        return {name: _joined_codes(column, second[name]) for name, column in first.items()}
    return np.concatenate([first, second])


def _joined_codes(first: Coded, second: Coded) -> Coded:
    place = {name: code for code, name in enumerate(first.names)}
    moved = np.array([place.setdefault(name, len(place)) for name in second.names] or [0], dtype=np.int32)
    later = np.where(second.codes >= 0, moved[np.maximum(second.codes, 0)], -1)
    return Coded(np.concatenate([first.codes, later]).astype(np.int32), tuple(place))
