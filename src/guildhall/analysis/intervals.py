"""Intervals by one rule each: of a share, of a mean, of a difference; how far each may be off comes from `crossed`.

A share, one decision: under 3 tasks (clusters) there is none. Under 10 tasks, or with fewer than 15 effective
successes or failures, it is the exact binomial interval on the effective number of judgments (Korn and Graubard 1998),
marked "few tasks" where they are few; so it is where the share is the same in every cluster, each of which then counts
as one judgment. Else it is a t interval on the logit scale, which keeps inside 0 and 1 and follows the skew (a plain
one from 1,000 tasks on where people are no sample). A mean or a difference has a plain t interval, or none with the
reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from scipy import special

from guildhall.analysis.crossed import crossed
from guildhall.analysis.spreads import NO_SPREAD, Spread
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate

FEWEST_CLUSTERS = 3
EXACT_BELOW_CLUSTERS = 10
EXACT_BELOW_EVENTS = 15.0
LOGIT_BELOW_CLUSTERS = 1000
SKEW = 1.0
"""Graders' shares are skewed where a share is far from one half: their spread is then known as from fewer of them, by
the factor 1 + SKEW (1 - 2 share)^2. Chosen in proofs/tuning."""
_ROUNDING = 1e-12

Ends = tuple[float, float]


class About(TypedDict, total=False):
    """What an estimate says of its sample."""

    target: str | None
    effective_tasks: float | None
    effective_graders: float | None
    df_graders: float | None
    design_effect: float | None


class IntervalFields(About, total=False):
    """The fields of an `Estimate` that speak of its interval: how it was made or why there is none, and about whom."""

    interval: Ends | None
    method: str
    why_no_interval: str | None


def interval_of(ends: Ends, method: str, spread: Spread | None = None) -> IntervalFields:
    return IntervalFields(interval=ends, method=method, why_no_interval=None, **about(spread))


def no_interval(why: str, spread: Spread | None = None) -> IntervalFields:
    return IntervalFields(interval=None, method="none", why_no_interval=why, **about(spread))


def about(spread: Spread | None) -> About:
    """What an estimate says of the sample its spread was found from."""
    if spread is None:
        return About()
    people = spread.n_graders > 0
    return About(
        target=spread.target,
        effective_tasks=spread.effective_tasks,
        effective_graders=spread.effective_graders if people else None,
        df_graders=spread.df_graders if spread.like_these else None,
        design_effect=spread.design_effect,
    )


def too_few(n_clusters: int, unit: str, spread: Spread | None = None) -> IntervalFields:
    return no_interval(f"{n_clusters} {unit}(s); an interval needs at least {FEWEST_CLUSTERS}", spread)


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
    """A share in [0, 1], how far it may be off, and from how many judgments it was taken."""

    value: float
    spread: Spread
    n_judgments: int


class _Shares:
    """Many shares as arrays, and where the exact interval stands in, on how many effective judgments."""

    def __init__(self, shares: Sequence[Share], *, level: float) -> None:
        columns = [
            (
                one.value,
                own.variance,
                own.of_graders,
                own.n_tasks,
                one.n_judgments,
                own.df,
                own.df_graders,
                own.like_these,
                own.skew,
            )
            for one in shares
            for own in (one.spread,)
        ]
        found = np.array(columns, dtype=np.float64).reshape(len(shares), 9).T
        self.value, self.variance, self.of_graders, self.n_clusters, self.n_judgments, self.df = found[:6]
        self.people, p = found[7] > 0, 0.5 + level / 2
        self.df_graders = found[6] / (1.0 + SKEW * np.maximum(np.square(1.0 - 2.0 * self.value), found[8]))
        with np.errstate(invalid="ignore", divide="ignore"):
            tasks = np.square(special.stdtrit(self.df, p)) * (self.variance - self.of_graders)
            graders = np.square(special.stdtrit(self.df_graders, p)) * self.of_graders
            self.reach = np.sqrt(tasks + np.where(self.of_graders > 0, graders, 0.0))
            self.critical = np.where(
                self.variance > 0, self.reach / np.sqrt(self.variance), special.stdtrit(self.df, p)
            )
        effective = effective_judgments(
            self.value, self.variance, n_clusters=self.n_clusters, n_judgments=self.n_judgments
        )
        events = effective * np.minimum(self.value, 1.0 - self.value)
        few = (self.n_clusters < EXACT_BELOW_CLUSTERS) | (events < EXACT_BELOW_EVENTS)
        self.known = (self.n_clusters >= FEWEST_CLUSTERS) & ~np.isnan(self.variance)
        self.exact = self.known & (few | ~(self.variance > NO_SPREAD))
        # Fewer effective judgments because the variance rests on few clusters. Where graders add nothing not below one
        # a cluster: clusters are independent of each other by design, and that much is known without estimating.
        ratio = special.stdtrit(np.maximum(self.n_judgments - 1, 1), p) / self.critical
        least = np.where(self.of_graders > 0, np.minimum(effective, 1.0), np.minimum(effective, self.n_clusters))
        self.trials = np.maximum(least, np.minimum(effective * ratio**2, self.n_judgments))

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """The ends of every interval; what stands where there is none has no meaning."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            spread = self.value * (1.0 - self.value)
            centre = np.log(self.value / (1.0 - self.value))
            low, high = (1.0 / (1.0 + np.exp(side * self.reach / spread - centre)) for side in (1.0, -1.0))
        plain = (self.n_clusters >= LOGIT_BELOW_CLUSTERS) & ~self.people
        low = np.where(plain, np.maximum(0.0, self.value - self.reach), low)
        high = np.where(plain, np.minimum(1.0, self.value + self.reach), high)
        at = np.flatnonzero(self.exact)
        trials = self.trials[at]
        low[at], high[at] = clopper_pearson(np.minimum(self.value[at] * trials, trials), trials, level)
        return low, high


