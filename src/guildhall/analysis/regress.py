"""One slope with fixed effects absorbed and errors clustered: the machine behind grader effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import t_estimate
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Slope:
    """A least-squares slope, its clustered standard error, and the clusters it rests on."""

    value: float
    error: float
    n_clusters: int


def clustered_slope(score: Floats, covariate: Floats, *, absorb: Sequence[Codes], cluster: Codes) -> Slope | None:
    """The slope of score on covariate within all groups of `absorb`; None where the covariate does not vary there.

    Each cluster's residual is enlarged by its leverage (the CR3 jackknife form), which keeps the level when few
    clusters carry most of the covariate.
    """
    if not (np.isfinite(score).all() and np.isfinite(covariate).all()):
        raise ImpossibleValue("a score or covariate", "NaN or infinite", allowed="finite on every row")
    y, x = _within(score, absorb), _within(covariate, absorb)
    spread = float(x @ x)
    if spread <= 1e-12 * max(1.0, float(covariate @ covariate)):
        return None
    value = float(x @ y) / spread
    clusters = np.unique(cluster, return_inverse=True)[1]
    push = np.bincount(clusters, x * (y - value * x))
    share = np.bincount(clusters, x * x) / spread
    n = len(push)
    jackknifed = push / np.maximum(1 - share, 1e-9)
    error = math.sqrt(float(jackknifed @ jackknifed) * (n - 1) / n) / spread
    return Slope(value, error, n)


def slope_estimate(slope: Slope | None, *, what: str, n_judgments: int, level: float, method: str) -> Estimate:
    """The slope as an estimate, absent with the reason where it cannot be told."""
    if slope is None:
        why = "the covariate does not vary within what it is compared with"
        return Estimate(
            value=None,
            estimand=what,
            method=method,
            level=level,
            n_judgments=n_judgments,
            why_no_interval=why,
        )
    return t_estimate(
        slope.value,
        slope.error,
        n_clusters=slope.n_clusters,
        estimand=what,
        method=method,
        level=level,
        n_judgments=n_judgments,
    )


def _within(values: Floats, absorb: Sequence[Codes]) -> Floats:
    """Deviations from all group means at once, by turns; one grouping is exact after the first."""
    left: Floats = values - values.mean()
    groups = [np.unique(codes, return_inverse=True)[1] for codes in absorb]
    counts = [np.bincount(codes) for codes in groups]
    for _ in range(1 if len(groups) < 2 else 500):
        before = left
        for codes, count in zip(groups, counts, strict=True):
            left = left - (np.bincount(codes, left) / count)[codes]
        if np.abs(left - before).max() < 1e-12:
            break
    return left
