"""Quantiles of the t and beta laws for many shapes at once, as a breakdown of thousands of cells needs them.

The same laws as in `quantiles`, digit by digit to 1e-10, with every shape taking its Newton steps beside the others.
A few shapes go one by one, which is quicker then.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.quantiles import beta_quantile, normal_quantile, t_quantile
from guildhall.analysis.tables import Floats

FEW = 100
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_TINY = 1e-300
_STEP_DONE = 1e-15
_NEWTON_DONE = 1e-9
_ASYMPTOTIC_FROM = 12.0


def t_quantiles(p: float, df: Floats) -> Floats:
    """The x with P(T <= x) = p for each of `df`, at least 1; p above one half."""
    if len(df) <= FEW:
        return np.array([t_quantile(p, one) for one in df.tolist()])
    found = np.full(len(df), normal_quantile(p))
    finite = np.flatnonzero(np.isfinite(df))
    df, tail, half = df[finite], 1.0 - p, np.full(len(finite), 0.5)

    def excess_and_slope(u: Floats, which: NDArray[np.intp]) -> tuple[Floats, Floats]:
        own, square = df[which], np.exp(2.0 * u)
        near, far = own / (own + square), square / (own + square)
        law = _Beta(0.5 * own, half[which])
        # The density of T at x, times x, is the weight of the beta law at the same place.
        return tail - 0.5 * law.cdf(near, far), law.weight(near, far)

    normal = abs(normal_quantile(tail))
    start = np.where(df > 2.0, normal + (normal**3 + normal) / (4.0 * df), normal)
    found[finite] = np.exp(_roots(excess_and_slope, low=-50.0, high=350.0, start=np.log(start)))
    return found


def beta_quantiles(p: float, a: Floats, b: Floats) -> Floats:
    """The x with I_x(a, b) = p for each pair of shapes, p inside (0, 1); a shape of 0 puts all mass at its end."""
    if len(a) <= FEW:
        return np.array([beta_quantile(p, *shapes) for shapes in zip(a.tolist(), b.tolist(), strict=True)])
    found: Floats = np.where(a <= 0.0, 0.0, 1.0)
    inside = np.flatnonzero((a > 0.0) & (b > 0.0))
    a, b = a[inside], b[inside]

    def excess_and_slope(u: Floats, which: NDArray[np.intp]) -> tuple[Floats, Floats]:
        law, x, y = _Beta(a[which], b[which]), _logistic(u), _logistic(-u)
        return law.cdf(x, y) - p, law.weight(x, y)

    middle = np.log(a / b)
    start = np.where(np.minimum(a, b) > 1.0, middle + normal_quantile(p) * np.sqrt(1.0 / a + 1.0 / b), middle)
    found[inside] = _logistic(_roots(excess_and_slope, low=-700.0, high=700.0, start=start))
    return found


def clopper_pearson_ends(successes: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """The lower and upper ends of exact binomial intervals; effective (fractional) counts are allowed."""
    tail = (1.0 - level) / 2
    low = beta_quantiles(tail, successes, trials - successes + 1)
    high = beta_quantiles(1 - tail, successes + 1, trials - successes)
    return low, high


class _Beta:
    """Beta laws with shapes `a` and `b`, one beside the other."""

    def __init__(self, a: Floats, b: Floats) -> None:
        self.a, self.b, self.total = a, b, a + b
        stirling = _stirling_rest(self.total) - _stirling_rest(a) - _stirling_rest(b)
        self.constant = stirling + 0.5 * (np.log(a) + np.log(b) - np.log(self.total)) - _HALF_LOG_2PI

    def cdf(self, x: Floats, y: Floats) -> Floats:
        """I_x(a, b) with y = 1 - x handed over apart, so that neither end loses digits."""
        lower = x * (self.total + 2.0) < self.a + 1.0
        near, far = np.where(lower, self.a, self.b), np.where(lower, self.b, self.a)
        part = self.weight(x, y) * _fraction(np.where(lower, x, y), near, far) / near
        return np.where(lower, part, 1.0 - part)

    def weight(self, x: Floats, y: Floats) -> Floats:
        """x^a y^b / B(a, b), by deviances, so that large shapes do not cancel."""
        apart = np.where(x <= y, x * self.total - self.a, self.b - y * self.total)
        deviance = self.a * _log_of_one_and(apart / self.a, x * self.total / self.a)
        deviance += self.b * _log_of_one_and(-apart / self.b, y * self.total / self.b)
        weight: Floats = np.exp(deviance + self.constant)
        return weight


def _log_of_one_and(more: Floats, whole: Floats) -> Floats:
    """log(1 + more), where `whole` is 1 + more, the safer one of the two to take where it is small."""
    near = np.abs(more) < 0.5
    return np.where(near, np.log1p(np.where(near, more, 0.0)), np.log(np.where(near, 1.0, np.maximum(whole, _TINY))))


def _stirling_rest(a: Floats) -> Floats:
    """lgamma(a) minus Stirling's (a - 1/2) log a - a + log(2 pi) / 2; small shapes are first raised by whole steps."""
    raised = np.maximum(a, _ASYMPTOTIC_FROM + np.mod(a, 1.0))
    inverse = 1.0 / (raised * raised)
    rest: Floats = (
        1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))
    ) / raised
    small = np.flatnonzero(a < _ASYMPTOTIC_FROM)
    if len(small):
        own, high = a[small], raised[small]
        steps = own[:, None] + np.arange(_ASYMPTOTIC_FROM + 1.0)
        product = np.where(steps < high[:, None] - 0.5, steps, 1.0).prod(axis=1)
        rest[small] += (high - 0.5) * np.log(high) - high - (own - 0.5) * np.log(own) + own - np.log(product)
    return rest


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, by Lentz's method, until the last one has settled."""
    d = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    c, value, settled = np.ones_like(d), d, np.zeros(len(d), dtype=np.bool_)
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d, c = 1.0 / _away_from_zero(1.0 + step * d), _away_from_zero(1.0 + step / c)
            value = value * (d * c)
        settled |= np.abs(d * c - 1.0) < 1e-15
        if settled.all():
            break
    return value


def _away_from_zero(values: Floats) -> Floats:
    return np.where(np.abs(values) > _TINY, values, _TINY)


def _roots(
    excess_and_slope: Callable[[Floats, NDArray[np.intp]], tuple[Floats, Floats]],
    *,
    low: float,
    high: float,
    start: Floats,
) -> Floats:
    """The zeros of increasing functions: Newton steps, with bisection wherever they would leave the bracket.

    The functions that are not done yet are asked for together, by their places.
    """
    u = np.clip(start, low, high)
    lows, highs = np.full(len(u), low), np.full(len(u), high)
    open_ = np.arange(len(u))
    for _ in range(400):
        here = u[open_]
        excess, slope = excess_and_slope(here, open_)
        lows[open_] = np.where(excess < 0, here, lows[open_])
        highs[open_] = np.where(excess > 0, here, highs[open_])
        following = here - np.divide(excess, slope, out=np.full(len(here), np.nan), where=slope > _TINY)
        newton = (lows[open_] < following) & (following < highs[open_])
        following = np.where(newton, following, 0.5 * (lows[open_] + highs[open_]))
        u[open_] = np.where(excess == 0, here, following)
        done = np.abs(following - here) <= np.where(newton, _NEWTON_DONE, _STEP_DONE) * (1.0 + np.abs(here))
        open_ = open_[~(done | (excess == 0))]
        if not len(open_):
            break
    return u


def _logistic(u: Floats) -> Floats:
    small = np.exp(-np.abs(u))
    return np.where(u >= 0, 1.0, small) / (1.0 + small)
