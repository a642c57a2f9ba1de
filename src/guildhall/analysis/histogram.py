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

ROWS_A_BLOCK = 1 << 17
ROWS_A_SPAN = 1 << 21
"""Fixed, so that sums of weights do not depend on the number of processors."""

LARGEST_FREED = 31 << 20
"""In bytes; of a stretch of 32 MiB or more nothing is learnt."""

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

    _keep_freed_memory()
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, items)


def _keep_freed_memory() -> None:
    """Have the C library keep what one block of rows frees for the next.

    It keeps twice as much as the largest stretch it ever saw freed. Until it saw a large one, threads give their memory
    back after every block, and the system clears it anew for the next: a tenth of the time of counting a file.
    """
    np.empty(LARGEST_FREED, dtype=np.int8)


def _count_span(columns: Sequence[Codes], shape: Sequence[int], weight: Floats | None, start: int) -> NDArray[Any]:
    size, end = math.prod(shape), min(start + ROWS_A_SPAN, len(columns[0]))
    total = np.zeros(size, dtype=np.int64 if weight is None else np.float64)
    # Adding up a large table costs as much as counting that many rows.
    step = max(ROWS_A_BLOCK, size)
    kind = _key_type(size)
    for first in range(start, end, step):
        rows = slice(first, min(first + step, end))
        key = columns[0][rows].astype(kind)
        for column, length in zip(columns[1:], shape[1:], strict=True):
            key *= kind(length)
            key += column[rows].astype(kind)
        total += np.bincount(key, None if weight is None else weight[rows], minlength=size)
    return total


def _key_type(size: int) -> type[np.integer[Any]]:
    """The narrowest type that holds so many keys: more of them are made at once."""
    return np.uint16 if size < 1 << 16 else np.int32 if size <= np.iinfo(np.int32).max else np.int64
