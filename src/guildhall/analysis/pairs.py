"""Columns of counted judgments: one entry for each model's work against the baseline's in each judgment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Halves, Outcomes, joined_codes
from guildhall.analysis.tables import Coded, Codes, Floats, distinct, places_of

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
_HOURS = pl.coalesce(pl.when(pl.col("hours") < limit).then(pl.lit(label)) for limit, label in HOURS)
_BESIDE = pl.when(pl.col("references") > 0).then(pl.lit("with reference files")).otherwise(pl.lit("without"))

OF_TASKS = {
    "sector": pl.col("sector"),
    "occupation": pl.col("occupation"),
    "specification": pl.col("specification"),
    "file_type": pl.col("kinds"),
    "hours": _HOURS,
    "references": _BESIDE,
}
_OF_WORKS = ("condition", "effort")


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
        return Pairs(**{**found, "base": joined_codes(*bases).codes})

    def by_model(self) -> Iterator[tuple[str, NDArray[np.intp]]]:
        """Where each model's entries stand, in the order of the models' names."""
        return (
            (name, at)
            for name, at in sorted(zip(self.model.names, places_of(self.model), strict=True), key=lambda one: one[0])
            if len(at)
        )

    @cached_property
    def deliverables(self) -> Deliverables:
        """The deliverables that were judged."""
        code, at = distinct(self.submission.codes, len(self.submission.names))
        first = np.zeros(len(code), dtype=np.int64)
        first[at[::-1]] = np.arange(len(at))[::-1]  # of several entries the last one assigned, the first, stays
        return Deliverables(code, first, at)

    @property
    def outcomes(self) -> Outcomes:
        """What estimators of rates take; occupations stay as they are in any other draw of tasks."""
        return Outcomes(
            task=self.task,
            model=self.model,
            sample=self.sample,
            halves=self.halves,
            grader=self.grader,
            stratum=self.columns.get("occupation"),
            groups=self.columns,
        )


def pairs_from(shown: pl.DataFrame, verdicts: VerdictFrames) -> Pairs:
    """Pairs from rows of models' work in counted judgments, each with `base_place` and `base_rank` beside it."""
    works, tasks, graders = verdicts.works, verdicts.tasks, verdicts.graders
    work, task, grader, base = (shown[name].to_numpy() for name in ("work", "task", "grader", "base_work"))
    facts = tasks.select(**OF_TASKS)
    columns = {name: Coded(*_words(facts[name], task)) for name in facts.columns}
    columns |= {name: Coded(*_words(works[name], work)) for name in _OF_WORKS}
    rank, base_rank = _whole(shown["rank"], 0), _whole(shown["base_rank"], 0)
    named, base_place = _whole(shown["guess"], NOT_ASKED), _whole(shown["base_place"], 0)
    right = np.where(named == base_place, 1, -1)
    return Pairs(
        task=Coded(*_words(tasks["id"], task)),
        wording=Coded(*_words(tasks["key"], task)),
        model=Coded(*_words(works["name"], work)),
        sample=Coded(*_words(works["sample"], work)),
        submission=Coded(work.astype(np.int32), tuple(works["key"])),
        base=base.astype(np.int32),
        grader=Coded(*_words(graders["name"], grader)),
        halves=(1 + np.sign(base_rank - rank)).astype(np.int8),
        model_place=_whole(shown["place"], 0).astype(np.int16),
        guess=np.where(named >= 0, right, np.where(named == NOT_ASKED, NOT_ASKED, 0)).astype(np.int8),
        accepted=_whole(shown["accepted"], NOT_ASKED).astype(np.int8),
        active_s=shown["active_ms"].cast(pl.Float64).to_numpy() / 1000,
        exposure=_whole(shown["exposure"], 0).astype(np.int32),
        sweep=_whole(shown["sweep"], 1).astype(np.int32),
        confidence=_numbers(works["confidence"])[work],
        seconds=_numbers(works["seconds"])[work],
        cost_usd=_numbers(works["cost_usd"])[work],
        judgment=_whole(shown["judgment"], 0),
        columns={name: columns[name] for name in BREAKDOWNS},
    )


def facts_of(tried: pl.DataFrame) -> pl.DataFrame:
    """What breakdowns break down by, of works that stand in one frame with their tasks' facts."""
    return tried.select(**OF_TASKS, **{name: pl.col(name) for name in _OF_WORKS}).select(*BREAKDOWNS)


def is_word(column: Coded, word: str) -> NDArray[np.bool_]:
    """Where a column holds a word."""
    code = column.names.index(word) if word in column.names else len(column.names)
    return np.asarray(column.codes == code)


def words_in(column: Coded) -> list[str]:
    """The words that really stand in a column, in the order of their codes."""
    return [column.names[code] for code in np.unique(column.codes).tolist() if code >= 0]


def taken(column: Coded, places: NDArray[Any]) -> Coded:
    return Coded(column.codes[places], column.names)


def coded(words: pl.Series) -> Coded:
    """A column of words, the names in the order of the alphabet; null is unknown."""
    return Coded(*_words(words, np.arange(len(words))))


def _words(known: pl.Series, places: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """The codes of the words at some places of a column, and what they stand for, in the order of the alphabet."""
    words = known.cast(pl.String)
    names = words.drop_nulls().unique().sort()
    codes = words.replace_strict(names, pl.int_range(len(names), dtype=pl.Int32, eager=True), default=-1)
    return codes.cast(pl.Int32).to_numpy()[places], tuple(names)


def _numbers(known: pl.Series) -> Floats:
    return known.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _whole(known: pl.Series, unknown: int) -> NDArray[np.int64]:
    return known.cast(pl.Int64).fill_null(unknown).to_numpy()


def _kept(cells: Any, which: NDArray[Any]) -> Any:
    if isinstance(cells, Coded):
        return taken(cells, which)
    if isinstance(cells, Mapping):
        return {name: taken(column, which) for name, column in cells.items()}
    return cells[which]


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, Coded):
        return joined_codes(first, second)
    if isinstance(first, Mapping):
        return {name: joined_codes(column, second[name]) for name, column in first.items()}
    return np.concatenate([first, second])
