"""Columns of judgments: one entry for each model against the baseline in each judgment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Outcomes, to_halves
from guildhall.analysis.tables import Coded, Codes, Floats, distinct

AUTOMATIC = "automatic: "
"""Before the name of a judge that is a program: each is a kind of its own, pooled with nobody."""
NOT_ASKED = -2
"""The guess of a grader who was not asked for one."""


class Deliverables(NamedTuple):
    """Deliverables that were judged: their codes, where each first stands in the rows, and which one each row is of."""

    code: Codes
    first: NDArray[np.int64]
    at: Codes


@dataclass(frozen=True)
class Rows:
    """Columns of equal length: entry i is one model against the baseline in one judgment.

    `score` is 1 won, 0.5 tied, 0 lost. `model_place` is 0 when the model's work stood at A. `guess`: 1 the grader named
    the person rightly, -1 wrongly, 0 named no one side, or `NOT_ASKED`. `accepted`: 1 when the grader found the model's
    work usable as it is, 0 when not, or `NOT_ASKED`. `active_s` is as the grader corrected it, else
    by the clock, NaN when unknown; `exposure` is 0 when unknown. `judgment` is the judgment's row number in the store.
    `seconds` and `cost_usd` are what the work took its author, NaN when unknown.
    """

    task: Coded
    wording: Coded
    """The version of the task that was judged, by its key."""
    model: Coded
    sample: Coded
    submission: Coded
    grader: Coded
    grader_kind: Coded
    score: Floats
    model_place: NDArray[np.int16]
    guess: NDArray[np.int8]
    accepted: NDArray[np.int8]
    active_s: Floats
    exposure: NDArray[np.int32]
    confidence: Floats
    seconds: Floats
    cost_usd: Floats
    judgment: NDArray[np.int64]
    columns: Mapping[str, Coded]

    def __len__(self) -> int:
        return len(self.score)

    def keep(self, which: NDArray[Any]) -> Rows:
        """Some entries only, by flags or by places; names stay."""
        if which.dtype == np.bool_ and which.all():
            return self
        return Rows(**{one.name: _kept(getattr(self, one.name), which) for one in fields(self)})

    def of_kind(self, kind: str) -> Rows:
        """What one kind of grader said."""
        return self.keep(is_word(self.grader_kind, kind))

    def by_model(self) -> Iterator[tuple[str, Rows]]:
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

    @property
    def kinds(self) -> list[str]:
        """Kinds of graders that gave a verdict, people first."""
        return sorted(words_in(self.grader_kind), key=lambda name: (name.startswith(AUTOMATIC), name))

    def outcomes(self) -> Outcomes:
        """What estimators of rates take."""
        return Outcomes(
            task=self.task,
            model=self.model,
            sample=self.sample,
            halves=to_halves(self.score),
            grader=self.grader,
            groups=self.columns,
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


def _kept(cells: Any, which: NDArray[Any]) -> Any:
    if isinstance(cells, Coded):
        return taken(cells, which)
    if isinstance(cells, Mapping):
        return {name: taken(column, which) for name, column in cells.items()}
    return cells[which]
