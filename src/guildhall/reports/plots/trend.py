"""Models by release date, with the line through them and its band."""

from __future__ import annotations

from typing import Any

from guildhall.domain.trends import TrendFinding
from guildhall.reports.plots.frame import GROUND, INK, MARK, Specification, framed


def trend_plot(trend: TrendFinding) -> Specification:
    """Points with intervals, the fitted line, and the 95 % band of the line (not of single models)."""
    points = [
        {
            "model": one.model,
            "day": one.released.isoformat(),
            "rate": one.rate.value,
            "low": one.rate.interval[0] if one.rate.interval else None,
            "high": one.rate.interval[1] if one.rate.interval else None,
        }
        for one in trend.points
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
    label = {"type": "text", "align": "left", "dx": 8, "dy": -10, "fontSize": 11.5}
    halo = {**label, "stroke": GROUND, "strokeWidth": 3.5, "strokeJoin": "round", "fill": GROUND}
    named = {"x": x, "y": y, "text": {"field": "model"}}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": line},
            "mark": {"type": "area", "opacity": 0.15, "color": MARK},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"data": {"values": line}, "mark": {"type": "line", "color": MARK}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "rule", "color": MARK, "strokeWidth": 1.5, "opacity": 0.7},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": dot, "encoding": {"x": x, "y": y}},
        # The ground behind the letters, where they cross the line.
        {"mark": halo, "encoding": named},
        {"mark": {**label, "color": INK}, "encoding": named},
    ]
    return framed({"data": {"values": points}, "layer": layers}, title="Win or tie by release date", height=320)
