"""Counting rows by several columns of codes at once: the one pass over the data that most estimators need.

Rows are taken in blocks whose keys stay in the processor's cache, and spans of blocks are counted side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes, Floats

ROWS_A_BLOCK = 1 << 16
ROWS_A_SPAN = 1 << 21
"""Fixed, so that sums of weights do not depend on the number of processors."""

Item = TypeVar("Item")
Found = TypeVar("Found")


def joint_counts(columns: Sequence[Codes], shape: Sequence[int], *, weight: Floats | None = None) -> NDArray[Any]:
    """How many rows have each combination of codes, or the sum of their weights; no code may be below 0."""
    spans = range(0, max(len(columns[0]), 1), ROWS_A_SPAN)
    total = np.zeros(math.prod(shape), dtype=np.int64 if weight is None else np.float64)
    for counted in side_by_side(lambda start: _count_span(columns, shape, weight, start), spans):
        total += counted
    return total.reshape(shape)


def side_by_side(work: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
    """`work` of each item, in order, on as many threads as there are processors.

    For work that spends its time in NumPy or Arrow, which let other threads run meanwhile.
    """
    n_threads = min(len(items), os.cpu_count() or 1)
    if n_threads < 2:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, items)


def _count_span(columns: Sequence[Codes], shape: Sequence[int], weight: Floats | None, start: int) -> NDArray[Any]:
    size, end = math.prod(shape), min(start + ROWS_A_SPAN, len(columns[0]))
    total = np.zeros(size, dtype=np.int64 if weight is None else np.float64)
    # Adding up a large table costs as much as counting that many rows.
    step = max(ROWS_A_BLOCK, size)
    for first in range(start, end, step):
        rows = slice(first, min(first + step, end))
        key: Codes = columns[0][rows].astype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)
        for column, length in zip(columns[1:], shape[1:], strict=True):
            key *= length
            key += column[rows]
        total += np.bincount(key, None if weight is None else weight[rows], minlength=size)
    return total
