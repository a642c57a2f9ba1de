"""Curves of CAD files as polylines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

_STEPS = 48


def arc(
    frame: Points, across: float, along: float, start: Points, finish: Points, *, forward: bool, steps: int = _STEPS
) -> Points:
    """Points of a circle or ellipse from start to finish, about the third axis of a 4 x 4 frame; a full turn when
    both are the same point."""
    begin, end = (_angle(frame, across, along, point) for point in (start, finish))
    turn = (end - begin) % (2 * np.pi) if forward else -((begin - end) % (2 * np.pi))
    if np.allclose(start, finish) or turn == 0:
        turn = 2 * np.pi
    angles = begin + np.linspace(0, turn, steps + 1)
    flat = np.stack((across * np.cos(angles), along * np.sin(angles), np.zeros_like(angles)), axis=1)
    return np.asarray(flat @ frame[:3, :3].T + frame[:3, 3])


def _angle(frame: Points, across: float, along: float, point: Points) -> float:
    local = (point - frame[:3, 3]) @ frame[:3, :3]
    return float(np.arctan2(local[1] / (along or 1), local[0] / (across or 1)))


def spline(controls: Points, degree: int, knots: Points, weights: Points, *, steps: int = _STEPS) -> Points:
    """Points of a (rational) B-spline over its range, by de Boor; its control polygon when the knots do not fit."""
    count = len(controls)
    fits = (
        1 <= degree < count
        and len(knots) == count + degree + 1
        and len(weights) == count
        and np.all(np.diff(knots) >= 0)
    )
    if not fits:
        return controls
    lifted = np.hstack((controls * weights[:, None], weights[:, None]))
    places = np.linspace(knots[degree], knots[count], max(steps, 4 * count) + 1)
    points = np.array([_de_boor(lifted, degree, knots, place) for place in places])
    scale = np.where(np.abs(points[:, 3:]) < 1e-12, 1, points[:, 3:])
    return np.asarray(points[:, :3] / scale)


def _de_boor(controls: Points, degree: int, knots: Points, place: float) -> Points:
    span = int(np.clip(np.searchsorted(knots, place, side="right") - 1, degree, len(controls) - 1))
    work = [controls[span - degree + index] for index in range(degree + 1)]
    for level in range(1, degree + 1):
        for index in range(degree, level - 1, -1):
            low, high = knots[span - degree + index], knots[span + 1 + index - level]
            share = (place - low) / (high - low) if high > low else 0.0
            work[index] = (1 - share) * work[index - 1] + share * work[index]
    return np.asarray(work[degree])
