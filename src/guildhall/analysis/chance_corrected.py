"""Krippendorff's alpha and Gwet's AC: agreement beyond what the mix of verdicts would give by chance.

Both are computed from counts of values per sample, so three million ratings cost as much as their few types.
Krippendorff (2011) works out the nominal and interval examples; Gwet (2008) defines AC1 and AC2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import (
    FEWEST_CLUSTERS,
    IntervalFields,
    effective_judgments,
    interval_of,
    mean_of_rows,
    no_interval,
    reach_of,
)
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.spreads import NO_SPREAD, Spread
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


@dataclass(frozen=True)
class Labels:
    """Whose rating of which sample has which value, a row each; `unit` is what each sample goes together by.

    `rater` is None where raters are these and no sample of others.
    """

    sample: Codes
    value: Codes
    unit: Codes
    n_values: int
    rater: Codes | None = None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each sample has each value."""
        key = self.sample.astype(np.int64) * self.n_values + self.value
        return np.bincount(key, minlength=len(self.unit) * self.n_values).reshape(-1, self.n_values)


def labels_of(ratings: RatingsTable) -> tuple[Labels, str]:
    """People's ratings, and what their samples go together by: the task where named."""
    rows = np.flatnonzero(ratings.is_human)
    unit = np.arange(ratings.n_samples) if ratings.task is None else ratings.task
    labels = Labels(ratings.sample[rows], ratings.halves[rows].astype(np.intp), unit, 3, ratings.rater[rows])
    return labels, "sample" if ratings.task is None else "task"


def alpha_estimate(labels: Labels, *, unit: str, metric: Metric = "interval", level: float = 0.95) -> Estimate:
    """Alpha with a t interval over units (tasks where named, else samples), raters crossed with them."""
    return _linearised(labels, unit=unit, metric=metric, level=level, coefficient="alpha")


def gwet_estimate(labels: Labels, *, unit: str, metric: Metric = "nominal", level: float = 0.95) -> Estimate:
    """AC1 or AC2, likewise."""
    return _linearised(labels, unit=unit, metric=metric, level=level, coefficient="AC")


def _linearised(
    labels: Labels, *, unit: str, metric: Metric, level: float, coefficient: Literal["alpha", "AC"]
) -> Estimate:
    rated = labels.counts.sum(axis=1) >= 2
    rows = rated[labels.sample]
    counts, units = labels.counts[rated], labels.unit[rated]
    figure = krippendorff_alpha if coefficient == "alpha" else gwet_ac
    value = figure(counts, metric=metric) if len(counts) else None
    n_units = len(np.unique(units))
    name = "Krippendorff's alpha" if coefficient == "alpha" else "Gwet's AC1" if metric == "nominal" else "Gwet's AC2"
    if value is None or n_units < FEWEST_CLUSTERS:
        few = n_units < FEWEST_CLUSTERS
        made = no_interval(f"{n_units} {unit}(s) with two ratings" if few else "all ratings are the same value")
    elif coefficient == "alpha" and _rarer_verdicts(counts, units) < FEWEST_RARER:
        few_words = f"under {FEWEST_RARER} effective ratings differ from the commonest"
        made = no_interval(f"{few_words}; alpha divides by how much they vary")
    else:
        mine, said = labels.counts[labels.sample[rows]], labels.value[rows]
        errors = _errors_of_alpha if coefficient == "alpha" else _errors_of_gwet
        own, through = errors(counts, mine, said, metric)
        rater = None if labels.rater is None else labels.rater[rows]
        weight = 1.0 / mine.sum(axis=1)
        task = labels.unit[labels.sample[rows]]
        spread = crossed(own, task, rater, weight=weight, order=2, through_graders=through, share=_commonest(counts))
        made = _over_units(value, spread, unit=unit, level=level)
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


def _commonest(counts: NDArray[np.int64]) -> float:
    """The share of the commonest value, at least one half."""
    return max(0.5, float(counts.sum(axis=0).max() / counts.sum()))


def _over_units(value: float, spread: Spread, *, unit: str, level: float) -> IntervalFields:
    """A t interval that keeps inside -1 and 1."""
    if not spread.variance > NO_SPREAD:
        return no_interval(f"no two {unit}s differ, or one alone makes all the difference", spread)
    reach = reach_of(spread, level=level)
    words = f"linearised, t over {unit}s{spread.words}"
    return interval_of((max(-1.0, value - reach), min(1.0, value + reach)), words, spread)


def _rarer_verdicts(counts: NDArray[np.int64], units: Codes) -> float:
    """The effective number of ratings that are not the commonest one, with ratings of one unit going together."""
    commonest = int(counts.sum(axis=0).argmax())
    share, spread = mean_of_rows(1.0 - counts[:, commonest] / counts.sum(axis=1), units)
    n_judgments = int(counts.sum())
    known = effective_judgments(share, spread.variance, n_clusters=spread.n_tasks, n_judgments=n_judgments)
    return share * float(known)


def _errors_of_alpha(
    counts: NDArray[np.int64], mine: NDArray[np.int64], said: Codes, metric: Metric
) -> tuple[Floats, Floats]:
    """What each rating adds to alpha's error, and what moves with its rater, who is also whom others are held against.

    `mine` are the counts of each rating's sample. Alpha is a function of the coincidences, which are sums over ratings.
    """
    values = _values(counts, None)
    total = _coincidences(counts, None).sum(axis=0)
    slope = np.zeros_like(total)
    for i, j in combinations_with_replacement(range(len(values)), 2):
        step = np.zeros_like(total)
        step[i, j] = step[j, i] = 1e-4 * total.sum()
        up, down = (_alpha_of(np.maximum(total + sign * step, 0.0), values, metric) for sign in (1.0, -1.0))
        # Where there is nothing to take away the slope is one-sided.
        taken = float((np.maximum(total - step, 0.0) - total)[i, j])
        gone = step[i, j] - taken
        slope[i, j] = slope[j, i] = ((up or 0.0) - (down or 0.0)) / gone / (1.0 if i == j else 2.0)
    k = mine.sum(axis=1)
    errors = ((slope[said] * mine).sum(axis=1) - slope[said, said]) / (k - 1.0)
    errors -= errors.mean()
    return errors, 2.0 * errors


def _errors_of_gwet(
    counts: NDArray[np.int64], mine: NDArray[np.int64], said: Codes, metric: Metric
) -> tuple[Floats, Floats]:
    """The same of AC: agreement seen depends on pairs of ratings, what chance would give on each for itself."""
    values = _values(counts, None)
    weights, k, n = _closeness(values, metric), mine.sum(axis=1), len(counts)
    shares = (counts / counts.sum(axis=1)[:, None]).mean(axis=0)
    scale = weights.sum() / (len(values) * (len(values) - 1.0))
    chance = float(scale * (shares * (1.0 - shares)).sum())
    alike = ((weights[said] * mine).sum(axis=1) - 1.0) / (k - 1.0)
    observed = float((alike / k).sum() / n)
    seen = (alike - observed) / (k * n) / (1.0 - chance)
    slope = scale * (1.0 - 2.0 * shares) * (observed - 1.0) / (1.0 - chance) ** 2
    expected = (slope[said] - float(slope @ shares)) / (k * n)
    return seen + expected, 2.0 * seen + expected


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
