"""Resampling of tasks as weights: one matrix product per statistic instead of a loop over rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def task_weights(n_tasks: int, *, rounds: int, rng: np.random.Generator) -> Floats:
    """How often each task is drawn in each of `rounds` bootstrap samples: rounds x tasks, rows sum to `n_tasks`."""
    drawn = rng.integers(n_tasks, size=(rounds, n_tasks)) + n_tasks * np.arange(rounds)[:, None]
    return np.bincount(drawn.ravel(), minlength=rounds * n_tasks).reshape(rounds, n_tasks).astype(float)


NOTHING_VARIES = "every task spends the same, so nothing varies"
HARDLY_VARIES = (
    "without one or two of these tasks hardly anything varies, so they cannot tell how far the ratio may be off"
)
_HARDLY = 0.1
"""A resample whose own error is under this share of the data's says nothing of the spread."""


def ratio_interval(above: Floats, below: Floats, weights: Floats, *, level: float) -> tuple[float, float] | str:
    """Symmetric bootstrap-t interval for mean(above) / mean(below) over tasks, on the log scale, or why there is none.

    Row 0 of `weights` is the data (all ones); `below` has one row per row of weights, or one for all. Each
    round is studentised by its own linearised error, which is what keeps the level where a few long tasks
    carry the mean. Where more resamples than the level leaves over hold hardly any spread, the interval would be
    theirs, however wide: then there is none.
    """
    n_tasks = weights.shape[1]
    below = np.broadcast_to(below, weights.shape)
    mean_above, mean_below = weights @ above / n_tasks, np.einsum("ij,ij->i", weights, below) / n_tasks
    logs = np.log(mean_above / mean_below)
    influence = below * (1 / mean_below)[:, None]
    np.subtract(above * (1 / mean_above)[:, None], influence, out=influence)
    np.square(influence, out=influence)
    errors = np.sqrt(np.einsum("ij,ij->i", weights, influence)) / n_tasks
    if not errors[0] > 1e-12:
        return NOTHING_VARIES
    usable = errors[1:] > _HARDLY * errors[0]
    if usable.mean() < level:
        return HARDLY_VARIES
    pivots = np.abs(logs[1:][usable] - logs[0]) / errors[1:][usable]
    reach = float(np.quantile(pivots, level)) * errors[0]
    return float(np.exp(logs[0] - reach)), float(np.exp(logs[0] + reach))
