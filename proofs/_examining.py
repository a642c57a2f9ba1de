"""How intervals are examined: seeded runs over the cells, exact binomial tests, Holm over all intervals.

A *sitting* draws one world and says of each interval computed from it whether it held the truth. Kinds of claim:

- `level`: holds the truth 95 % of the time, no less and no more;
- `exact`, `simultaneous`, `at least`: at least 95 %;
- `always`: a whole path excludes the truth at most 5 % of the time;
- `pooled`: 95 % on average over cells of a breakdown, at least;
- `as published`: makes no claim here; its coverage is printed so that nobody is misled.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from guildhall.domain.estimates import Estimate
from proofs.simulator import CELLS, Cell

Kind = Literal["level", "exact", "simultaneous", "at least", "always", "pooled", "as published"]
LEVEL = 0.95
RUNS = 2016
"""84 runs in each of the 24 cells: the first multiple of 24 past 2,000."""


class Seen(NamedTuple):
    """What one run showed of one interval; `held` is None where no interval was given."""

    interval: str
    kind: Kind
    held: bool | None
    error: float = math.nan
    width: float = math.nan
    exact: bool = False


Sitting = Callable[[Cell, np.random.Generator, int], Iterable[Seen]]


class Record(NamedTuple):
    """One interval over all runs; `width_ratio` is against 2 x 1.96 x the SD of the error, averaged over cells."""

    interval: str
    kind: str
    n: int
    held: int
    absent: int
    worst_cell: float
    width_ratio: float | None

    @property
    def coverage(self) -> float:
        return self.held / self.n if self.n else math.nan


def see(name: str, estimate: Estimate, truth: float, kind: Kind = "level") -> Seen:
    """Whether an estimate's interval held the truth, and whether it was an exact one."""
    if estimate.interval is None or estimate.value is None:
        return Seen(name, kind, None)
    low, high = estimate.interval
    held = bool(low - 1e-9 <= truth <= high + 1e-9)
    return Seen(name, kind, held, estimate.value - truth, high - low, kind == "level" and "exact on" in estimate.method)


def examine(name: str, sitting: Sitting, *, runs: int = RUNS) -> list[Record]:
    """Run a sitting over the cells in turn; run r has a seed of its own, so any run can be repeated alone."""
    seen: dict[str, list[tuple[int, Seen]]] = {}
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(name.encode()), run])
        for one in sitting(CELLS[run % len(CELLS)], rng, run):
            seen.setdefault(one.interval, []).append((run % len(CELLS), one))
    return [record for interval, rows in seen.items() for record in records_of(interval, rows)]


def records_of(interval: str, rows: Sequence[tuple[int, Seen]]) -> list[Record]:
    """Cells in which any run used the exact interval are examined as exact, apart from the others.

    Splitting runs instead of cells would examine an interval given its own outcome, which nothing is made for.
    """
    rare = {cell for cell, one in rows if one.exact}
    split = [
        (interval, rows[0][1].kind, [row for row in rows if row[0] not in rare]),
        (f"{interval}, where rare", "exact", [row for row in rows if row[0] in rare]),
    ]
    return [_record(name, kind, some) for name, kind, some in split if some]


def _record(interval: str, kind: str, rows: Sequence[tuple[int, Seen]]) -> Record:
    given = [(cell, one) for cell, one in rows if one.held is not None]
    by_cell: dict[int, list[Seen]] = {}
    for cell, one in given:
        by_cell.setdefault(cell, []).append(one)
    ratios, worst = [], 1.0
    for group in by_cell.values():
        spread = float(np.std([one.error for one in group], ddof=1)) if len(group) > 9 else 0.0
        width = float(np.mean([one.width for one in group]))
        if spread > 0 and math.isfinite(width):
            ratios.append(width / (2 * 1.959964 * spread))
        if len(group) > 39:
            worst = min(worst, float(np.mean([bool(one.held) for one in group])))
    return Record(
        interval=interval,
        kind=kind,
        n=len(given),
        held=sum(bool(one.held) for _, one in given),
        absent=len(rows) - len(given),
        worst_cell=worst,
        width_ratio=float(np.mean(ratios)) if ratios else None,
    )


def p_value(record: Record) -> float:
    """Exact binomial: two-sided for a level, one-sided for whatever may be wider."""
    from scipy.stats import binomtest

    if record.kind == "as published" or not record.n:
        return 1.0
    side = "two-sided" if record.kind == "level" else "less"
    return float(binomtest(record.held, record.n, LEVEL, alternative=side).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values over all intervals together."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    running = 0.0
    for place, index in enumerate(order):
        running = max(running, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, running)
    return [float(one) for one in adjusted]
