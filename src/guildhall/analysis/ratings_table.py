"""Ratings of samples by people and by automatic graders, reduced to counts per sample and to types of sample.

Agreement of every kind depends on a sample only through how many of its ratings are losses, ties and wins. With
three people there are ten such types, however many samples there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import read_table
from guildhall.analysis.outcomes import Halves, to_halves
from guildhall.analysis.tables import Coded, Codes, Table
from guildhall.errors import ImpossibleValue, NothingJudged, UnknownName

Counts = NDArray[np.int64]
KINDS = ("human", "auto")
LARGEST_TABLE = 1 << 20


@dataclass(frozen=True)
class RatingsTable:
    """One row a rating, and one a sample: `sample` of a rating indexes `model` and `task` of the samples."""

    models: tuple[str, ...]
    raters: tuple[str, ...]
    sample: NDArray[np.intp]
    rater: Codes
    is_human: NDArray[np.bool_]
    halves: Halves
    model: Codes
    task: Codes | None
    n_excluded: int = 0

    @property
    def n_samples(self) -> int:
        return len(self.model)

    def counts(self, *, human: bool) -> Counts:
        """Losses, ties and wins per sample, by people or by automatic graders."""
        rows = self.is_human == human
        key = self.sample[rows] * 3 + self.halves[rows]
        return np.bincount(key, minlength=3 * self.n_samples).reshape(-1, 3)


class Types(NamedTuple):
    """Kinds of sample: a row of counts each, and how many samples are of that kind."""

    counts: Counts
    times: Counts


def read_ratings(path: Path) -> RatingsTable:
    """Ratings from a file with columns `sample, model, rater, kind, score` and optionally `task`."""
    table = read_table(path, required=("sample", "model", "rater", "kind", "score"), optional=("task",))
    return ratings_from_table(table)


def ratings_from_table(table: Table) -> RatingsTable:
    """Rows without a score are left out and counted; other cells must be filled."""
    scores = table.numbers("score")
    known = ~np.isnan(scores)
    if not known.any():
        raise NothingJudged("agreement", n_excluded=len(scores))
    columns = {
        name: _filled(table.coded(name), name) for name in ("sample", "model", "rater", "kind", "task") if name in table
    }
    for kind in columns["kind"].names:
        if kind not in KINDS:
            raise UnknownName("kind of rater", kind, known=list(KINDS))
    human_code = columns["kind"].names.index("human") if "human" in columns["kind"].names else -1
    models, tasks = columns["model"], columns.get("task")
    key = columns["sample"].codes.astype(np.int64) * len(models.names) + models.codes
    if tasks is not None:
        key = key * len(tasks.names) + tasks.codes
    # The same sample name under another model or task is another sample: files often number them 1, 2, 3 anew.
    _, first, sample = np.unique(key[known], return_index=True, return_inverse=True)
    return RatingsTable(
        models=models.names,
        raters=columns["rater"].names,
        sample=sample,
        rater=columns["rater"].codes[known],
        is_human=columns["kind"].codes[known] == human_code,
        halves=to_halves(scores[known]),
        model=models.codes[known][first],
        task=tasks.codes[known][first] if tasks is not None else None,
        n_excluded=int((~known).sum()),
    )


def types_from_counts(counts: Counts) -> Types:
    """Group samples with the same counts."""
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] > LARGEST_TABLE:
        rows, times = np.unique(counts, axis=0, return_counts=True)
        return Types(rows, times)
    key = np.zeros(len(counts), dtype=np.int64)
    for column in counts.T:
        key = key * base + column
    table = np.bincount(key, minlength=1)
    found = np.flatnonzero(table)
    digits = found[:, None] // base ** np.arange(counts.shape[1] - 1, -1, -1) % base
    return Types(digits, table[found])


def types_from_matrix(halves: NDArray[np.int8]) -> Types:
    """Types of the rows of a samples x raters matrix of halves, -1 where a rating is missing."""
    n_raters = halves.shape[1]
    if 4**n_raters > LARGEST_TABLE:
        return types_from_counts(np.stack([(halves == half).sum(axis=1) for half in range(3)], axis=1))
    pattern = np.zeros(len(halves), dtype=np.int32)
    for rater in range(n_raters):
        pattern *= 4
        pattern += halves[:, rater]
        pattern += 1
    table = np.bincount(pattern, minlength=1)
    found = np.flatnonzero(table)
    digits = found[:, None] // 4 ** np.arange(n_raters) % 4
    counts = np.stack([(digits == half + 1).sum(axis=1) for half in range(3)], axis=1)
    # Patterns that differ only in who said what are one type: a code of their counts tells them apart.
    code, first, kind = np.unique(
        (counts[:, 0] * (n_raters + 1) + counts[:, 1]) * (n_raters + 1) + counts[:, 2],
        return_index=True,
        return_inverse=True,
    )
    times = np.bincount(kind, table[found], minlength=len(code))
    return Types(counts[first], times.astype(np.int64))


def _filled(column: Coded, name: str) -> Coded:
    if np.any(column.codes < 0):
        raise ImpossibleValue(name, "empty in some row", allowed="filled in every row")
    return column
