"""Columns as small integers: a column of words becomes codes and the names they stand for.

A hundred million votes over three hundred models are then counted without a single string being compared.

Counting rows by several columns of codes at once: the one pass over the data that most estimators need. Rows are
taken in blocks whose keys stay in the processor's cache, and spans of blocks are counted side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import ImpossibleValue

Codes = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]
SPARSE = 16
"""With more possible keys a row than this, keys are sorted instead of marked off."""


class Coded(NamedTuple):
    """A column of words: `names[codes[i]]` is row i, and a code of -1 is a missing cell."""

    codes: Codes
    names: tuple[str, ...]

    def numbers(self, column: str) -> Floats:
        """The words read as numbers, missing cells as NaN; a word that is no finite number is refused."""
        values = np.array([_number(name, column) for name in self.names] + [math.nan])
        return values[self.codes]


@dataclass(frozen=True)
class Table:
    """Some columns of some rows. Numeric Parquet columns stay numbers (NaN where missing) until asked otherwise."""

    columns: Mapping[str, Coded | Floats]
    n_rows: int

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def coded(self, column: str) -> Coded:
        cells = self.columns[column]
        return cells if isinstance(cells, Coded) else _code_numbers(cells)

    def numbers(self, column: str) -> Floats:
        cells = self.columns[column]
        return cells.numbers(column) if isinstance(cells, Coded) else cells


def encode(words: Iterable[object]) -> Coded:
    """Code a sequence of words; None and empty words are missing. Codes follow the order of first appearance."""
    index: dict[str, int] = {}
    codes = [-1 if word is None or word == "" else index.setdefault(str(word), len(index)) for word in words]
    return Coded(np.array(codes, dtype=np.int32), tuple(index))


def places_of(column: Coded) -> list[NDArray[np.intp]]:
    """Where each word of a column stands; no cell may be missing."""
    ends = np.cumsum(np.bincount(column.codes, minlength=len(column.names)))
    return np.split(np.argsort(column.codes, kind="stable"), ends[:-1]) if len(ends) else []


def distinct(keys: Codes, size: int) -> tuple[Codes, Codes]:
    """The keys that occur, rising, and where among them each row's key stands; all are from 0 to below `size`.

    Marking them off is many times faster than sorting, unless there are far more possible keys than rows.
    """
    if size > SPARSE * len(keys):
        return np.unique(keys, return_inverse=True)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[keys] = True
    found, place = np.flatnonzero(occurs), np.empty(size, dtype=np.intp)
    place[found] = np.arange(len(found))
    return found, place[keys]


def dense(codes: Codes) -> tuple[Codes, int, Codes]:
    """Codes from 0, without gaps where they lie far apart; how many there may be; and what they were."""
    size = int(codes.max(initial=-1)) + 1
    if len(codes) and (int(codes.min()) < 0 or size > 4 * len(codes)):
        names, codes = np.unique(codes, return_inverse=True)
        return codes.astype(np.int64), len(names), names
    return codes.astype(np.int64), max(size, 1), np.arange(max(size, 1))


def kinds_in(of: Codes, kind: Codes, size: int) -> Codes:
    """How many kinds occur in each of `size` places."""
    keys = np.unique(of.astype(np.int64) * (int(kind.max()) + 1) + kind)
    return np.bincount(keys // (int(kind.max()) + 1), minlength=size)


def concatenate(chunks: Sequence[Table]) -> Table:
    """Chunks as one table, their dictionaries merged."""
    names = [name for name in chunks[0].columns if all(name in chunk for chunk in chunks)]
    return Table(
        {name: _join([chunk.columns[name] for chunk in chunks]) for name in names}, sum(c.n_rows for c in chunks)
    )


def _join(parts: Sequence[Coded | Floats]) -> Coded | Floats:
    arrays = [part for part in parts if not isinstance(part, Coded)]
    if len(arrays) == len(parts):
        return np.concatenate(arrays)
    index: dict[str, int] = {}
    codes = []
    for part in parts:
        coded = part if isinstance(part, Coded) else _code_numbers(part)
        codes.append(renumber(coded, index))
    return Coded(np.concatenate(codes), tuple(index))


def renumber(coded: Coded, index: dict[str, int]) -> Codes:
    """The codes of a chunk in a dictionary shared by all chunks, which grows as needed."""
    shared = np.array([index.setdefault(name, len(index)) for name in coded.names] + [-1], dtype=np.int32)
    return shared[coded.codes]


def _code_numbers(values: Floats) -> Coded:
    distinct, codes = np.unique(values, return_inverse=True)
    codes = np.where(np.isnan(values), -1, codes).astype(np.int32)
    return Coded(codes, tuple(f"{value:.17g}" for value in distinct[~np.isnan(distinct)].tolist()))


def _number(word: str, column: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ImpossibleValue(column, repr(word), allowed="a finite number, or empty where unknown")
    return value


def table_from_arrow(batch: Any, wanted: Sequence[str]) -> Table:
    """The named columns of an Arrow table or record batch; strings are coded where they are not yet."""
    return Table({name: _from_arrow(batch.column(name), name) for name in wanted}, batch.num_rows)


def _from_arrow(array: Any, name: str) -> Coded | Floats:
    import pyarrow as pa

    if is_number_type(array.type):
        values = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else np.False_
        return checked_numbers(values, missing, name)
    if not pa.types.is_dictionary(array.type):
        array = array.cast(pa.string()).dictionary_encode()
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    words = array.dictionary.cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False)
    names = tuple(words.tolist())
    indices = array.indices.fill_null(-1) if array.null_count else array.indices
    return coded_words(indices.to_numpy(zero_copy_only=False), names)


def coded_words(codes: Codes, names: tuple[str, ...]) -> Coded:
    """A coded column in which an empty word is a missing cell."""
    if "" not in names:
        return Coded(codes, names)
    blank = names.index("")
    place = np.array([i - (i > blank) for i in range(len(names))] + [-1], dtype=np.int32)
    place[blank] = -1
    return Coded(place[codes], names[:blank] + names[blank + 1 :])


def checked_numbers(values: Floats, missing: NDArray[np.bool_] | np.bool_, column: str) -> Floats:
    """A missing cell reads as NaN; a NaN that was written as a value is refused."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # no sum of finite numbers is NaN, and few are infinite
    if not np.isfinite(total) and np.any(~np.isfinite(values) & ~missing):
        raise ImpossibleValue(column, "NaN or infinite", allowed="a finite number, or null where unknown")
    return values


def is_number_type(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


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
