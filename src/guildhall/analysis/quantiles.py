"""Normal, t, beta and binomial laws in plain Python, so that an interval costs no import of SciPy.

All functions take and return single floats. Quantiles agree with `scipy.special` to 1e-10, relative, for
probabilities from 1e-12 to 1 - 1e-12 and for shapes from 0.5 to a million.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

_SQRT2 = math.sqrt(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_TINY = 1e-300
_STEP_DONE = 1e-15
_NEWTON_DONE = 1e-9
"""A Newton step doubles the digits: after one as short as this, only rounding is left."""


def normal_cdf(x: float) -> float:
    """P(Z <= x), accurate in relative terms far into the lower tail."""
    return 0.5 * math.erfc(-x / _SQRT2)


@lru_cache(maxsize=4096)
def normal_quantile(p: float) -> float:
    """The x with P(Z <= x) = p."""
    _check_probability(p)
    if p in (0.0, 1.0):
        return math.copysign(math.inf, p - 0.5)
    if p > 0.5:
        return -_lower_normal_quantile(1.0 - p)
    return _lower_normal_quantile(p)


def _lower_normal_quantile(p: float) -> float:
    """The quantile for p <= 1/2: a start good to three digits, then Halley steps, which triple the digits."""
    t = math.sqrt(-2.0 * math.log(p))
    x = (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + t * 0.04481)) - t
    for _ in range(8):
        excess = (normal_cdf(x) - p) * math.exp(0.5 * x * x + _HALF_LOG_2PI)
        step = excess / (1.0 + 0.5 * x * excess)
        x -= step
        if abs(step) <= _STEP_DONE * (1.0 + abs(x)):
            break
    return x


def t_cdf(x: float, df: float) -> float:
    """P(T <= x) for Student's t with `df` degrees of freedom."""
    if math.isinf(df):
        return normal_cdf(x)
    if math.isinf(x):
        return float(x > 0)
    tail = _t_upper_tail(abs(x), df)
    return 1.0 - tail if x > 0 else tail


def _t_upper_tail(x: float, df: float) -> float:
    """P(T > x) for x >= 0."""
    square = x * x
    return 0.5 * _beta_cdf(df / (df + square), square / (df + square), 0.5 * df, 0.5)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The x with P(T <= x) = p, for any df > 0; the normal quantile when `df` is infinite."""
    _check_probability(p)
    if df <= 0:
        raise ValueError(f"degrees of freedom must be above 0, not {df}")
    if math.isinf(df) or p in (0.0, 1.0):
        return normal_quantile(p)
    if p == 0.5:
        return 0.0
    tail = min(p, 1.0 - p)
    log_density_at_0 = math.lgamma(0.5 * (df + 1.0)) - math.lgamma(0.5 * df) - 0.5 * math.log(df * math.pi)

    def excess_and_slope(u: float) -> tuple[float, float]:
        x = math.exp(u)
        density = math.exp(log_density_at_0 - 0.5 * (df + 1.0) * math.log1p(x * x / df))
        return tail - _t_upper_tail(x, df), density * x

    normal = abs(normal_quantile(tail))
    start = normal + (normal**3 + normal) / (4.0 * df) if df > 2.0 else normal
    magnitude = math.exp(_root(excess_and_slope, low=-50.0, high=700.0, start=math.log(start)))
    return magnitude if p > 0.5 else -magnitude


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if not (a > 0 and b > 0):
        raise ValueError(f"beta shapes must be above 0, not {a} and {b}")
    return _beta_cdf(x, 1.0 - x, a, b)


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = p; a shape of 0 puts all mass at 0 (for a) or at 1 (for b), as exact intervals need."""
    _check_probability(p)
    if a <= 0 or b <= 0:
        if a <= 0 and b <= 0:
            raise ValueError("one beta shape must be above 0")
        return 0.0 if a <= 0 else 1.0
    if p in (0.0, 1.0):
        return p

    def excess_and_slope(u: float) -> tuple[float, float]:
        x, y = _logistic(u), _logistic(-u)
        return _beta_cdf(x, y, a, b) - p, math.exp(_log_beta_weight(x, y, a, b))

    return _logistic(_root(excess_and_slope, low=-700.0, high=700.0, start=_typical(p, a, b)))


def _typical(p: float, a: float, b: float) -> float:
    """About where the quantile lies, on the logit scale: exact enough for shapes above one, else the middle."""
    middle = math.log(a / b)
    return middle + normal_quantile(p) * math.sqrt(1.0 / a + 1.0 / b) if min(a, b) > 1.0 else middle


