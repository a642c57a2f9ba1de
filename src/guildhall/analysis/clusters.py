"""Errors that go together in two ways: tasks are one cluster, and graders who judged several of them a second."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from guildhall.analysis.intervals import cluster_variance
from guildhall.analysis.tables import Codes, Floats

FEWEST_SECOND = 3
"""With fewer second clusters (graders) than this their spread cannot be estimated, and figures are about these ones."""


def second_component(errors: Floats, first: Codes, second: Codes) -> tuple[float, int] | None:
    """What the second clusters add to the variance of an estimate, and how many they are (two-way clustering).

    `errors` are what each row adds to the estimate's error. None where no second cluster meets two first ones, where
    there are too few of them, or where they add nothing.
    """
    seconds, second_of = np.unique(second, return_inverse=True)
    pairs, pair_of = np.unique(second_of * (int(first.max()) + 1) + first, return_inverse=True)
    if len(seconds) < FEWEST_SECOND or len(pairs) == len(seconds):
        return None
    by_second, by_pair = (
        cluster_variance(np.asarray(np.bincount(cluster_of, errors), dtype=np.float64))
        for cluster_of in (second_of, pair_of)
    )
    component = by_second - by_pair
    return (component, len(seconds)) if component > 0 else None


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
    if found is None:
        return Widened(variance, df, "")
    component, n = found
    words = f"; {called} as second cluster ({n})"
    return Widened(variance + component, joint_df((variance, df), (component, n - 1)), words)


def joint_df(*parts: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of variances, each with its own (Satterthwaite); the fewest where nothing varies."""
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / df for variance, df in parts)
    return total**2 / below if below > 0 else min(df for _, df in parts)
