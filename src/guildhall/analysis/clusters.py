"""Errors that go together in two ways: tasks are one cluster, and graders who judged several of them a second."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from guildhall.analysis.tables import Codes, Floats

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
