"""How likely a win, a tie and a loss are, given the difference of two ratings: three models of ties.

Each gives, for every row, the derivatives of the log-likelihood of the three outcomes (columns: win, tie, loss) by
the difference d and by the tie parameter k. All are concave in both, so Newton's method finds the one maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from guildhall.analysis.tables import Floats

Ties = Literal["davidson", "rao-kupper", "half"]


class Derivatives(NamedTuple):
    """Arrays of rows x outcomes: log-likelihood, first and second derivatives."""

    log_p: Floats
    d: Floats
    k: Floats
    dd: Floats
    dk: Floats
    kk: Floats


def half(d: Floats, _k: float) -> Derivatives:
    """Bradley and Terry (1952), a tie being half a win and half a loss."""
    p, q = _sigmoid(d), _sigmoid(-d)
    log_p, log_q = _log_sigmoid(d), _log_sigmoid(-d)
    none = np.zeros((len(d), 3))
    curve = np.repeat((-p * q)[:, None], 3, axis=1)
    return Derivatives(
        np.stack([log_p, 0.5 * (log_p + log_q), log_q], axis=1),
        np.stack([q, 0.5 - p, -p], axis=1),
        none,
        curve,
        none,
        none,
    )


def davidson(d: Floats, k: float) -> Derivatives:
    """Davidson (1970): a tie is as likely as exp(k) times the geometric mean of the two strengths."""
    logs = np.stack([0.5 * d, np.full_like(d, k), -0.5 * d], axis=1)
    logs -= logs.max(axis=1, keepdims=True)
    p = np.exp(logs)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    lean = 0.5 * (p[:, 0] - p[:, 2])
    tie = p[:, 1]
    dd = np.square(lean) - 0.25 * (p[:, 0] + p[:, 2])
    by_d = np.array([0.5, 0.0, -0.5]) - lean[:, None]
    by_k = np.array([0.0, 1.0, 0.0]) - tie[:, None]
    return Derivatives(logs - np.log(total), by_d, by_k, _thrice(dd), _thrice(lean * tie), _thrice(-tie * (1.0 - tie)))


def rao_kupper(d: Floats, k: float) -> Derivatives:
    """Rao and Kupper (1967): a difference within the threshold k > 0 of judging noise is a tie."""
    a, b = _sigmoid(d - k), _sigmoid(-d - k)
    slope_a, slope_b = a * (1 - a), b * (1 - b)
    bend_a, bend_b = slope_a * (1 - 2 * a), slope_b * (1 - 2 * b)
    tie = a * b * np.expm1(2.0 * k)
    by_d, by_k = (slope_b - slope_a) / tie, (slope_a + slope_b) / tie
    bend, twist = -(bend_a + bend_b) / tie, (bend_a - bend_b) / tie
    return Derivatives(
        np.stack([_log_sigmoid(d - k), np.log(tie), _log_sigmoid(-d - k)], axis=1),
        np.stack([1 - a, by_d, b - 1], axis=1),
        np.stack([a - 1, by_k, b - 1], axis=1),
        np.stack([-slope_a, bend - by_d**2, -slope_b], axis=1),
        np.stack([slope_a, twist - by_d * by_k, -slope_b], axis=1),
        np.stack([-slope_a, bend - by_k**2, -slope_b], axis=1),
    )


TIE_MODELS: dict[Ties, tuple[Callable[[Floats, float], Derivatives], float | None]] = {
    "davidson": (davidson, 0.0),
    "rao-kupper": (rao_kupper, 0.5),
    "half": (half, None),
}
"""Each model and where its tie parameter starts; `half` has none."""


def _thrice(column: Floats) -> Floats:
    return np.repeat(column[:, None], 3, axis=1)


def _sigmoid(x: Floats) -> Floats:
    return np.exp(_log_sigmoid(x))


def _log_sigmoid(x: Floats) -> Floats:
    result: Floats = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    return result
