"""Intervals by one rule each: of a share over clusters, of a mean over clusters, of a paired difference.

A share: under 3 clusters there is none. Under 10 clusters, or with fewer than 15 effective successes or failures, it is
the exact binomial interval on the effective number of judgments (Korn and Graubard 1998); so it is where the share is
the same in every cluster, each of which then counts as one judgment. Under 1,000 clusters it is a t interval on the
logit scale, which keeps inside 0 and 1 and follows the skew; above, a plain t interval. A mean or a difference has a
plain t interval over clusters, or none with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from scipy import special

from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate

FEWEST_SECOND = 3
"""With fewer second clusters (graders) than this their spread cannot be estimated, and figures are about these ones."""

DENSE = 4
"""With at most so many codes a row, sums are kept for codes that do not occur too."""


def cluster_variance(contributions: Floats) -> float:
    """Variance of an estimate from what each cluster adds to its error (contributions sum to zero)."""
    n = len(contributions)
    return float(np.square(contributions).sum()) * n / (n - 1) if n > 1 else math.nan


def matched_df(contributions: Floats) -> float:
    """Degrees of freedom of the variance above: n - 1, or fewer where a few clusters make up most of it.

    A variance estimate's own relative variance is (kurtosis - 1) / n, that of a chi-square 2 / df.
    """
    n, squares = len(contributions), np.square(contributions)
    total = float(squares.sum())
    kurtosis = n * float(np.square(squares).sum()) / total**2 if total > 0 else 1.0
    return max(1.0, min(n - 1.0, 2.0 * n / (kurtosis - 1.0))) if kurtosis > 1.0 else n - 1.0


def second_component(errors: Floats, first: Codes, second: Codes) -> tuple[float, int] | None:
    """What the second clusters add to the variance of an estimate, and how many they are (two-way clustering).

    `errors` are what each row adds to the estimate's error. None where no second cluster meets two first ones, where
    there are too few of them, or where they add nothing.
    """
    by_second = _sums(second, errors)
    by_pair = _sums(second.astype(np.int64) * (int(first.max()) + 1) + first, errors)
    if len(by_second) < FEWEST_SECOND or len(by_pair) == len(by_second):
        return None
    component = cluster_variance(by_second) - cluster_variance(by_pair)
    return (component, len(by_second)) if component > 0 else None


def _sums(cluster: Codes, errors: Floats) -> Floats:
    """The sum of each cluster that occurs; counting is much faster than sorting where codes are not far apart."""
    if int(cluster.max()) > DENSE * len(cluster):
        cluster = np.unique(cluster, return_inverse=True)[1]
    return np.asarray(np.bincount(cluster, errors)[np.bincount(cluster) > 0], dtype=np.float64)


class Widened(NamedTuple):
    """A variance with what the second clusters add to it, its degrees of freedom, and the words for a method."""

    variance: float
    df: float
    words: str


def widened(
    variance: float, df: float, errors: Floats, first: Codes, second: Codes | None, *, called: str = "graders"
) -> Widened:
    """The variance over first clusters, widened by the second ones where they are known and add something."""
    found = None if second is None or np.any(second < 0) else second_component(errors, first, second)
    return widened_by(variance, df, found, called=called)


def widened_by(variance: float, df: float, second: tuple[float, int] | None, *, called: str = "graders") -> Widened:
    """The variance over first clusters, widened by what the second ones add and how many they are."""
    if second is None:
        return Widened(variance, df, "")
    component, n = second
    words = f"; {called} as second cluster ({n})"
    return Widened(variance + component, joint_df((variance, df), (component, n - 1)), words)


def joint_df(*parts: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of variances, each with its own (Satterthwaite); the fewest where nothing varies."""
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / df for variance, df in parts)
    return total**2 / below if below > 0 else min(df for _, df in parts)


FEWEST_CLUSTERS = 3
EXACT_BELOW_CLUSTERS = 10
EXACT_BELOW_EVENTS = 15.0
LOGIT_BELOW_CLUSTERS = 1000
NO_SPREAD = 1e-14
"""A variance below this is rounding: clusters do not differ."""
_ROUNDING = 1e-12

