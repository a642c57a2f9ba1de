"""How numbers are written: a rate, an interval, its absence, in every format alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import NO_GRADE, letter_of
from guildhall.domain.report import CellValue, Form

UNKNOWN = "–"
"""Stands where a number is not known; the words beneath a table say why."""


class CellWords(NamedTuple):
    """A cell in words: its value, and its interval or the reason why there is none."""

    value: str
    interval: str = ""

    @property
    def line(self) -> str:
        return f"{self.value} ({self.interval})" if self.interval else self.value


ABOUT = "about "
LARGE, HUGE = 3, 12
"""Powers of ten: from the first on two digits say all there is to say, from the second on nobody counts the noughts."""


class _Style(NamedTuple):
    factor: float
    places: int
    sign: str
    unit: str


_STYLES: dict[Form, _Style] = {
    "percent": _Style(100, 1, "", " %"),
    "points": _Style(100, 1, "+", ""),
    "times": _Style(1, 2, "", " ×"),
    "number": _Style(1, 2, "", ""),
    "dollars": _Style(1, 4, "", ""),
}


def at_level(level: float) -> str:
    """A level of confidence as words have it: `95 %`."""
    return f"{100 * level:g} %"


def shown(cell: CellValue, form: Form) -> CellWords:
    """A cell as people read it, by the form of its column."""
    if isinstance(cell, Estimate):
        return _estimate(cell, form)
    if cell is None:
        return CellWords(NO_GRADE if form == "grade" else UNKNOWN)
    if isinstance(cell, float) and form == "grade":
        return CellWords(f"{letter_of(cell)} ({cell:.2f})")
    if isinstance(cell, float) and form in _STYLES:
        style = _STYLES[form]
        return CellWords(f"{fixed(cell, style)}{style.unit}")
    return CellWords(f"{cell:,}" if isinstance(cell, int) else str(cell))


def _estimate(one: Estimate, form: Form) -> CellWords:
    style = _STYLES.get(form, _STYLES["number"])
    if one.value is None:
        return CellWords(UNKNOWN, "" if form == "times" else f"no interval: {one.why_no_interval}")
    value = f"{fixed(one.value, style)}{style.unit}"
    if one.interval is None:
        return CellWords(value, "" if form == "times" else f"no interval: {one.why_no_interval}")
    low, high = (fixed(end, style).removeprefix(ABOUT) for end in one.interval)
    return CellWords(value, f"{low} to {high}{style.unit if form == 'percent' else ''}")


def fixed(value: float, style: _Style) -> str:
    """So many places; what rounds to nothing has no sign before it, and no large number more than two digits."""
    scaled = style.factor * value
    size = math.floor(math.log10(abs(scaled))) if scaled else 0
    if size >= LARGE:
        return f"{ABOUT}{round(scaled, 1 - size):{style.sign},.0f}" if size < HUGE else f"{ABOUT}{scaled:.0e}"
    places = max(0, style.places - max(0, size)) if style.unit == " ×" else style.places
    rounded = round(scaled, places)
    return f"{rounded + 0.0:{style.sign}.{places}f}" if rounded else f"{0:.{places}f}"


def percent(value: float | None) -> str:
    return UNKNOWN if value is None else shown(float(value), "percent").value


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: `a, b and c`."""
    return " and ".join([one for one in (", ".join(names[:-1]), *names[-1:]) if one])


def rate_name(name: str) -> str:
    """`win_or_tie` as people say it."""
    return name.replace("_", " ")


def basis(estimate: Estimate) -> str:
    """What an estimate rests on, for the small print."""
    sample = {"model": "model", "file": "file"}.get(estimate.unit, "sample")
    counts = [
        f"{count} {name if count == 1 else name + 's'}"
        for count, name in (
            (estimate.n_tasks, "task"),
            (estimate.n_samples, sample),
            (estimate.n_judgments, "judgment"),
        )
        if count is not None
    ]
    method = [] if estimate.method == "none" else [estimate.method]
    return "; ".join([", ".join(counts), *method]) if counts else estimate.method
