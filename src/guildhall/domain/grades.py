"""Grades and their numbers: the university scale, composites between neighbours, and percentages.

Two percentage ladders live here. The published one is kept because stored results rest on it; it is not
monotonic (3.74 gives 92 %, 3.75 gives 90 %). The corrected one runs through the same anchors in straight lines.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from guildhall.errors import UnknownName

NUMERIC: dict[str, float] = {
    "A+": 4.25, "A": 4.0, "A-": 3.75,
    "B+": 3.25, "B": 3.0, "B-": 2.75,
    "C+": 2.25, "C": 2.0, "C-": 1.75,
    "D+": 1.25, "D": 1.0, "D-": 0.75,
    "F": 0.0,
}  # fmt: skip
"""The university scale, best first."""

LETTERS: tuple[str, ...] = tuple(NUMERIC)
COMPOSITES: tuple[str, ...] = tuple(f"{upper}/{lower}" for upper, lower in pairwise(LETTERS))
NO_GRADE = "N/A"
TOP = NUMERIC["A+"]
COMPOSITE_TOLERANCE = 0.01

_FLOOR_PERCENT: dict[str, int] = {
    "A+": 97, "A": 93, "A-": 90, "B+": 87, "B": 83, "B-": 80, "C+": 77, "C": 73, "C-": 70, "D+": 67, "D": 63, "D-": 60,
}  # fmt: skip
"""The percentage at which each letter begins; below 60 is F."""

_RISING = sorted((value, letter) for letter, value in NUMERIC.items())
_ANCHORS = [(value, float((_FLOOR_PERCENT | {"A+": 100, "F": 0})[letter])) for value, letter in _RISING]


class Ladder(StrEnum):
    """Which way of turning numbers into percentages."""

    CORRECTED = "corrected"
    PUBLISHED = "published"


def numeric(grade: str) -> float:
    """The number of a letter, or of a composite of two neighbours (their mean). Exact, never rounded."""
    if grade in NUMERIC:
        return NUMERIC[grade]
    if grade in COMPOSITES:
        upper, lower = grade.split("/")
        return (NUMERIC[upper] + NUMERIC[lower]) / 2
    raise UnknownName("grade", grade, known=[*LETTERS, "neighbours such as A-/B+"])


def compose(first: str, second: str) -> str | None:
    """The composite of two neighbouring letters, better one first; the letter if equal; None if not neighbours."""
    if first == second:
        return first if first in NUMERIC else None
    ordered = sorted((first, second), key=lambda letter: -NUMERIC.get(letter, -1.0))
    joined = "/".join(ordered)
    return joined if joined in COMPOSITES else None


def letter_of(value: float) -> str:
    """The letter nearest to a number, or the composite when it lies within 0.01 of the midpoint of two neighbours."""
    if value >= TOP:
        return "A+"
    if value <= 0:
        return "F"
    at = bisect_right(_RISING, (value, "~"))
    (low, lower), (high, upper) = _RISING[at - 1], _RISING[at]
    if value == low:
        return lower
    if abs(value - (low + high) / 2) <= COMPOSITE_TOLERANCE:
        return f"{upper}/{lower}"
    return upper if high - value < value - low else lower


def percentage(value: float, *, ladder: Ladder = Ladder.CORRECTED) -> float:
    """A number on the 0-4.25 scale as a percentage."""
    return float(_published_percentage(value)) if ladder is Ladder.PUBLISHED else _corrected_percentage(value)


def _corrected_percentage(value: float) -> float:
    """Straight lines through the anchors (0, 0), (0.75, 60), (1.0, 63) ... (4.0, 93), (4.25, 100)."""
    bounded = min(max(value, 0.0), TOP)
    for (low, low_percent), (high, high_percent) in pairwise(_ANCHORS):
        if bounded <= high:
            return low_percent + (bounded - low) / (high - low) * (high_percent - low_percent)
    return 100.0


def _published_percentage(value: float) -> int:
    if value >= TOP:
        return 100
    if value < NUMERIC["D-"]:
        return max(0, int(value * 59 / 0.75))
    anchor, letter = _RISING[bisect_right(_RISING, (value, "~")) - 1]
    step = 4 if len(letter) == 1 else 3
    return _FLOOR_PERCENT[letter] + int((value - anchor) / 0.25 * step)


def letter_of_percentage(percent: float) -> str:
    """The letter whose band holds a percentage (97 and up A+, 93 A, ... 60 D-, else F)."""
    for letter, floor in _FLOOR_PERCENT.items():
        if percent >= floor:
            return letter
    return "F"


def median(values: Sequence[float]) -> float | None:
    """The middle value, or the mean of the two middle ones; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
