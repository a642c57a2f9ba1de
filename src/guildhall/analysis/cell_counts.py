"""Losses, ties and wins per cell of any columns, in one pass: the counts a breakdown of millions of grades needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import table_parts
from guildhall.analysis.histogram import joint_counts, side_by_side
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.tables import Coded, Codes, Table
from guildhall.errors import NothingJudged


class CellCounts(NamedTuple):
    """`counts[i, j, ..., half]` over `names[0][i], names[1][j], ...`; rows with an empty cell are left out."""

    names: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    n_excluded: int

    def cells(self) -> Iterator[tuple[tuple[str, ...], tuple[int, int, int]]]:
        """The levels and the losses, ties and wins of each cell that has any."""
        for place in np.argwhere(self.counts.any(axis=-1)).tolist():
            losses, ties, wins = self.counts[tuple(place)].tolist()
            yield tuple(names[at] for names, at in zip(self.names, place, strict=True)), (losses, ties, wins)


def count_cell_file(path: Path, by: Sequence[str]) -> CellCounts:
    """Counts of `score` by the columns `by`, read in chunks: memory does not grow with the file."""

    def counted(part: Iterable[Table]) -> CellCounts:
        return _merged((count_cells([chunk.coded(name) for name in by], _halves(chunk)) for chunk in part), len(by))

    total = _merged(side_by_side(counted, table_parts(path, required=(*by, "score"))), len(by))
    if not total.counts.any():
        raise NothingJudged("a breakdown", n_excluded=total.n_excluded)
    return total


def count_cells(columns: Sequence[Coded], halves: Codes) -> CellCounts:
    """Counts of coded rows; `halves` is 0 loss, 1 tie, 2 win, and -1 where the score is unknown."""
    known, n_excluded = None, 0
    if any(len(codes) and codes.min() < 0 for codes in (halves, *(column.codes for column in columns))):
        known = np.logical_and.reduce([halves >= 0, *(column.codes >= 0 for column in columns)])
        columns, halves = [Coded(column.codes[known], column.names) for column in columns], halves[known]
        n_excluded = int((~known).sum())
    shape = (*(len(column.names) for column in columns), 3)
    counts = joint_counts([*(column.codes for column in columns), halves], shape)
    return CellCounts(tuple(column.names for column in columns), counts, n_excluded)


def _merged(parts: Iterable[CellCounts], n_columns: int) -> CellCounts:
    """Each part was counted in its own codes; only its small table is translated to the shared ones, if they differ."""
    total = CellCounts(((),) * n_columns, np.zeros((*(0,) * n_columns, 3), dtype=np.int64), 0)
    for part in parts:
        names = tuple(_union(known, new) for known, new in zip(total.names, part.names, strict=True))
        counts = _spread(total, names) + _spread(part, names)
        total = CellCounts(names, counts, total.n_excluded + part.n_excluded)
    return total


def _union(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return new if not known or known == new else tuple(dict.fromkeys((*known, *new)))


def _spread(part: CellCounts, names: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """A part's counts over more names, or over the same in another order: axis by axis, whole stretches at once."""
    counts = part.counts
    for axis, (own, wanted) in enumerate(zip(part.names, names, strict=True)):
        if own == wanted:
            continue
        place = {name: code for code, name in enumerate(own)}
        counts = np.concatenate(
            [counts, np.zeros_like(counts, shape=(*counts.shape[:axis], 1, *counts.shape[axis + 1 :]))], axis
        )
        counts = counts.take([place.get(name, -1) for name in wanted], axis)
    return counts


def _halves(chunk: Table) -> Codes:
    scores = chunk.numbers("score")
    if not len(scores) or not np.isnan(scores.min()):  # NaN is the least of any it is among
        return to_halves(scores)
    missing = np.isnan(scores)
    return np.where(missing, -1, to_halves(np.where(missing, 0.0, scores)))
