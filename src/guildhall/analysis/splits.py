"""Figures out of fold: how clusters are dealt to folds, and what a margin comes to over several such deals.

A margin measured on one split depends on the split. Over several, each sample has the mean of what it gained in each;
the interval is over clusters and paired by sample, and the least and the most of the single splits stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from guildhall.analysis.intervals import mean_of_rows, t_estimate
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate
from guildhall.errors import NotEnoughData


class OverSplits(NamedTuple):
    """A margin over several splits; `least` and `most` are those of single splits."""

    mean: Estimate
    n_splits: int
    least: float
    most: float
    above_zero: int
    """In how many splits the margin was above zero."""


def fold_by_cluster(cluster: Codes, *, folds: int, seed: int) -> Codes:
    """A fold for every row, whole clusters together, dealt by seed."""
    names, at = np.unique(cluster, return_inverse=True)
    if len(names) < folds:
        raise NotEnoughData(f"{folds} folds need at least as many tasks, and here are {len(names)}; use fewer folds")
    dealt = np.empty(len(names), dtype=np.intp)
    dealt[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % folds
    return dealt[at]


def margin_over_splits(
    margins: Sequence[Floats], cluster: Codes, *, what: str, unit: str, level: float = 0.95
) -> OverSplits:
    """One array a split, a margin a sample, in the same order everywhere."""
    single = [float(one.mean()) for one in margins]
    words = f"{what}, mean over {len(single)} splits" if len(single) > 1 else what
    mean = mean_margin(np.mean(np.stack(margins), axis=0), cluster, what=words, unit=unit, level=level)
    return OverSplits(mean, len(single), min(single), max(single), sum(one > 0 for one in single))


def mean_margin(values: Floats, cluster: Codes, *, what: str, unit: str, level: float = 0.95) -> Estimate:
    """A mean over samples with a t interval over clusters."""
    value, spread = mean_of_rows(values, cluster)
    return t_estimate(
        value,
        spread,
        estimand=what,
        method=f"mean over samples, t over {unit}s",
        unit=unit,
        level=level,
        n_samples=len(values),
    )
