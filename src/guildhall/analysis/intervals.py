"""The interval of a share that was averaged over clusters: t, logit-t or exact, by one rule.

Under 3 clusters there is none. Under 10 clusters, or with fewer than 15 effective successes or failures, it is the
exact binomial interval on the effective number of judgments (Korn and Graubard 1998); so it is where the share is the
same in every cluster, each of which then counts as one judgment. Under 1,000 clusters it is a t interval on the logit
scale, which keeps inside 0 and 1 and follows the skew; above, a plain t interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from guildhall.analysis.quantile_arrays import clopper_pearson_ends, t_quantiles
from guildhall.analysis.quantiles import beta_cdf, t_cdf, t_quantile
from guildhall.analysis.tables import Floats

FEWEST_CLUSTERS = 3
EXACT_BELOW_CLUSTERS = 10
EXACT_BELOW_EVENTS = 15.0
LOGIT_BELOW_CLUSTERS = 1000
NO_SPREAD = 1e-14
"""A variance below this is rounding: clusters do not differ."""


class ShareInterval(NamedTuple):
    """An interval and how it was made, or the reason why there is none."""

    interval: tuple[float, float] | None
    method: str
    why_no_interval: str | None = None


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


class Share(NamedTuple):
    """A share in [0, 1] whose variance was estimated from `n_clusters` clusters, and the variance's df."""

    value: float
    variance: float
    n_clusters: int
    n_judgments: int
    df: float


def share_interval(
    value: float,
    variance: float,
    *,
    n_clusters: int,
    n_judgments: int,
    level: float = 0.95,
    df: float | None = None,
    unit: str = "task",
) -> ShareInterval:
    """The interval of a share `value` in [0, 1] whose variance was estimated from `n_clusters` clusters.

    It is never of zero width: a share that is the same in every cluster gets the exact interval.
    """
    share = Share(float(value), variance, n_clusters, n_judgments, n_clusters - 1.0 if df is None else df)
    return share_intervals([share], level=level, unit=unit)[0]


def share_intervals(shares: Sequence[Share], *, level: float = 0.95, unit: str = "task") -> list[ShareInterval]:
    """The intervals of many shares, each for itself; what takes time, the quantiles, is found for all at once."""
    made = [_too_few(share, unit) for share in shares]
    known = [at for at, share in enumerate(shares) if share.n_clusters >= FEWEST_CLUSTERS]
    criticals = t_quantiles(0.5 + level / 2, np.array([shares[at].df for at in known])).tolist()
    exact: dict[int, float] = {}
    for at, critical in zip(known, criticals, strict=True):
        share = shares[at]
        n_effective = effective_judgments(*share[:2], n_clusters=share.n_clusters, n_judgments=share.n_judgments)
        if _asks_for_exact(share.value, share.variance, n_effective, share.n_clusters):
            exact[at] = _allow_for_df(n_effective, share, critical=critical, level=level)
        else:
            made[at] = _by_t(share, critical * math.sqrt(share.variance), unit)
    trials = np.array([*exact.values()])
    successes = np.minimum(np.array([shares[at].value for at in exact]) * trials, trials)
    for at, low, high in zip(exact, *clopper_pearson_ends(successes, trials, level), strict=True):
        words = f"exact on {exact[at]:.1f} effective judgments (Korn-Graubard)"
        made[at] = ShareInterval((float(low), float(high)), words)
    return made


def _too_few(share: Share, unit: str) -> ShareInterval:
    return ShareInterval(None, "none", f"{share.n_clusters} {unit}(s); an interval needs at least {FEWEST_CLUSTERS}")


def _by_t(share: Share, reach: float, unit: str) -> ShareInterval:
    if share.n_clusters < LOGIT_BELOW_CLUSTERS:
        return ShareInterval(_on_logit_scale(share.value, reach), f"t over {unit}s on the logit scale")
    return ShareInterval((max(0.0, share.value - reach), min(1.0, share.value + reach)), f"t over {unit}s")


def share_p_value(
    value: float, variance: float, *, against: float, n_clusters: int, n_judgments: int, df: float, level: float = 0.95
) -> float | None:
    """Two-sided p-value of a share against `against`, by the law that `share_interval` would use; None without one."""
    if n_clusters < FEWEST_CLUSTERS:
        return None
    n_effective = effective_judgments(value, variance, n_clusters=n_clusters, n_judgments=n_judgments)
    if _asks_for_exact(value, variance, n_effective, n_clusters):
        share = Share(value, variance, n_clusters, n_judgments, df)
        n = _allow_for_df(n_effective, share, critical=t_quantile(0.5 + level / 2, df), level=level)
        successes = value * n
        as_few = beta_cdf(1.0 - against, n - successes, successes + 1.0) if successes < n else 1.0
        as_many = beta_cdf(against, successes, n - successes + 1.0) if successes > 0 else 1.0
        return min(1.0, 2.0 * min(as_few, as_many))
    distance = math.log(value / (1.0 - value)) - math.log(against / (1.0 - against))
    return 2.0 * t_cdf(-abs(distance) * value * (1.0 - value) / math.sqrt(variance), df)


def difference_interval(
    value: float, contributions: Floats, *, level: float = 0.95, unit: str = "task"
) -> ShareInterval:
    """A t interval for a mean of paired differences, from what each cluster adds to its error."""
    n, variance = len(contributions), cluster_variance(contributions)
    if n < FEWEST_CLUSTERS:
        return ShareInterval(None, "none", f"{n} {unit}(s); an interval needs at least {FEWEST_CLUSTERS}")
    if not variance > 0:
        return ShareInterval(None, "none", f"no two {unit}s differ; there is no spread to learn from")
    reach = t_quantile(0.5 + level / 2, matched_df(contributions)) * math.sqrt(variance)
    return ShareInterval((value - reach, value + reach), f"t over {unit}s, paired")


def effective_judgments(value: float, variance: float, *, n_clusters: int, n_judgments: int) -> float:
    """How many independent judgments would give this variance: between none and all of them.

    Where clusters do not differ at all the variance says nothing, and each cluster counts as one judgment.
    """
    spread = value * (1.0 - value)
    if not variance > NO_SPREAD or spread <= 0.0:
        return float(n_clusters)
    return min(spread / variance, float(n_judgments))


def _asks_for_exact(value: float, variance: float, n_effective: float, n_clusters: int) -> bool:
    events = n_effective * min(value, 1.0 - value)
    return n_clusters < EXACT_BELOW_CLUSTERS or events < EXACT_BELOW_EVENTS or not variance > NO_SPREAD


def _allow_for_df(n_effective: float, share: Share, *, critical: float, level: float) -> float:
    """Shrink the effective number because it rests on few clusters, though not below one judgment a cluster.

    Clusters are independent of each other by design: that much is known without estimating anything. `critical` is the
    quantile of t at the share's own degrees of freedom.
    """
    ratio = t_quantile(0.5 + level / 2, max(share.n_judgments - 1, 1)) / critical
    return max(min(n_effective, share.n_clusters), min(n_effective * ratio**2, float(share.n_judgments)))


def _on_logit_scale(value: float, reach: float) -> tuple[float, float]:
    centre, reach = math.log(value / (1.0 - value)), reach / (value * (1.0 - value))
    return 1.0 / (1.0 + math.exp(reach - centre)), 1.0 / (1.0 + math.exp(-reach - centre))