def binomial_cdf(k: float, n: int, p: float) -> float:
    """P(K <= k) for K the number of successes in `n` trials."""
    whole = math.floor(k)
    if whole < 0:
        return 0.0
    return 1.0 if whole >= n else _beta_cdf(1.0 - p, p, n - whole, whole + 1.0)


def binomial_test(k: int, n: int, p: float) -> float:
    """Two-sided exact p-value: the total probability of all counts no likelier than the one seen."""
    if not 0 <= k <= n:
        raise ValueError(f"{k} successes in {n} trials cannot be")
    seen = _binomial_log_mass(k, n, p)
    likely = [math.exp(mass) for j in range(n + 1) if (mass := _binomial_log_mass(j, n, p)) <= seen + 1e-7]
    return min(1.0, math.fsum(likely))


def clopper_pearson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The exact binomial interval, from beta quantiles, so that effective (fractional) counts are allowed."""
    if not 0 <= successes <= trials or trials <= 0:
        raise ValueError(f"{successes:g} successes in {trials:g} trials cannot be")
    alpha = 1.0 - level
    low = beta_quantile(alpha / 2, successes, trials - successes + 1)
    high = beta_quantile(1 - alpha / 2, successes + 1, trials - successes)
    return low, high


def _beta_cdf(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b) with y = 1 - x handed over apart, so that neither end loses digits."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    weight = math.exp(_log_beta_weight(x, y, a, b))
    if x * (a + b + 2.0) < a + 1.0:
        return weight * _beta_fraction(x, a, b) / a
    return 1.0 - weight * _beta_fraction(y, b, a) / b


def _log_beta_weight(x: float, y: float, a: float, b: float) -> float:
    """log of x^a y^b / B(a, b), by deviances, so that large shapes do not cancel."""
    total = a + b
    # x total - a and y total - b are opposite numbers: the smaller of x and y gives them without cancellation.
    apart = x * total - a if x <= y else b - y * total
    deviance = a * _log_of_one_and(apart / a, x * total / a) + b * _log_of_one_and(-apart / b, y * total / b)
    stirling = _stirling_rest(total) - _stirling_rest(a) - _stirling_rest(b)
    return deviance + stirling + 0.5 * (math.log(a) + math.log(b) - math.log(total)) - _HALF_LOG_2PI


def _log_of_one_and(more: float, whole: float) -> float:
    """log(1 + more), where `whole` is 1 + more, the safer one of the two to take where it is small."""
    return math.log1p(more) if abs(more) < 0.5 else math.log(whole)


def _stirling_rest(a: float) -> float:
    """lgamma(a) minus Stirling's (a - 1/2) log a - a + log(2 pi) / 2."""
    if a < 12.0:
        return math.lgamma(a) - (a - 0.5) * math.log(a) + a - _HALF_LOG_2PI
    inverse = 1.0 / (a * a)
    return (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    d = 1.0 - (a + b) * x / (a + 1.0)
    c, d = 1.0, 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 100_000):
        # Written out, since a report of many cells spends its time here: even steps, then odd ones.
        step = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d, c = 1.0 + step * d, 1.0 + step / c
        d, c = 1.0 / (d if abs(d) > _TINY else _TINY), c if abs(c) > _TINY else _TINY
        value *= d * c
        step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d, c = 1.0 + step * d, 1.0 + step / c
        d, c = 1.0 / (d if abs(d) > _TINY else _TINY), c if abs(c) > _TINY else _TINY
        value *= d * c
        if abs(d * c - 1.0) < 1e-16:
            break
    return value


def _binomial_log_mass(k: int, n: int, p: float) -> float:
    if p in (0.0, 1.0):
        return 0.0 if k == n * p else -math.inf
    choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return choose + k * math.log(p) + (n - k) * math.log1p(-p)


def _root(excess_and_slope: Callable[[float], tuple[float, float]], *, low: float, high: float, start: float) -> float:
    """The zero of an increasing function: Newton steps, with bisection wherever they would leave the bracket."""
    u = min(max(start, low), high)
    for _ in range(400):
        excess, slope = excess_and_slope(u)
        if excess == 0.0:
            return u
        low, high = (u, high) if excess < 0 else (low, u)
        following = u - excess / slope if slope > 0 else math.nan
        if not low < following < high:
            following = 0.5 * (low + high)
            done = _STEP_DONE
        else:
            done = _NEWTON_DONE
        if abs(following - u) <= done * (1.0 + abs(u)):
            return following
        u = following
    return u


def _logistic(u: float) -> float:
    return 1.0 / (1.0 + math.exp(-u)) if u >= 0 else math.exp(u) / (1.0 + math.exp(u))


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a probability lies between 0 and 1, not {p}")
