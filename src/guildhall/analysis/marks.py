"""Cross-marking tables: who marked whose essay how, in arrays, with the plain figures of the Boswell Test.

A mark that states no grade is a missing value: it is left out of every figure and counted. Orientation is in
the names: `received` is about an author, `given` is about a grader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import ImpossibleValue, NothingMarked

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class MarkRow:
    """One grader's mark of one essay; `mark` is None where no grade could be read."""

    author: str
    grader: str
    essay: str
    mark: float | None
    round: int = 1


@dataclass(frozen=True)
class MarkTable:
    """Marks as parallel arrays; `author`, `grader` index `models`, `essay` indexes `essays`.

    Only read marks are in the arrays; `missing_received` and `missing_given` count the others by model.
    """

    models: tuple[str, ...]
    essays: tuple[str, ...]
    author: Codes
    grader: Codes
    essay: Codes
    mark: Floats
    missing_received: Codes
    missing_given: Codes

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which marks a model gave to itself."""
        own: NDArray[np.bool_] = self.author == self.grader
        return own

    @property
    def n_missing(self) -> int:
        return int(self.missing_received.sum())

    def keep(self, which: NDArray[np.bool_]) -> MarkTable:
        """The same table with some marks only; names and counts of missing marks stay."""
        return MarkTable(
            self.models,
            self.essays,
            self.author[which],
            self.grader[which],
            self.essay[which],
            self.mark[which],
            self.missing_received,
            self.missing_given,
        )


def mark_table(rows: Iterable[MarkRow]) -> MarkTable:
    """Rows to arrays. An essay belongs to its author, so equal essay names of two authors are two essays."""
    kept = list(rows)
    models = tuple(sorted({row.author for row in kept} | {row.grader for row in kept}))
    code = {name: index for index, name in enumerate(models)}
    essays = sorted({(row.author, row.essay) for row in kept})
    essay_code = {pair: index for index, pair in enumerate(essays)}
    read = [row for row in kept if row.mark is not None]
    unread = [row for row in kept if row.mark is None]
    marks = np.array([row.mark for row in read], dtype=float)
    if not len(read):
        raise NothingMarked
    if not np.isfinite(marks).all():
        raise ImpossibleValue(
            "a mark", marks[~np.isfinite(marks)][0], allowed="a finite number, or None where none was read"
        )
    return MarkTable(
        models,
        tuple(f"{author}/{essay}" for author, essay in essays),
        _codes(code[row.author] for row in read),
        _codes(code[row.grader] for row in read),
        _codes(essay_code[row.author, row.essay] for row in read),
        marks,
        np.bincount(_codes(code[row.author] for row in unread), minlength=len(models)),
        np.bincount(_codes(code[row.grader] for row in unread), minlength=len(models)),
    )


def _codes(values: Iterable[int]) -> Codes:
    return np.fromiter(values, dtype=np.intp)


def medians_received(table: MarkTable, *, own_marks: bool = False) -> dict[str, float | None]:
    """Median mark of each author's essays over graders, by default without marks authors gave themselves."""
    shown = table if own_marks else table.keep(~table.own)
    return _grouped_medians(table.models, shown.author, shown.mark)


def medians_given(table: MarkTable, *, own_marks: bool = True) -> dict[str, float | None]:
    """Median of the marks each grader gave."""
    shown = table if own_marks else table.keep(~table.own)
    return _grouped_medians(table.models, shown.grader, shown.mark)


def _grouped_medians(names: tuple[str, ...], group: Codes, marks: Floats) -> dict[str, float | None]:
    return {
        name: float(np.median(marks[group == index])) if (group == index).any() else None
        for index, name in enumerate(names)
    }


def consensus_without(table: MarkTable, grader: int) -> dict[int, float]:
    """Each essay's median over the graders other than `grader`, its own author's mark left out too."""
    others = table.keep((table.grader != grader) & ~table.own)
    return {int(essay): float(np.median(others.mark[others.essay == essay])) for essay in np.unique(others.essay)}


@dataclass(frozen=True)
class Agreeing:
    """How one grader's marks sit against the leave-one-out consensus on essays of others."""

    grader: str
    n_essays: int
    tau_b: float | None
    bias: float | None
    evaluation: float | None
    why_absent: str | None = None


def evaluate_grader(table: MarkTable, grader: str) -> Agreeing:
    """Evaluation = 100 x (0.5 max(0, tau_b) + 0.5 max(0, 1 - |b|)), absent under four essays.

    tau_b compares the grader's marks (a mean where it marked an essay more than once) with the median of the
    other graders' marks, over essays the grader did not write; it is 0 for a grader whose marks are constant.
    b is the median difference between the two.
    """
    index = table.models.index(grader)
    consensus = consensus_without(table, index)
    mine = table.keep((table.grader == index) & ~table.own)
    essays = [int(essay) for essay in np.unique(mine.essay) if int(essay) in consensus]
    if len(essays) < 4:
        return Agreeing(grader, len(essays), None, None, None, f"{len(essays)} essays of others; at least 4 are needed")
    given = np.array([mine.mark[mine.essay == essay].mean() for essay in essays])
    held = np.array([consensus[essay] for essay in essays])
    tau, bias = kendall_tau_b(given, held), float(np.median(given - held))
    score = 100 * (0.5 * max(0.0, tau) + 0.5 * max(0.0, 1 - abs(bias)))
    return Agreeing(grader, len(essays), tau, bias, score)


def kendall_tau_b(first: Floats, second: Floats) -> float:
    """Kendall's tau-b, with ties; 0 when either side is constant, since it then orders nothing."""
    upper = np.triu_indices(len(first), k=1)
    a = np.sign(first[:, None] - first[None, :])[upper]
    b = np.sign(second[:, None] - second[None, :])[upper]
    scale = np.sqrt(np.count_nonzero(a) * np.count_nonzero(b))
    return float((a * b).sum() / scale) if scale > 0 else 0.0


def efficiency(seconds_by_model: Mapping[str, float | None], *, reference_s: float) -> dict[str, float | None]:
    """100 x (1 - time / reference), floored at 0: against a stated reference, not the slowest model present.

    A model without any uncached call has no time and therefore no efficiency; a slow one has zero.
    """
    return {
        model: None if seconds is None else 100 * max(0.0, 1 - seconds / reference_s)
        for model, seconds in seconds_by_model.items()
    }