def share_intervals(
    shares: Sequence[Share], *, level: float = 0.95, unit: str = "task", crossed_only: bool = False
) -> list[IntervalFields]:
    """The intervals of many shares, each for itself; the laws are asked for all at once.

    None is of zero width: a share that is the same in every cluster gets the exact interval. `crossed_only` names the
    branch for people: t on the logit scale wherever there is one, however rare wins or losses are.
    """
    together = _Shares(shares, level=level)
    if crossed_only:
        together.exact &= ~((together.variance > NO_SPREAD) & (together.value > 0) & (together.value < 1))
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
    for own, (least, most, exact, trials, known) in zip(shares, facts, strict=True):
        spread = own.spread
        if not known:
            made.append(too_few(spread.n_tasks, unit, spread))
        elif exact:
            few = f"; few {unit}s" if spread.n_tasks < EXACT_BELOW_CLUSTERS else ""
            words = f"exact on {trials:.1f} effective judgments (Korn-Graubard){few}{spread.words}"
            made.append(interval_of((least, most), words, spread))
        else:
            scale = " on the logit scale" if spread.like_these or spread.n_tasks < LOGIT_BELOW_CLUSTERS else ""
            made.append(interval_of((least, most), f"t over {unit}s{scale}{spread.words}", spread))
    return made


def share_interval(
    value: float, spread: Spread, *, n_judgments: int, level: float = 0.95, unit: str = "task"
) -> IntervalFields:
    """The interval of one share `value` in [0, 1]."""
    return share_intervals([Share(value, spread, n_judgments)], level=level, unit=unit)[0]


def share_p_values(shares: Sequence[Share], *, against: float, level: float = 0.95) -> list[float | None]:
    """Two-sided p-values of shares against `against`, by the law of their intervals; None where there is none."""
    one = _Shares(shares, level=level)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.log(one.value / (1.0 - one.value)) - math.log(against / (1.0 - against))
        scaled = np.abs(distance) * one.value * (1.0 - one.value) / np.sqrt(one.variance)
        below = np.square(one.variance - one.of_graders) / one.df + np.square(one.of_graders) / one.df_graders
        df = np.where(below > 0, np.square(one.variance) / below, one.df)
    by_t = 2.0 * special.stdtr(df, -scaled)
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


def reach_of(spread: Spread, *, level: float = 0.95, one_sided: bool = False) -> float:
    """How far a t interval reaches on either side; or the one bound of a one-sided claim."""
    p = level if one_sided else 0.5 + level / 2
    tasks = t_quantile(p, spread.df) ** 2 * (spread.variance - spread.of_graders)
    df_graders = spread.df_graders / (1.0 + SKEW * spread.skew)
    graders = t_quantile(p, df_graders) ** 2 * spread.of_graders if spread.of_graders > 0 else 0.0
    return math.sqrt(tasks + graders)


def mean_interval(
    value: float, spread: Spread, *, level: float = 0.95, unit: str = "task", words: str = ""
) -> IntervalFields:
    """A t interval for a mean or a difference."""
    if spread.n_tasks < FEWEST_CLUSTERS:
        return too_few(spread.n_tasks, unit, spread)
    if not spread.variance > NO_SPREAD:
        return no_interval(f"the same on every {unit}, so nothing says how sure this is", spread)
    reach = reach_of(spread, level=level)
    return interval_of((value - reach, value + reach), f"t over {unit}s{words}{spread.words}", spread)


def t_estimate(
    value: float,
    spread: Spread,
    *,
    estimand: str,
    method: str | None = None,
    unit: str = "task",
    level: float = 0.95,
    n_judgments: int | None = None,
    n_samples: int | None = None,
    n_excluded: int = 0,
) -> Estimate:
    """A mean with its t interval, as an estimate; absent under 3 clusters or where nothing varies."""
    made = mean_interval(value, spread, level=level, unit=unit)
    if method is not None:
        made["method"] = method + (spread.words if made["interval"] is not None else "")
    return Estimate(
        value=value,
        estimand=estimand,
        level=level,
        unit=unit,
        n_tasks=spread.n_tasks if unit == "task" else None,
        n_samples=n_samples,
        n_judgments=n_judgments,
        n_excluded=n_excluded,
        **made,
    )


def mean_of_rows(values: Floats, task: Codes, grader: Codes | None = None) -> tuple[float, Spread]:
    """The mean over rows and its spread; `grader` names whoever gave each row."""
    value = float(values.mean())
    return value, crossed((values - value) / len(values), task, grader)


def mean_of_cluster_means(values: Floats, cluster: Codes, grader: Codes | None = None) -> tuple[float, Spread]:
    """The mean over clusters of each cluster's own mean, and its spread."""
    _, at = np.unique(cluster, return_inverse=True)
    times = np.bincount(at)
    weight = 1.0 / (len(times) * times[at])
    value = float(weight @ values)
    return value, crossed(weight * (values - value), at, grader, weight=weight)
