"""Estimates with their intervals, one under the other; differences on either side of nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Forest
from guildhall.reports.plots.frame import FAINT, GROUND, INK, MARK, NAMES, Specification, framed, in_lines

BETTER, UNSURE, WORSE = MARK, "#7c8783", "#b4471c"
LINE_HEIGHT, TALL_LINE_HEIGHT = 25, 36
"""Pixels a row takes; the second where a name fills two lines."""


def forest(plot: Forest) -> Specification:
    """Points with their intervals and their numbers beside them.

    An estimate without an interval is a hollow point, never a line of no width.
    """
    if plot.form == "points":
        return _signed(plot)
    share, reference, entries = plot.form == "percent", plot.reference, plot.entries
    rows = [_row(name, estimate, share=share) for name, estimate in entries if estimate.value is not None]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": [row["name"] for row in rows],
        "title": None,
        "axis": NAMES,
    }
    axis = {"format": ".0%" if share else "~f", "title": None, "tickCount": 6}
    x = {"type": "quantitative", "axis": axis, "scale": {"domain": _ends(rows, reference, share=share), "nice": False}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": MARK},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "stroke": MARK},
            "encoding": {
                "y": y,
                "x": {**x, "field": "value"},
                "fill": {"condition": {"test": "isValid(datum.low)", "value": MARK}, "value": GROUND},
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 12, "fontSize": 11.5, "color": INK},
            "encoding": {"y": y, "x": {"value": "width"}, "text": {"field": "label"}},
        },
    ]
    if reference is not None:
        rule = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": FAINT}, "encoding": {"x": {"datum": reference}}}
        layers.insert(0, rule)
    each = TALL_LINE_HEIGHT if any("\n" in row["name"] for row in rows) else LINE_HEIGHT
    return framed({"data": {"values": rows}, "layer": layers}, title=plot.title, height=each * max(1, len(rows)) + 10)


def _row(name: str, estimate: Estimate, *, share: bool) -> dict[str, Any]:
    low, high = estimate.interval or (None, None)
    return {
        "name": in_lines(name),
        "value": estimate.value,
        "low": low,
        "high": high,
        "label": _label(estimate, share=share),
    }


def _label(estimate: Estimate, *, share: bool) -> str:
    """The numbers of a row, as the table beneath writes them."""
    factor, places = (100, 1) if share else (1, 2)
    value, unit = f"{factor * (estimate.value or 0.0):.{places}f}", " %" if share else ""
    if estimate.interval is None:
        return f"{value}{unit}"
    low, high = (f"{factor * end:.{places}f}" for end in estimate.interval)
    return f"{value}{unit} ({low} to {high})"


def _ends(rows: Sequence[dict[str, Any]], reference: float | None, *, share: bool) -> list[float]:
    """The axis, to the next whole step on either side; shares stay between 0 and 1."""
    points = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    points += [] if reference is None else [reference]
    low, high = min(points, default=0.0), max(points, default=1.0)
    step = 0.1 if share else 10.0 ** math.floor(math.log10(max(high - low, 1e-6)))
    ends = [step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)]
    return [max(0.0, ends[0]), min(1.0, ends[1])] if share else ends


def _signed(plot: Forest) -> Specification:
    """Differences in percentage points: better, worse, or too close to say; without an interval a hollow point."""
    rows = [_signed_row(name, estimate) for name, estimate in plot.entries if estimate.value is not None]
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
    return framed({"data": {"values": rows}, "layer": layers}, title=plot.title, height=38 * max(1, len(rows)) + 10)


def _signed_row(name: str, estimate: Estimate) -> dict[str, Any]:
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
