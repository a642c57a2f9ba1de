"""Lines: what tries save, what was claimed against what came true, and rates over release dates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from guildhall.domain.report import Curve, CurvePanel, CurvePoint, Lines, Timeline
from guildhall.reports.plots.frame import (
    EDGE,
    FAINT,
    HUES,
    MARK,
    WIDTH,
    Canvas,
    Ruler,
    hues_of,
    per_cent,
    plain,
    round_step,
)

LETTER, LINE = 6.6, 15.0
"""Pixels a letter takes, and a line of letters."""


class LabelPlace(NamedTuple):
    """Where a name stands, seen from its point in pixels."""

    align: str
    dx: float
    dy: float


PLACES = (
    LabelPlace("left", 8, -10),
    LabelPlace("left", 8, 12),
    LabelPlace("right", -8, -10),
    LabelPlace("right", -8, 12),
    LabelPlace("left", 8, -26),
    LabelPlace("left", 8, 28),
    LabelPlace("right", -8, -26),
    LabelPlace("right", -8, 28),
)
"""Tried in this order: beside the point, then a line further off."""
_Box = tuple[float, float, float, float]


def places_of(points: Sequence[tuple[float, float, str]], *, width: float) -> list[LabelPlace]:
    """A place for the name of each point (x and y in pixels, y downwards), the freest first; none sticks out."""
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    chosen = []
    for x, y, name in points:
        boxes = [(place, _box(x, y, name, place)) for place in PLACES]
        best, box = min(boxes, key=lambda pair: _covered(pair[1], taken, width))
        taken.append(box)
        chosen.append(best)
    return chosen


def _box(x: float, y: float, name: str, place: LabelPlace) -> _Box:
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


MOST_CURVES = len(HUES)
"""More curves than this one cannot tell apart; tables and files hold all."""
MOST_BANDS, MOST_WITH_ENDS = 4, 3
"""More bands, or ends of intervals, than this lie over each other and say nothing; tables and files hold them all."""
PANEL_WIDTH, PANEL_HEIGHT, SQUARE = 305, 250, 278
BESIDE = 62.0
"""For the numbers and the title of an axis on the left."""
HEIGHT = 320
"""Of a timeline in pixels."""


def lines(plot: Lines, models: Sequence[str] = ()) -> str:
    """A panel beside the other, one curve for each name; where both axes are shares, with the diagonal."""
    names = list(dict.fromkeys(curve.name for panel in plot.panels for curve in panel.curves))[:MOST_CURVES]
    hues, canvas = hues_of(names, models), Canvas()
    wide, tall = (SQUARE, SQUARE) if plot.diagonal else (PANEL_WIDTH, PANEL_HEIGHT)
    top = 24.0 if any(panel.title for panel in plot.panels) else 8.0
    for number, panel in enumerate(plot.panels):
        left = EDGE + BESIDE + number * (wide + BESIDE + 10)
        canvas.text(left, 6, panel.title, bold=True)
        drawn = _square if plot.diagonal else _panel
        drawn(canvas, panel, hues, (left, top, left + wide, top + tall))
    bottom = canvas.legend(EDGE + BESIDE, top + tall + 56, list(hues.items()), columns=4 if plot.diagonal else 3)
    width = max(EDGE + len(plot.panels) * (wide + BESIDE + 10), WIDTH / 2)
    return canvas.svg(plot.title, plot.subtitle, width=width + 10, height=bottom)


_Corners = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def _known(curve: Curve) -> list[tuple[CurvePoint, float]]:
    return [(point, point.y.value) for point in curve.points if point.y.value is not None]


def _panel(canvas: Canvas, panel: CurvePanel, hues: dict[str, str], at: _Corners) -> None:
    curves = [(curve, _known(curve)) for curve in panel.curves if curve.name in hues]
    banded = len(curves) <= MOST_BANDS
    across = [point.x for _, points in curves for point, _ in points] or [0.0]
    ends = [end for _, points in curves for point, y in points for end in (y, *((banded and point.y.interval) or ()))]
    ends += [] if panel.reference is None else [panel.reference]
    ends = ends or [0.0, 1.0]
    left, top, right, bottom = at
    x = Ruler(min(across), max(across), left + 10, right - 10)
    step = round_step(max(ends) - min(ends), 8)
    y = Ruler(step * math.floor(min(ends) / step + 1e-9), step * math.ceil(max(ends) / step - 1e-9), bottom, top)
    canvas.beside(y, left, y.ticks(8), plain, title=panel.y, right=right)
    whole = round_step(x.high - x.low, 10)
    canvas.along(
        x,
        bottom,
        Ruler(x.low, x.high, 0, 1).ticks(10) if whole >= 1 else range(int(x.low), int(x.high) + 1),
        plain,
        title=panel.x,
    )
    if panel.reference is not None:
        canvas.line([(left, y(panel.reference)), (right, y(panel.reference))], stroke=FAINT, dashed=True)
    for curve, points in curves:
        hue = hues[curve.name]
        if banded:
            edges = [(x(point.x), point.y.interval) for point, _ in points if point.y.interval is not None]
            around = [(at_x, y(high)) for at_x, (_, high) in edges] + [(at_x, y(low)) for at_x, (low, _) in edges[::-1]]
            canvas.area(around, fill=hue, opacity=0.12)
        canvas.line([(x(point.x), y(value)) for point, value in points], stroke=hue, width=2.2)
        for point, value in points:
            canvas.dot(x(point.x), y(value), hue=hue, radius=3.3)


def _square(canvas: Canvas, panel: CurvePanel, hues: dict[str, str], at: _Corners) -> None:
    left, top, right, bottom = at
    x, y = Ruler(0, 1, left, right), Ruler(0, 1, bottom, top)
    canvas.beside(y, left, y.ticks(5), per_cent, title=panel.y, right=right)
    canvas.along(x, bottom, x.ticks(5), per_cent, title=panel.x, top=top)
    canvas.line([(left, bottom), (right, top)], stroke=FAINT, dashed=True)
    for curve in panel.curves:
        if curve.name not in hues:
            continue
        hue, points = hues[curve.name], _known(curve)
        canvas.line([(x(point.x), y(value)) for point, value in points], stroke=hue, width=1.4)
        for point, value in points:
            if len(hues) <= MOST_WITH_ENDS and point.y.interval is not None:
                canvas.line([(x(point.x), y(end)) for end in point.y.interval], stroke=hue, width=1.6)
            canvas.dot(x(point.x), y(value), hue=hue, radius=4.5, hollow=point.y.interval is None)


def timeline(trend: Timeline) -> str:
    """Points with intervals, the fitted line, and the band of the line (not of single models)."""
    canvas, left, right, bottom = Canvas(), EDGE + BESIDE, WIDTH - EDGE - 30.0, 8.0 + HEIGHT
    estimates = [*(one.rate for one in trend.points), *(at for _, at in trend.line)]
    top = max([0.6, *(end for one in estimates for end in (one.value, *(one.interval or ())) if end is not None)])
    y = Ruler(0.0, min(1.0, top * 1.05), bottom, 8.0)
    days = [one.day for one in trend.points] + [day for day, _ in trend.line]
    first, last = min(days).toordinal(), max(days).toordinal()
    x = Ruler(first, max(last, first + 1), left, right)
    canvas.beside(y, left, y.ticks(8), per_cent, title="win or tie", right=right)
    canvas.along(x, bottom, _months(min(days), max(days)), _month, title="released")
    line = [(x(day.toordinal()), at) for day, at in trend.line]
    edges = [(at_x, *(min(1.0, max(0.0, end)) for end in at.interval)) for at_x, at in line if at.interval]
    around = [(at_x, y(high)) for at_x, _, high in edges] + [(at_x, y(low)) for at_x, low, _ in edges[::-1]]
    canvas.area(around, fill=MARK, opacity=0.15)
    canvas.line([(at_x, y(min(1.0, max(0.0, at.value or 0.0)))) for at_x, at in line], stroke=MARK, width=2)
    points = [(x(one.day.toordinal()), y(one.rate.value or 0.0), one) for one in trend.points]
    for at_x, _, one in points:
        if one.rate.interval is not None:
            canvas.line([(at_x, y(end)) for end in one.rate.interval], stroke=MARK, width=1.5, opacity=0.5)
    names = [(at_x - left, at_y, one.name) for at_x, at_y, one in points]
    for (at_x, at_y, one), place in zip(points, places_of(names, width=right - left), strict=True):
        anchor = "end" if place.align == "right" else "start"
        canvas.text(at_x + place.dx, at_y + place.dy, one.name, size=11.5, anchor=anchor, halo=True)
    for at_x, at_y, _ in points:
        canvas.dot(at_x, at_y, hue=MARK)
    return canvas.svg(trend.title, trend.subtitle, width=WIDTH, height=bottom + 40)


MOST_MONTHS = 8


def _months(first: date, last: date) -> list[float]:
    """First days of months, as many as have room."""
    numbers = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    every = next(step for step in (1, 2, 3, 6, 12, 24, 60, 1200) if len(numbers) / step <= MOST_MONTHS)
    starts = [date(number // 12, number % 12 + 1, 1) for number in numbers if number % every == 0]
    return [one.toordinal() for one in starts if one >= first]


def _month(day: float) -> str:
    return f"{date.fromordinal(int(day)):%b %Y}"
