"""Models by release date, with the line through them and its band."""

from __future__ import annotations

from typing import Any

from guildhall.domain.trends import TrendFinding
from guildhall.reports.plots.frame import GROUND, INK, MARK, Specification, framed
from guildhall.reports.plots.labels import places_of

HEIGHT, ACROSS = 320, 690
"""Of the plot in pixels, about: names are placed by it."""


def trend_plot(trend: TrendFinding) -> Specification:
    """Points with intervals, the fitted line, and the 95 % band of the line (not of single models)."""
    points = [
        {
            "place": number,
            "model": one.model,
            "day": one.released.isoformat(),
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
    return framed({"data": {"values": points}, "layer": layers}, title="Win or tie by release date", height=HEIGHT)


def _names(trend: TrendFinding, top: float, encoding: dict[str, Any]) -> list[dict[str, Any]]:
    """A layer for each name, on a ground of its own where it crosses the line."""
    days = [one.released.toordinal() for one in trend.points]
    first, span = min(days), max(1, max(days) - min(days))
    at = [
        (ACROSS * (day - first) / span, HEIGHT * (1 - (one.rate.value or 0.0) / top), one.model)
        for day, one in zip(days, trend.points, strict=True)
    ]
    layers: list[dict[str, Any]] = []
    for number, place in enumerate(places_of(at, width=ACROSS)):
        text = {"type": "text", "fontSize": 11.5, "align": place.align, "dx": place.dx, "dy": place.dy}
        halo = {**text, "stroke": GROUND, "strokeWidth": 3.5, "strokeJoin": "round", "fill": GROUND}
        this: dict[str, Any] = {"transform": [{"filter": f"datum.place === {number}"}], "encoding": encoding}
        layers += [{"mark": halo, **this}, {"mark": {**text, "color": INK}, **this}]
    return layers
