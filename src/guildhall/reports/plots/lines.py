"""Lines: what tries save, what was claimed against what came true, and rates over release dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from guildhall.domain.report import Curve, CurvePanel, Lines, Timeline
from guildhall.reports.plots.frame import CONFIG, FAINT, GROUND, HUES, INK, MARK, SCHEMA, Specification, framed

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
HEIGHT, ACROSS = 320, 690
"""Of a timeline in pixels, about: names are placed by it."""


def lines(plot: Lines) -> Specification:
    """A panel beside the other, one curve for each name; where both axes are shares, with the diagonal."""
    names = list(dict.fromkeys(curve.name for panel in plot.panels for curve in panel.curves))[:MOST_CURVES]
    if plot.diagonal:
        shape: dict[str, Any] = {"spacing": 50}
        panels = [_square(panel, names) for panel in plot.panels]
    else:
        shape = {"spacing": 70, "bounds": "flush"}
        panels = [_panel(panel) for panel in plot.panels]
    shared = {"resolve": {"scale": {"color": "shared"}}}
    return {"$schema": SCHEMA, "config": CONFIG, "title": plot.title, **shape, **shared, "hconcat": panels}


def _rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    return [
        {
            "model": curve.name,
            "x": point.x,
            "y": point.y.value,
            "low": point.y.interval[0] if point.y.interval else None,
            "high": point.y.interval[1] if point.y.interval else None,
        }
        for curve in curves
        for point in curve.points
        if point.y.value is not None
    ]


def _panel(panel: CurvePanel) -> dict[str, Any]:
    curves = panel.curves[:MOST_CURVES]
    models = [curve.name for curve in curves]
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": models, "range": list(HUES[: len(models)])},
        "legend": {
            "title": None,
            "orient": "bottom",
            "columns": 3,
            "symbolType": "circle",
            "symbolOpacity": 1,
            "labelLimit": 220,
        },
    }
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"nice": False, "padding": 10},
        "axis": {"title": panel.x, "tickMinStep": 1, "format": "d", "grid": False},
    }
    y = {"type": "quantitative", "scale": {"zero": False}, "axis": {"title": panel.y, "format": ".2~f"}}
    level = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": FAINT},
        "encoding": {"y": {"datum": panel.reference}},
    }
    band = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "area", "opacity": 0.12},
        "encoding": {
            "x": x,
            "y": {**y, "field": "low"},
            "y2": {"field": "high"},
            "color": colour,
        },
    }
    curve = {
        "mark": {"type": "line", "strokeWidth": 2.2, "point": {"size": 34, "filled": True}},
        "encoding": {"x": x, "y": {**y, "field": "y"}, "color": colour},
    }
    return {
        "title": {"text": panel.title, "fontSize": 12, "color": INK, "frame": "group", "offset": 6},
        "width": PANEL_WIDTH,
        "height": PANEL_HEIGHT,
        "data": {"values": _rows(curves)},
        "layer": [
            *([level] if panel.reference is not None else []),
            *([band] if len(models) <= MOST_BANDS else []),
            curve,
        ],
    }


def _square(panel: CurvePanel, models: list[str]) -> dict[str, Any]:
    rows = _rows([curve for curve in panel.curves if curve.name in models])
    ends = len(models) <= MOST_WITH_ENDS
    scale = {"domain": [0, 1]}
    axis = {"format": ".0%", "tickCount": 5}
    x = {"field": "x", "type": "quantitative", "scale": scale, "axis": {**axis, "title": panel.x}}
    y = {"type": "quantitative", "scale": scale, "axis": {**axis, "title": panel.y}}
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": models, "range": list(HUES[: len(models)])},
        "legend": {"title": None, "orient": "bottom", "columns": 4, "symbolType": "circle", "labelLimit": 220},
    }
    corners = [{"at": 0}, {"at": 1}]
    place = {"field": "at", "type": "quantitative"}
    rules = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 1.6},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
    }
    return {
        "width": SQUARE,
        "height": SQUARE,
        "data": {"values": rows},
        "layer": [
            {
                "data": {"values": corners},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": FAINT, "strokeWidth": 1},
                "encoding": {"x": {**x, **place}, "y": {**y, **place}},
            },
            {
                "mark": {"type": "line", "strokeWidth": 1.4},
                "encoding": {"x": x, "y": {**y, "field": "y"}, "color": colour},
            },
            *([rules] if ends else []),
            {
                "mark": {"type": "point", "size": 55, "opacity": 1, "strokeWidth": 2, "filled": False},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "y"},
                    "color": colour,
                    "fill": {"condition": {"test": "!isValid(datum.low)", "value": GROUND}, **colour, "legend": None},
                },
            },
        ],
    }


def timeline(trend: Timeline) -> Specification:
    """Points with intervals, the fitted line, and the band of the line (not of single models)."""
    points = [
        {
            "place": number,
            "model": one.name,
            "day": one.day.isoformat(),
            "rate": one.rate.value,
            "low": one.rate.interval[0] if one.rate.interval else None,
            "high": one.rate.interval[1] if one.rate.interval else None,
        }
        for number, one in enumerate(trend.points)
    ]
    line = [
        {
            "day": day.isoformat(),
            "rate": min(1.0, max(0.0, at.value or 0.0)),
            "low": max(0.0, at.interval[0]) if at.interval else None,
            "high": min(1.0, at.interval[1]) if at.interval else None,
        }
        for day, at in trend.line
    ]
    estimates = [*(one.rate for one in trend.points), *(at for _, at in trend.line)]
    top = max([0.6, *(end for one in estimates for end in (one.value, *(one.interval or ())) if end is not None)])
    x = {"field": "day", "type": "temporal", "axis": {"title": "released", "format": "%b %Y", "grid": False}}
    y = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"domain": [0, min(1.0, top * 1.05)]},
        "axis": {"format": "%", "title": "win or tie"},
    }
    dot = {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": MARK}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": line},
            "mark": {"type": "area", "opacity": 0.15, "color": MARK},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"data": {"values": line}, "mark": {"type": "line", "color": MARK}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "rule", "color": MARK, "strokeWidth": 1.5, "opacity": 0.5},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        *_names(trend, min(1.0, top * 1.05), {"x": x, "y": y, "text": {"field": "model"}}),
        {"mark": dot, "encoding": {"x": x, "y": y}},
    ]
    return framed({"data": {"values": points}, "layer": layers}, title=trend.title, height=HEIGHT)


def _names(trend: Timeline, top: float, encoding: dict[str, Any]) -> list[dict[str, Any]]:
    """A layer for each name, on a ground of its own where it crosses the line."""
    days = [one.day.toordinal() for one in trend.points]
    first, span = min(days), max(1, max(days) - min(days))
    at = [
        (ACROSS * (day - first) / span, HEIGHT * (1 - (one.rate.value or 0.0) / top), one.name)
        for day, one in zip(days, trend.points, strict=True)
    ]
    layers: list[dict[str, Any]] = []
    for number, place in enumerate(places_of(at, width=ACROSS)):
        text = {"type": "text", "fontSize": 11.5, "align": place.align, "dx": place.dx, "dy": place.dy}
        halo = {**text, "stroke": GROUND, "strokeWidth": 3.5, "strokeJoin": "round", "fill": GROUND}
        this: dict[str, Any] = {"transform": [{"filter": f"datum.place === {number}"}], "encoding": encoding}
        layers += [{"mark": halo, **this}, {"mark": {**text, "color": INK}, **this}]
    return layers
