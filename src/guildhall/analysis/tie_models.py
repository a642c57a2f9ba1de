"""How likely a win, a tie and a loss are, given the difference of two ratings: three models of ties.

Each gives, for every row, the derivatives of the log-likelihood of the three outcomes (first axis: win, tie, loss)
by the difference d and by the tie parameter k. All are concave in both, so Newton's method finds the one maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from guildhall.analysis.tables import Floats

Ties = Literal["davidson", "rao-kupper", "half"]


class Derivatives(NamedTuple):
    """Arrays of outcomes x rows: log-likelihood, first and second derivatives."""

    log_p: Floats
    d: Floats
    k: Floats
    dd: Floats
    dk: Floats
    kk: Floats


def half(d: Floats, _k: float) -> Derivatives:
    """Bradley and Terry (1952), a tie being half a win and half a loss."""
    log_p, log_q = _log_sigmoids(d)
    p, q = np.exp(log_p), np.exp(log_q)
    none = np.zeros((3, 1))
    return Derivatives(
        np.stack([log_p, 0.5 * (log_p + log_q), log_q]), np.stack([q, 0.5 - p, -p]), none, (-p * q)[None], none, none
    )


def davidson(d: Floats, k: float) -> Derivatives:
    """Davidson (1970): a tie is as likely as exp(k) times the geometric mean of the two strengths."""
    logs = np.stack([0.5 * d, np.full_like(d, k), -0.5 * d])
    logs -= logs.max(axis=0)
    p = np.exp(logs)
    total = p.sum(axis=0)
    p /= total
    lean, tie = 0.5 * (p[0] - p[2]), p[1]
    dd = np.square(lean) - 0.25 * (p[0] + p[2])
    by_d = np.array([0.5, 0.0, -0.5])[:, None] - lean
    by_k = np.array([0.0, 1.0, 0.0])[:, None] - tie
    return Derivatives(logs - np.log(total), by_d, by_k, dd[None], (lean * tie)[None], (-tie * (1.0 - tie))[None])


def rao_kupper(d: Floats, k: float) -> Derivatives:
    """Rao and Kupper (1967): a difference within the threshold k > 0 of judging noise is a tie."""
    (log_a, log_not_a), (log_b, log_not_b) = _log_sigmoids(d - k), _log_sigmoids(-d - k)
    a, b = np.exp(log_a), np.exp(log_b)
    not_a, not_b = np.exp(log_not_a), np.exp(log_not_b)
    slope_a, slope_b = a * not_a, b * not_b
    bend_a, bend_b = slope_a * (not_a - a), slope_b * (not_b - b)
    tie = a * b * np.expm1(2.0 * k)
    by_d, by_k = (slope_b - slope_a) / tie, (slope_a + slope_b) / tie
    bend, twist = -(bend_a + bend_b) / tie, (bend_a - bend_b) / tie
    return Derivatives(
        np.stack([log_a, np.log(tie), log_b]),
        np.stack([not_a, by_d, -not_b]),
        np.stack([-not_a, by_k, -not_b]),
        np.stack([-slope_a, bend - by_d**2, -slope_b]),
        np.stack([slope_a, twist - by_d * by_k, -slope_b]),
        np.stack([-slope_a, bend - by_k**2, -slope_b]),
    )


TIE_MODELS: dict[Ties, tuple[Callable[[Floats, float], Derivatives], float | None]] = {
    "davidson": (davidson, 0.0),
    "rao-kupper": (rao_kupper, 0.5),
    "half": (half, None),
}
"""Each model and where its tie parameter starts; `half` has none."""


def _log_sigmoids(x: Floats) -> tuple[Floats, Floats]:
    """log of 1 / (1 + exp(-x)) and of 1 / (1 + exp(x)), with one exponential for both."""
    tail = np.log1p(np.exp(-np.abs(x)))
    return np.minimum(x, 0.0) - tail, -np.maximum(x, 0.0) - tail