Ends = tuple[float, float]


class IntervalFields(TypedDict):
    """The fields of an `Estimate` that speak of its interval: how it was made, or why there is none."""

    interval: Ends | None
    method: str
    why_no_interval: str | None


def interval_of(ends: Ends, method: str) -> IntervalFields:
    return IntervalFields(interval=ends, method=method, why_no_interval=None)


def no_interval(why: str) -> IntervalFields:
    return IntervalFields(interval=None, method="none", why_no_interval=why)


def too_few(n_clusters: int, unit: str) -> IntervalFields:
    return no_interval(f"{n_clusters} {unit}(s); an interval needs at least {FEWEST_CLUSTERS}")


def t_quantile(p: float, df: float) -> float:
    """The x with P(T <= x) = p; the normal quantile where `df` is infinite."""
    return float(special.stdtrit(df, p))


def clopper_pearson(successes: Floats, trials: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The lower and upper ends of exact binomial intervals; effective (fractional) counts are allowed."""
    tail, failures = (1.0 - level) / 2, trials - successes
    low = np.where(successes > 0, special.betaincinv(np.maximum(successes, _ROUNDING), failures + 1, tail), 0.0)
    high = np.where(failures > 0, special.betaincinv(successes + 1, np.maximum(failures, _ROUNDING), 1 - tail), 1.0)
    return low, high


class Share(NamedTuple):
    """A share in [0, 1] whose variance was estimated from `n_clusters` clusters, and the variance's df."""

    value: float
    variance: float
    n_clusters: int
    n_judgments: int
    df: float


class _Shares:
    """Many shares as arrays, and where the exact interval stands in, on how many effective judgments."""

    def __init__(self, shares: Sequence[Share], *, level: float) -> None:
        columns = np.array(shares, dtype=np.float64).reshape(len(shares), len(Share._fields))
        self.value, self.variance, self.n_clusters, self.n_judgments, self.df = columns.T
        p = 0.5 + level / 2
        self.critical = special.stdtrit(self.df, p)
        effective = effective_judgments(
            self.value, self.variance, n_clusters=self.n_clusters, n_judgments=self.n_judgments
        )
        events = effective * np.minimum(self.value, 1.0 - self.value)
        few = (self.n_clusters < EXACT_BELOW_CLUSTERS) | (events < EXACT_BELOW_EVENTS)
        self.known = self.n_clusters >= FEWEST_CLUSTERS
        self.exact = self.known & (few | ~(self.variance > NO_SPREAD))
        # Fewer effective judgments because the variance rests on few clusters, though not below one a cluster: clusters
        # are independent of each other by design, and that much is known without estimating anything.
        ratio = special.stdtrit(np.maximum(self.n_judgments - 1, 1), p) / self.critical
        self.trials = np.maximum(
            np.minimum(effective, self.n_clusters), np.minimum(effective * ratio**2, self.n_judgments)
        )

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """The ends of every interval; what stands where there is none has no meaning."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            reach, spread = self.critical * np.sqrt(self.variance), self.value * (1.0 - self.value)
            centre = np.log(self.value / (1.0 - self.value))
            low, high = (1.0 / (1.0 + np.exp(side * reach / spread - centre)) for side in (1.0, -1.0))
        plain = self.n_clusters >= LOGIT_BELOW_CLUSTERS
        low = np.where(plain, np.maximum(0.0, self.value - reach), low)
        high = np.where(plain, np.minimum(1.0, self.value + reach), high)
        at = np.flatnonzero(self.exact)
        trials = self.trials[at]
        low[at], high[at] = clopper_pearson(np.minimum(self.value[at] * trials, trials), trials, level)
        return low, high


def share_intervals(
    shares: Sequence[Share], *, level: float = 0.95, unit: str = "task", words: Sequence[str] | None = None
) -> list[IntervalFields]:
    """The intervals of many shares, each for itself; the laws are asked for all at once.

    `words` are added to the method of each that has an interval. None is of zero width: a share that is the same in
    every cluster gets the exact interval.
    """
    together = _Shares(shares, level=level)
    low, high = together.ends(level)
    facts = zip(
        low.tolist(),
        high.tolist(),
        together.exact.tolist(),
        together.trials.tolist(),
        together.known.tolist(),
        strict=True,
    )
    made = []
    for at, (least, most, exact, trials, known) in enumerate(facts):
        n_clusters, more = shares[at].n_clusters, words[at] if words else ""
        if not known:
            made.append(too_few(n_clusters, unit))
        elif exact:
            made.append(interval_of((least, most), f"exact on {trials:.1f} effective judgments (Korn-Graubard){more}"))
        else:
            scale = " on the logit scale" if n_clusters < LOGIT_BELOW_CLUSTERS else ""
            made.append(interval_of((least, most), f"t over {unit}s{scale}{more}"))
    return made


def share_interval(
    value: float,
    variance: float,
    *,
    n_clusters: int,
    n_judgments: int,
    level: float = 0.95,
    df: float | None = None,
    unit: str = "task",
    words: str = "",
) -> IntervalFields:
    """The interval of one share `value` in [0, 1] whose variance was estimated from `n_clusters` clusters."""
    share = Share(value, variance, n_clusters, n_judgments, n_clusters - 1.0 if df is None else df)
    return share_intervals([share], level=level, unit=unit, words=[words])[0]


def share_p_values(shares: Sequence[Share], *, against: float, level: float = 0.95) -> list[float | None]:
    """Two-sided p-values of shares against `against`, by the law of their intervals; None where there is none."""
    one = _Shares(shares, level=level)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.log(one.value / (1.0 - one.value)) - math.log(against / (1.0 - against))
        scaled = np.abs(distance) * one.value * (1.0 - one.value) / np.sqrt(one.variance)
    by_t = 2.0 * special.stdtr(one.df, -scaled)
    successes, failures = one.value * one.trials, one.trials - one.value * one.trials
    as_few = special.betainc(np.maximum(failures, _ROUNDING), successes + 1.0, 1.0 - against)
    as_many = special.betainc(np.maximum(successes, _ROUNDING), failures + 1.0, against)
    tail = np.minimum(np.where(failures > 0, as_few, 1.0), np.where(successes > 0, as_many, 1.0))
    found = np.where(one.exact, np.minimum(1.0, 2.0 * tail), by_t)
    return [p if known else None for p, known in zip(found.tolist(), one.known.tolist(), strict=True)]


def effective_judgments(
    value: float | Floats, variance: float | Floats, *, n_clusters: float | Floats, n_judgments: float | Floats
) -> Floats:
    """How many independent judgments would give this variance: between none and all of them.

    Where clusters do not differ at all the variance says nothing, and each cluster counts as one judgment.
    """
    spread = np.asarray(value * (1.0 - value))
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.minimum(spread / variance, n_judgments)
    return np.where((np.asarray(variance) > NO_SPREAD) & (spread > 0.0), worth, n_clusters)


def difference_interval(
    value: float, contributions: Floats, *, level: float = 0.95, unit: str = "task"
) -> IntervalFields:
    """A t interval for a mean of paired differences, from what each cluster adds to its error."""
    n, variance = len(contributions), cluster_variance(contributions)
    if n < FEWEST_CLUSTERS:
        return too_few(n, unit)
    if not variance > 0:
        return no_interval(f"no two {unit}s differ; there is no spread to learn from")
    reach = t_quantile(0.5 + level / 2, matched_df(contributions)) * math.sqrt(variance)
    return interval_of((value - reach, value + reach), f"t over {unit}s, paired")


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
) -> Estimate:
    """Value and standard error as an estimate with t over clusters; absent under 3 clusters or where nothing varies."""
    why, ends = None, None
    if n_clusters < FEWEST_CLUSTERS:
        why = too_few(n_clusters, unit)["why_no_interval"]
    elif not error > _ROUNDING:
        why = f"the same on every {unit}, so nothing says how sure this is"
    else:
        reach = t_quantile(0.5 + level / 2, n_clusters - 1 if df is None else df) * error
        ends = (value - reach, value + reach)
    return Estimate(
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
