"""An interval one may look at while a study runs: a betting confidence sequence on completed task means.

A gambler bets against each candidate mean, on tasks in seeded random order, with stakes that depend on the past
only. A candidate against which the wealth ever reaches 1 / alpha is out for good: under the true mean that
happens with probability at most alpha, however often one looks (Waudby-Smith and Ramdas 2024). For a fixed bank
tasks are drawn without replacement, and the sequence ends exactly at the bank's mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingToCompare

Floats = NDArray[np.float64]
_CAUTION = 0.5
"""Share of the largest safe stake that is ever put down."""


@dataclass(frozen=True)
class ConfidenceSequence:
    """Lower and upper ends after each completed task; the ends only ever close in."""

    lower: Floats
    upper: Floats
    mean: float
    level: float
    n_bank: int | None

    @property
    def now(self) -> Estimate:
        """The interval after the last completed task."""
        bank = self.n_bank is not None
        n = len(self.lower)
        complete = self.n_bank == n
        return Estimate(
            value=self.mean,
            interval=None if complete else (float(self.lower[-1]), float(self.upper[-1])),
            level=self.level,
            estimand=f"mean over {f'the bank of {self.n_bank} tasks' if bank else 'a population of tasks'}",
            method=f"betting confidence sequence, {'without' if bank else 'with'} replacement, valid at every look",
            n_tasks=n,
            why_no_interval="every task of the bank is complete; use the final interval" if complete else None,
        )


def confidence_sequence(
    task_means: Floats, *, n_bank: int | None = None, level: float = 0.95, steps: int = 1000
) -> ConfidenceSequence:
    """Follow completed task means, in the study's seeded random order, each between 0 and 1.

    Estimand: the population's mean, or with `n_bank` the mean of that fixed bank of tasks. The ends lie on a
    grid of `steps` and are rounded outwards.
    """
    values = np.asarray(task_means, dtype=float)
    _check(values, n_bank)
    candidates = np.linspace(0, 1, steps + 1)
    dead = np.maximum.accumulate(log_wealth(values, candidates, n_bank=n_bank, level=level), axis=0)
    alive = dead < math.log(1 / (1 - level))
    lower, upper = _ends(alive, steps)
    if n_bank is not None:
        seen = np.cumsum(values)
        left = n_bank - np.arange(1, len(values) + 1)
        lower, upper = np.maximum(lower, seen / n_bank), np.minimum(upper, (seen + left) / n_bank)
    return ConfidenceSequence(lower, np.maximum(upper, lower), float(values.mean()), level, n_bank)


def log_wealth(values: Floats, candidates: Floats, *, n_bank: int | None, level: float) -> Floats:
    """Log of the wealth after each task (rows) against each candidate mean (columns); half is bet either way."""
    stakes = _stakes(values, alpha=1 - level)[:, None]
    means = np.broadcast_to(candidates, (len(values), len(candidates)))
    if n_bank is not None:
        before = np.r_[0.0, np.cumsum(values)[:-1]][:, None]
        left = (n_bank - np.arange(len(values)))[:, None]
        means = (n_bank * candidates - before) / left
    possible = (means >= -1e-12) & (means <= 1 + 1e-12)
    safe = np.clip(means, 1e-9, 1 - 1e-9)
    gain = values[:, None] - safe
    up = np.log1p(np.minimum(stakes, _CAUTION / safe) * gain).cumsum(axis=0)
    down = np.log1p(-np.minimum(stakes, _CAUTION / (1 - safe)) * gain).cumsum(axis=0)
    wealth = np.logaddexp(up, down) - math.log(2)
    return np.where(np.logical_and.accumulate(possible, axis=0), wealth, np.inf)


def _stakes(values: Floats, *, alpha: float) -> Floats:
    """Predictable stakes: large while the past varies little, shrinking as sqrt(t log t)."""
    t = np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (t + 1)
    spread = (0.25 + np.cumsum((values - mean) ** 2)) / (t + 1)
    before = np.r_[0.25, spread[:-1]]
    stakes: Floats = np.sqrt(2 * math.log(2 / alpha) / (before * t * np.log1p(t)))
    return stakes


def _ends(alive: NDArray[np.bool_], steps: int) -> tuple[Floats, Floats]:
    """First and last candidate still standing after each task, one grid step outwards; once all fell, the last ends."""
    lower, upper = np.zeros(len(alive)), np.ones(len(alive))
    low, high = 0.0, 1.0
    for row, standing in enumerate(alive):
        if standing.any():
            low = max(low, (int(standing.argmax()) - 1) / steps)
            high = min(high, (len(standing) - int(standing[::-1].argmax())) / steps)
        lower[row], upper[row] = low, high
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def look_level(level: float, looks: Sequence[float], done: float) -> float:
    """The level of intervals at a look after a share `done`, so that all planned looks together keep `level`.

    Error is spent as O'Brien and Fleming would (Lan and DeMets 1983): little at early looks, nearly all at the last.
    A look spends what has come up since the planned one before it.
    """
    earlier = max((at for at in looks if at < min(done, 1.0) - 1e-9), default=0.0)
    return 1.0 - (_spent(1.0 - level, min(done, 1.0)) - _spent(1.0 - level, earlier))


def _spent(alpha: float, share: float) -> float:
    law = NormalDist()
    return 0.0 if share <= 0 else 2.0 * (1.0 - law.cdf(law.inv_cdf(1.0 - alpha / 2) / math.sqrt(share)))


def _check(values: Floats, n_bank: int | None) -> None:
    if not len(values):
        raise NothingToCompare("an always-valid interval: no task is complete yet")
    if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
        raise ImpossibleValue("a task mean", "outside 0 to 1", allowed="between 0 and 1")
    if n_bank is not None and n_bank < len(values):
        raise ImpossibleValue("n_bank", n_bank, allowed=f"at least the {len(values)} completed tasks")
