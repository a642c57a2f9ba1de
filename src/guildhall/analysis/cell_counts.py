"""Losses, ties and wins per cell of any columns, in one pass: the counts a breakdown of millions of grades needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import stream_table
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.tables import Coded, Codes, Table, renumber
from guildhall.errors import NothingJudged

ROWS_A_BLOCK = 1 << 17


class CellCounts(NamedTuple):
    """`counts[i, j, ..., half]` over `names[0][i], names[1][j], ...`; rows with an empty cell are left out."""

    names: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    n_excluded: int


def count_cell_file(path: Path, by: Sequence[str]) -> CellCounts:
    """Counts of `score` by the columns `by`, read in chunks: memory does not grow with the file."""
    return count_cell_chunks(stream_table(path, required=(*by, "score")), by)


def count_cell_chunks(chunks: Iterable[Table], by: Sequence[str]) -> CellCounts:
    """Each chunk is counted in its own codes; only its small table is translated to the shared ones."""
    indices: list[dict[str, int]] = [{} for _ in by]
    total, n_excluded = np.zeros((*(0 for _ in by), 3), dtype=np.int64), 0
    for chunk in chunks:
        columns = [chunk.coded(name) for name in by]
        halves = _halves(chunk)
        one = count_cells(columns, halves)
        places = [renumber(Coded(np.arange(len(c.names)), c.names), i) for c, i in zip(columns, indices, strict=True)]
        grown = np.zeros((*(len(index) for index in indices), 3), dtype=np.int64)
        grown[tuple(slice(size) for size in total.shape)] = total
        grown[np.ix_(*places, np.arange(3))] += one.counts
        total, n_excluded = grown, n_excluded + one.n_excluded
    if not total.sum():
        raise NothingJudged("a breakdown", n_excluded=n_excluded)
    return CellCounts(tuple(tuple(index) for index in indices), total, n_excluded)


def count_cells(columns: Sequence[Coded], halves: Codes) -> CellCounts:
    """Counts of coded rows; `halves` is 0 loss, 1 tie, 2 win, and -1 where the score is unknown."""
    known = None
    if any(len(codes) and codes.min() < 0 for codes in (halves, *(column.codes for column in columns))):
        known = np.logical_and.reduce([halves >= 0, *(column.codes >= 0 for column in columns)])
        columns, halves = [Coded(column.codes[known], column.names) for column in columns], halves[known]
    shape = (*(len(column.names) for column in columns), 3)
    size = int(np.prod(shape))
    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, len(halves), ROWS_A_BLOCK):
        rows = slice(start, start + ROWS_A_BLOCK)
        key = np.zeros(len(halves[rows]), dtype=np.int64)
        for column in columns:
            key *= len(column.names)
            key += column.codes[rows]
        key *= 3
        key += halves[rows]
        counts += np.bincount(key, minlength=size)
    n_excluded = 0 if known is None else int((~known).sum())
    return CellCounts(tuple(column.names for column in columns), counts.reshape(shape), n_excluded)


def _halves(chunk: Table) -> Codes:
    scores = chunk.numbers("score")
    missing = np.isnan(scores)
    if missing.any():
        return np.where(missing, -1, to_halves(np.where(missing, 0.0, scores)))
    return to_halves(scores)
