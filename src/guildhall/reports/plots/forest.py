"""Points with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import FigureGroup
from guildhall.reports.plots.frame import FAINT, GROUND, MARK, Specification, framed


def forest(
    title: str, entries: Sequence[tuple[str, Estimate]], *, reference: float | None, share: bool = True
) -> Specification:
    """Points with their intervals; an estimate without an interval is a hollow point, never a line of no width."""
    rows = [
        {
            "name": name,
            "value": estimate.value,
            "low": estimate.interval[0] if estimate.interval else None,
            "high": estimate.interval[1] if estimate.interval else None,
            "sure": "with interval" if estimate.interval else "no interval",
        }
        for name, estimate in entries
        if estimate.value is not None
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    axis = {"format": "~%", "title": None, "tickCount": 8} if share else {"title": None}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": MARK},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"y": y, "x": {"field": "low", "type": "quantitative", "axis": axis}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "stroke": MARK},
            "encoding": {
                "y": y,
                "x": {
                    "field": "value",
                    "type": "quantitative",
                    "axis": axis,
                    "scale": {"zero": False, "nice": True, "padding": 12},
                },
                "fill": {
                    "field": "sure",
                    "type": "nominal",
                    "scale": {"domain": ["with interval", "no interval"], "range": [MARK, GROUND]},
                    "legend": None,
                },
            },
        },
    ]
    if reference is not None:
        rule = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": FAINT}, "encoding": {"x": {"datum": reference}}}
        layers.insert(0, rule)
    return framed({"data": {"values": rows}, "layer": layers}, title=title, height=24 * max(1, len(rows)) + 10)


def group_forest(group: FigureGroup) -> Specification:
    """A chapter of plain figures; its axis is in per cent when all of it lies between 0 and 1."""
    entries = [(figure.name, figure.estimate) for figure in group.figures]
    values = [bound for _, one in entries for bound in (one.interval or (one.value or 0.0,))]
    share = bool(values) and min(values) >= 0 and max(values) <= 1
    return forest(group.title, entries, reference=None, share=share)
