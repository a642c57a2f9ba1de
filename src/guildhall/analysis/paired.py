"""Paired differences: two conditions on the same tasks, so that what tasks have in common cancels."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from guildhall.analysis.clusters import joint_df
from guildhall.analysis.intervals import EXACT_BELOW_EVENTS, FEWEST_CLUSTERS, t_quantile
from guildhall.domain.estimates import Estimate
from guildhall.errors import NothingPaired


def paired_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    names: tuple[str, str] = ("first", "second"),
    graders: tuple[float, int] | None = None,
    level: float = 0.95,
) -> Estimate:
    """First minus second, from task means in 0..1; tasks seen on one side only are left out and counted.

    Estimand: the mean over tasks of the difference. Interval: t over tasks; where hardly any task differs
    (fewer than 15 effective ones) two imagined tasks are added, one of which differs, half either way (after Agresti
    and Min 2005), so that rare differences do not look like none. `graders` is what those who judged several tasks, on
    one side only, add to the variance, and how many they are.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise NothingPaired(*names)
    gaps = np.array([first[task] - second[task] for task in shared])
    n, squares, fourths = len(gaps), float((gaps**2).sum()), float((gaps**4).sum())
    differing = squares**2 / fourths if fourths > 0 else 0.0
    sparse = differing < EXACT_BELOW_EVENTS
    largest = float(np.abs(gaps).max()) if squares > 0 else 1.0
    weight, total = (n + 2, squares + largest**2) if sparse else (n, squares)
    centre = float(gaps.sum()) / weight
    variance = (total / weight - centre**2) / (weight - 1)
    value, what = float(gaps.mean()), f"{names[0]} minus {names[1]}, mean over tasks"
    left_out = len(first.keys() | second.keys()) - n
    method = "t over paired tasks" + (", one imagined difference either way" if sparse else "")
    if n < FEWEST_CLUSTERS or not variance > 0:
        why = f"{n} paired tasks; an interval needs at least {FEWEST_CLUSTERS}"
        return Estimate(
            value=value,
            estimand=what,
            method=method,
            level=level,
            n_tasks=n,
            n_excluded=left_out,
            why_no_interval=why,
        )
    more, n_graders = graders or (0.0, n)
    df = joint_df((variance, n - 1), (more, n_graders - 1))
    method += f"; graders as second cluster ({n_graders})" if graders else ""
    reach = t_quantile(0.5 + level / 2, df) * math.sqrt(variance + more)
    ends = (max(-1.0, min(centre - reach, value)), min(1.0, max(centre + reach, value)))
    return Estimate(
        value=value, interval=ends, estimand=what, method=method, level=level, n_tasks=n, n_excluded=left_out
    )
