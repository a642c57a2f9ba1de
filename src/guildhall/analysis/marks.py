"""Cross-marking tables: who marked whose essay how, in arrays, with the plain figures of the Boswell Test.

A mark that states no grade is a missing value: it is left out of every figure and counted. Orientation is in
the names: `received` is about an author, `given` is about a grader.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import read_table
from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.analysis.tables import joint_counts, renumber
from guildhall.domain.estimates import Estimate
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


class CrossMarks(NamedTuple):
    """`medians[grader, author]` and `counts` of marks; NaN where nothing was marked. Bias above zero is leniency."""

    medians: Floats
    counts: NDArray[np.int64]
    received: Floats
    given: Floats
    bias: Floats


def cross_marks(grader: Codes, author: Codes, mark: Codes, values: Floats, *, n_models: int) -> CrossMarks:
    """Medians and bias from coded marks: `values[mark[i]]`, rising, is what grader i gave author i.

    `bias` is the median a grader gave minus the median of all marks; marks to oneself included, as published. Marks
    take few distinct values, so medians are found by counting, never by sorting.
    """
    if not len(mark):
        raise NothingMarked
    counts = joint_counts([grader, author, mark], (n_models, n_models, len(values)))
    medians = _medians(counts, values)
    given = _medians(counts.sum(axis=1), values)
    overall = _medians(counts.sum(axis=(0, 1)), values)
    return CrossMarks(medians, counts.sum(axis=2), _medians(counts.sum(axis=0), values), given, given - overall)


def _medians(counts: NDArray[np.int64], values: Floats) -> Floats:
    """Medians along the last axis of counts of rising values: the mean of the two middle marks, as usual."""
    reached = np.cumsum(counts, axis=-1)
    total = reached[..., -1:]
    lower = (reached <= (total - 1) // 2).sum(axis=-1)
    upper = (reached <= total // 2).sum(axis=-1)
    last = len(values) - 1
    medians = 0.5 * (values[np.minimum(lower, last)] + values[np.minimum(upper, last)])
    return np.where(total[..., 0] > 0, medians, np.nan)


def cross_mark_file(path: Path) -> tuple[tuple[str, ...], CrossMarks, int]:
    """The models of a file with columns `grader, author, mark`, their medians, and how many rows have no mark."""
    table = read_table(path, required=("grader", "author", "mark"))
    marks, index = table.numbers("mark"), dict[str, int]()
    known = ~np.isnan(marks)
    grader, author = (renumber(table.coded(name), index)[known] for name in ("grader", "author"))
    if ((grader < 0) | (author < 0)).any():
        raise ImpossibleValue("grader or author", "empty in some row", allowed="named in every row with a mark")
    values, mark = np.unique(marks[known], return_inverse=True)
    return tuple(index), cross_marks(grader, author, mark, values, n_models=len(index)), int((~known).sum())


def medians_received(table: MarkTable, *, own_marks: bool = False) -> dict[str, float | None]:
    """Median mark of each author's essays over graders, by default without marks authors gave themselves."""
    return _named_medians(table, "received", own_marks=own_marks)


def _named_medians(
    table: MarkTable, which: Literal["received", "given"], *, own_marks: bool
) -> dict[str, float | None]:
    shown = table if own_marks else table.keep(~table.own)
    if not len(shown.mark):
        return dict.fromkeys(table.models)
    values, mark = np.unique(shown.mark, return_inverse=True)
    found: Floats = getattr(cross_marks(shown.grader, shown.author, mark, values, n_models=len(table.models)), which)
    return {name: None if math.isnan(one) else one for name, one in zip(table.models, found.tolist(), strict=True)}


class Repeated(NamedTuple):
    """How a grader repeats itself on essays it marked in several rounds; 0 is a grader that always does."""

    grader: str
    pairs: int
    same: float
    gap: Estimate


def repeatability(table: MarkTable) -> list[Repeated]:
    """Each grader that marked some essay more than once.

    `same` is the share of its pairs of marks that are equal. `gap`: the mean over its essays of the mean distance
    between two marks of one, so that essays weigh equally; interval by t over essays.
    """
    found = []
    for code, name in enumerate(table.models):
        mine = table.keep(table.grader == code)
        given = [mine.mark[mine.essay == essay] for essay in np.unique(mine.essay)]
        apart = [np.abs(np.subtract.outer(one, one))[np.triu_indices(len(one), k=1)] for one in given if len(one) > 1]
        if not apart:
            continue
        value, spread = mean_of_cluster_means(
            np.array([gaps.mean() for gaps in apart]), np.arange(len(apart), dtype=np.intp)
        )
        gap = t_estimate(
            value,
            spread,
            estimand=f"mean distance between {name}'s marks of one essay",
            method="mean over essays, t over essays",
            unit="essay",
            n_judgments=len(mine.mark),
        )
        if gap.interval is not None:
            gap = replace(gap, interval=(max(0.0, gap.interval[0]), gap.interval[1]))
        pairs = np.concatenate(apart)
        found.append(Repeated(name, len(pairs), float((pairs == 0).mean()), gap))
    return found


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
