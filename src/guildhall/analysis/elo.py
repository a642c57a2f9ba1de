"""Elo ratings, for those who ask: they depend on the order of the votes and have no interval worth the name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from guildhall.analysis.tables import Codes, Floats

SCORES = np.array([1.0, 0.5, 0.0])
"""What the left side gets when left wins, on a tie, when right wins."""


def elo_ratings(
    left: Codes,
    right: Codes,
    outcome: Codes,
    n_models: int,
    *,
    start: float = 1000.0,
    k: float = 4.0,
    scale: float = 400.0,
    compiled: bool = False,
) -> Floats:
    """Ratings after all votes in their order; `outcome` is 0 left, 1 tie, 2 right.

    `compiled` runs the same loop through Numba (extra `fast`): worth its second of compiling above a million votes.
    """
    ratings = np.full(n_models, start)
    update = _compiled_update() if compiled else _update
    update(ratings, left, right, SCORES[outcome], k, np.log(10.0) / scale)
    return ratings


def _update(ratings: Any, left: Any, right: Any, scores: Any, k: float, slope: float) -> None:
    for i in range(len(left)):
        a, b = left[i], right[i]
        expected = 1.0 / (1.0 + np.exp(slope * (ratings[b] - ratings[a])))
        change = k * (scores[i] - expected)
        ratings[a] += change
        ratings[b] -= change


@cache
def _compiled_update() -> Callable[..., None]:
    from guildhall.errors import MissingTool

    try:
        import numba
    except ImportError as error:
        raise MissingTool("numba", needed_for="the compiled Elo loop", fix="install guildhall[fast]") from error
    compiled: Callable[..., None] = numba.njit(_update)
    return compiled
