"""Krippendorff's alpha and Gwet's AC: agreement beyond what the mix of verdicts would give by chance.

Both are computed from counts of values per sample, so three million ratings cost as much as their few types.
Krippendorff (2011) works out the nominal and interval examples; Gwet (2008) defines AC1 and AC2.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import (
    FEWEST_CLUSTERS,
    IntervalFields,
    cluster_variance,
    effective_judgments,
    interval_of,
    matched_df,
    no_interval,
    t_quantile,
)
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate

Metric = Literal["nominal", "ordinal", "interval"]
FEWEST_RARER = 30
"""Effective ratings other than the commonest below which the jackknife of alpha was seen not to cover."""


def krippendorff_alpha(
    counts: NDArray[np.int64],
    *,
    metric: Metric = "interval",
    values: Floats | None = None,
    times: NDArray[np.int64] | None = None,
) -> float | None:
    """Alpha from a table of counts, a row a sample (or a type of sample, `times` over), a column a value.

    1 is perfect reliability, 0 what chance would give. Samples with fewer than two ratings take no part. None where
    all ratings are the same value: then chance and perfection cannot be told apart.
    """
    return _alpha_of(_coincidences(counts, times).sum(axis=0), _values(counts, values), metric)


def gwet_ac(
    counts: NDArray[np.int64],
    *,
    metric: Metric = "nominal",
    values: Floats | None = None,
    times: NDArray[np.int64] | None = None,
) -> float | None:
    """AC1 (nominal) or AC2 (ordinal, interval): less swayed than alpha where one verdict dominates.

    None where no sample has two ratings.
    """
    times = np.ones(len(counts), dtype=np.int64) if times is None else times
    weights = _closeness(_values(counts, values), metric)
    k = counts.sum(axis=1)
    paired, rated = k >= 2, k >= 1
    if not paired.any():
        return None
    pairs, sizes = counts[paired], k[paired]
    alike = (pairs * (pairs @ weights - 1.0)).sum(axis=1) / (sizes * (sizes - 1.0))
    observed = float(np.average(alike, weights=times[paired]))
    shares = np.average(counts[rated] / k[rated][:, None], axis=0, weights=times[rated])
    n_values = counts.shape[1]
    chance = float(weights.sum() * (shares * (1.0 - shares)).sum() / (n_values * (n_values - 1.0)))
    return (observed - chance) / (1.0 - chance)


def alpha_estimate(
    counts: NDArray[np.int64], units: Codes, *, unit: str, metric: Metric = "interval", level: float = 0.95
) -> Estimate:
    """Alpha with a jackknife t interval over units (tasks where named, else samples)."""
    return _jackknifed(counts, units, unit=unit, metric=metric, level=level, coefficient="alpha")


def gwet_estimate(
    counts: NDArray[np.int64], units: Codes, *, unit: str, metric: Metric = "nominal", level: float = 0.95
) -> Estimate:
    """AC1 or AC2 with a jackknife t interval over units."""
    return _jackknifed(counts, units, unit=unit, metric=metric, level=level, coefficient="AC")


def _jackknifed(
    counts: NDArray[np.int64],
    units: Codes,
    *,
    unit: str,
    metric: Metric,
    level: float,
    coefficient: Literal["alpha", "AC"],
) -> Estimate:
    rated = counts.sum(axis=1) >= 2
    counts, units = counts[rated], np.unique(units[rated], return_inverse=True)[1]
    figure = krippendorff_alpha if coefficient == "alpha" else gwet_ac
    value = figure(counts, metric=metric) if len(counts) else None
    n_units = int(units.max()) + 1 if len(units) else 0
    name = "Krippendorff's alpha" if coefficient == "alpha" else "Gwet's AC1" if metric == "nominal" else "Gwet's AC2"
    if value is None or n_units < FEWEST_CLUSTERS:
        few = n_units < FEWEST_CLUSTERS
        made = no_interval(f"{n_units} {unit}(s) with two ratings" if few else "all ratings are the same value")
    elif coefficient == "alpha" and _rarer_verdicts(counts, units) < FEWEST_RARER:
        few_words = f"under {FEWEST_RARER} effective ratings differ from the commonest"
        made = no_interval(f"{few_words}; alpha divides by how much they vary")
    else:
        made = _over_units(value, _leave_one_out(counts, units, n_units, metric, coefficient), unit=unit, level=level)
    return Estimate(
        value=value,
        estimand=f"{name}, {metric}, over people's ratings",
        level=level,
        unit=unit,
        n_samples=len(counts),
        n_judgments=int(counts.sum()),
        n_excluded=int((~rated).sum()),
        **made,
    )


def _over_units(value: float, left_out: Floats, *, unit: str, level: float) -> IntervalFields:
    """The jackknife's t interval, from the value with each unit left out."""
    n_units = len(left_out)
    variance = (n_units - 1) / n_units * float(np.square(left_out - left_out.mean()).sum())
    if not variance > 0:
        return no_interval(f"no two {unit}s differ, or one alone makes all the difference")
    reach = t_quantile(0.5 + level / 2, matched_df(left_out - left_out.mean())) * math.sqrt(variance)
    return interval_of((max(-1.0, value - reach), min(1.0, value + reach)), f"jackknife over {unit}s")


