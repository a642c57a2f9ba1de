"""Differences with their intervals, on either side of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guildhall.domain.differences import StudyDifference
from guildhall.domain.estimates import Estimate
from guildhall.reports.plots.frame import FAINT, GROUND, INK, MARK, NAMES, Specification, framed

BETTER, UNSURE, WORSE = MARK, "#7c8783", "#b4471c"


def difference_forest(found: StudyDifference) -> Specification:
    """Win-or-tie differences of two reports, one line a model."""
    entries = [
        (one.model if one.model == one.against else f"{one.model} against {one.against}", one.difference["win_or_tie"])
        for one in found.models
    ]
    return signed_forest(f"Win or tie: {found.second.study} minus {found.first.study}, paired by task", entries)


def signed_forest(title: str, entries: Sequence[tuple[str, Estimate]]) -> Specification:
    """Differences in percentage points: better, worse, or too close to say; without an interval a hollow point."""
    rows = [_row(name, estimate) for name, estimate in entries if estimate.value is not None]
    reach = max([5.0, *(abs(row[end]) for row in rows for end in ("low", "high", "value") if row[end] is not None)])
    scale = {"domain": [-reach * 1.05, reach * 1.05], "nice": True}
    axis = {"title": "percentage points", "format": "+d", "tickCount": 9}
    sort = [row["name"] for row in rows]
    y = {"field": "name", "type": "nominal", "sort": sort, "title": None, "axis": NAMES}
    colour = {
        "field": "says",
        "type": "nominal",
        "scale": {"domain": ["better", "too close to say", "worse"], "range": [BETTER, UNSURE, WORSE]},
        "legend": {"title": None},
    }
    x = {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": FAINT}, "encoding": {"x": {"datum": 0, "scale": scale, "axis": axis}}},
        {
            "mark": {"type": "rule", "strokeWidth": 2.5},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "point", "size": 80, "opacity": 1, "strokeWidth": 2},
            "encoding": {
                "y": y,
                "x": x,
                "color": colour,
                "fill": {"condition": {"test": "!isValid(datum.low)", "value": GROUND}, **colour, "legend": None},
            },
        },
        {
            "mark": {"type": "text", "dy": -11, "fontSize": 11, "color": INK},
            "encoding": {"y": y, "x": x, "text": {"field": "label"}},
        },
    ]
    return framed({"data": {"values": rows}, "layer": layers}, title=title, height=38 * max(1, len(rows)) + 10)


def _row(name: str, estimate: Estimate) -> dict[str, Any]:
    low, high = estimate.interval or (None, None)
    says = "better" if low is not None and low > 0 else "worse" if high is not None and high < 0 else "too close to say"
    return {
        "name": name,
        "value": 100 * (estimate.value or 0.0),
        "low": None if low is None else 100 * low,
        "high": None if high is None else 100 * high,
        "says": says,
        "label": f"{100 * (estimate.value or 0.0):+.1f}",
    }
