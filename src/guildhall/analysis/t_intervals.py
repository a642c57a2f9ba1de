"""One rule for means over clusters: a t interval, or none with the reason."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import widened
from guildhall.analysis.intervals import FEWEST_CLUSTERS, cluster_variance, matched_df
from guildhall.analysis.measured import Measured
from guildhall.analysis.quantiles import t_quantile

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_ROUNDING = 1e-12


def t_estimate(
    value: float,
    error: float,
    *,
    n_clusters: int,
    estimand: str,
    method: str,
    df: float | None = None,
    unit: str = "task",
    level: float = 0.95,
    n_judgments: int | None = None,
    n_samples: int | None = None,
    n_excluded: int = 0,
) -> Measured:
    """Value and standard error as an estimate with t over clusters; absent under 3 clusters or where nothing varies."""
    why, ends = None, None
    if n_clusters < FEWEST_CLUSTERS:
        why = f"{n_clusters} {unit}(s); an interval needs at least {FEWEST_CLUSTERS}"
    elif not error > _ROUNDING:
        why = f"the same on every {unit}, so nothing says how sure this is"
    else:
        reach = t_quantile(0.5 + level / 2, n_clusters - 1 if df is None else df) * error
        ends = (value - reach, value + reach)
    return Measured(
        value=value,
        interval=ends,
        estimand=estimand,
        method=method,
        level=level,
        unit=unit,
        n_tasks=n_clusters if unit == "task" else None,
        n_samples=n_samples,
        n_judgments=n_judgments,
        n_excluded=n_excluded,
        why_no_interval=why,
    )


class ClusteredMean(NamedTuple):
    """A mean over rows, its standard error with rows of one cluster going together, and what that rests on."""

    value: float
    error: float
    n_clusters: int
    df: float
    words: str = ""
    """For the method, where there was a second cluster."""


def clustered_mean(values: Floats, cluster: Codes, second: Codes | None = None) -> ClusteredMean:
    """The mean over rows; fewer degrees of freedom where a few clusters make up most of the variance.

    `second` names whoever gave each row: where they met several clusters they are a second one.
    """
    value = float(values.mean())
    return mean_of_errors(value, (values - value) / len(values), cluster, second)


def mean_of_errors(value: float, errors: Floats, cluster: Codes, second: Codes | None) -> ClusteredMean:
    """The same from what each row adds to the error of a mean."""
    _, at = np.unique(cluster, return_inverse=True)
    contributions = np.asarray(np.bincount(at, errors), dtype=np.float64)
    n = len(contributions)
    if n < 2:
        return ClusteredMean(value, 0.0, n, matched_df(contributions))
    spread = widened(cluster_variance(contributions), matched_df(contributions), errors, at, second)
    return ClusteredMean(value, math.sqrt(spread.variance), n, spread.df, spread.words)


def mean_of_cluster_means(values: Floats, cluster: Codes) -> tuple[float, float, int]:
    """The mean over clusters of each cluster's own mean, its standard error, and the clusters."""
    _, at = np.unique(cluster, return_inverse=True)
    means = np.bincount(at, values) / np.bincount(at)
    n = len(means)
    return float(means.mean()), float(means.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0, n