def _rarer_verdicts(counts: NDArray[np.int64], units: Codes) -> float:
    """The effective number of ratings that are not the commonest one, with ratings of one unit going together."""
    commonest = int(counts.sum(axis=0).argmax())
    rarer = 1.0 - counts[:, commonest] / counts.sum(axis=1)
    share = float(rarer.mean())
    errors = np.asarray(np.bincount(units, rarer - share), dtype=np.float64) / len(rarer)
    n_judgments = int(counts.sum())
    known = effective_judgments(share, cluster_variance(errors), n_clusters=len(errors), n_judgments=n_judgments)
    return share * float(known)


def _leave_one_out(
    counts: NDArray[np.int64], units: Codes, n_units: int, metric: Metric, coefficient: Literal["alpha", "AC"]
) -> Floats:
    """The coefficient without each unit. Its ingredients are sums over samples, so leaving out is subtracting."""
    values = _values(counts, None)
    if coefficient == "alpha":
        by_unit = np.zeros((n_units, len(values), len(values)))
        np.add.at(by_unit, units, _coincidences(counts, None))
        total = by_unit.sum(axis=0)
        return np.array([_alpha_of(total - one, values, metric) for one in by_unit], dtype=np.float64)
    weights, k = _closeness(values, metric), counts.sum(axis=1)
    alike = (counts * (counts @ weights - 1.0)).sum(axis=1) / (k * (k - 1.0))
    sums = np.zeros((n_units, 2 + len(values)))
    np.add.at(sums, units, np.column_stack([np.ones(len(counts)), alike, counts / k[:, None]]))
    rest = sums.sum(axis=0) - sums
    shares = rest[:, 2:] / rest[:, :1]
    chance = weights.sum() * (shares * (1.0 - shares)).sum(axis=1) / (len(values) * (len(values) - 1.0))
    left: Floats = (rest[:, 1] / rest[:, 0] - chance) / (1.0 - chance)
    return left


def _coincidences(counts: NDArray[np.int64], times: NDArray[np.int64] | None) -> Floats:
    """Each sample's coincidence matrix: ordered pairs of its values, weighing k in total."""
    k = counts.sum(axis=1)
    paired = k >= 2
    kept = counts[paired].astype(np.float64)
    matrices = kept[:, :, None] * kept[:, None, :]
    matrices[:, np.arange(kept.shape[1]), np.arange(kept.shape[1])] -= kept
    scale = (np.ones(len(counts)) if times is None else times)[paired] / (k[paired] - 1.0)
    scaled: Floats = matrices * scale[:, None, None]
    return scaled


def _alpha_of(coincidences: Floats, values: Floats, metric: Metric) -> float | None:
    totals = coincidences.sum(axis=0)
    n = totals.sum()
    distances = _distances(values, totals, metric)
    expected = float(totals @ distances @ totals)
    if not expected > 0.0:
        return None
    return 1.0 - float((n - 1.0) * (coincidences * distances).sum() / expected)


def _distances(values: Floats, totals: Floats, metric: Metric) -> Floats:
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return np.square(values[:, None] - values)
    reached = np.cumsum(totals) - totals / 2.0
    return np.square(reached[:, None] - reached)


def _closeness(values: Floats, metric: Metric) -> Floats:
    """Weights of partial agreement: identity, ordinal, or quadratic in the distance of the values."""
    if metric == "nominal":
        return np.eye(len(values))
    if metric == "interval":
        return 1.0 - np.square(values[:, None] - values) / float(np.ptp(values)) ** 2
    between: Floats = np.abs(np.arange(len(values))[:, None] - np.arange(len(values))) + 1.0
    closeness: Floats = 1.0 - between * (between - 1.0) / (len(values) * (len(values) - 1.0))
    return closeness


def _values(counts: NDArray[np.int64], values: Floats | None) -> Floats:
    return np.arange(counts.shape[1], dtype=np.float64) if values is None else values
