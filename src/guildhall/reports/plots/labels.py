"""Names beside points, put where they cover neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LETTER, LINE = 6.6, 15.0
"""Pixels a letter takes, and a line of letters."""


class Place(NamedTuple):
    """Where a name stands, seen from its point in pixels."""

    align: str
    dx: float
    dy: float


PLACES = (
    Place("left", 8, -10),
    Place("left", 8, 12),
    Place("right", -8, -10),
    Place("right", -8, 12),
    Place("left", 8, -26),
    Place("left", 8, 28),
    Place("right", -8, -26),
    Place("right", -8, 28),
)
"""Tried in this order: beside the point, then a line further off."""
_Box = tuple[float, float, float, float]


def places_of(points: Sequence[tuple[float, float, str]], *, width: float) -> list[Place]:
    """A place for the name of each point (x and y in pixels, y downwards), the freest first; none sticks out."""
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    chosen = []
    for x, y, name in points:
        boxes = [(place, _box(x, y, name, place)) for place in PLACES]
        best, box = min(boxes, key=lambda pair: _covered(pair[1], taken, width))
        taken.append(box)
        chosen.append(best)
    return chosen


def _box(x: float, y: float, name: str, place: Place) -> _Box:
    long = LETTER * len(name)
    left = x + place.dx - (long if place.align == "right" else 0.0)
    return left, y + place.dy - LINE / 2, left + long, y + place.dy + LINE / 2


def _covered(box: _Box, taken: Sequence[_Box], width: float) -> float:
    """Square pixels that a name would cover; what sticks out at the side counts as well."""
    left, top, right, bottom = box
    shared = sum(
        max(0.0, min(right, other[2]) - max(left, other[0])) * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return shared + LINE * (max(0.0, -left) + max(0.0, right - width))
