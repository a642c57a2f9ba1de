"""Bars, cells and forests: shares of a whole, values as colours, estimates with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import BarPanel, BarPanels, Bars, Forest, HeatMap
from guildhall.reports.plots.frame import (
    CONFIG,
    FAINT,
    GROUND,
    HUES,
    INK,
    MARK,
    NAMES,
    ON_LIGHT,
    SCHEMA,
    WIDTH,
    Specification,
    framed,
    in_lines,
)

PARTS = ("#0d746c", "#c9b458", "#b9c1bd")
"""Of a whole: won, tied, lost. The first is so dark that white letters read better."""
NARROWEST_LABELLED = 0.055
"""A part narrower than this share has no room for its number."""
MOST_WHOSE = 4
"""So many bars for a label can be told apart."""
LETTER = 7.2
"""Pixels a letter beside the bars takes, about."""
SPACING = 30


def bars(plot: Bars) -> Specification:
    """Each row a bar in parts, each part from where the last one ends."""
    rows = [segment for name, counts in plot.rows for segment in _segments(name, plot.parts, counts)]
    colours = PARTS[: len(plot.parts)]
    place = {"field": "from", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "share of judgments"}
    y = {
        "field": "model",
        "type": "nominal",
        "sort": [in_lines(name) for name, _ in plot.rows],
        "title": None,
        "axis": NAMES,
    }
    colour = {
        "field": "outcome",
        "type": "nominal",
        "scale": {"domain": list(plot.parts), "range": list(colours)},
        "title": None,
    }
    bars = {
        "mark": {"type": "bar", "height": 20},
        "encoding": {
            "x": {**place, "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}},
            "x2": {"field": "to"},
            "color": colour,
        },
    }
    labels = {
        "mark": {"type": "text", "fontSize": 11.5, "fontWeight": "bold"},
        "transform": [{"filter": f"datum.to - datum.from >= {NARROWEST_LABELLED}"}],
        "encoding": {
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": "label"},
            "color": {
                "condition": {"test": f"datum.outcome === '{plot.parts[0]}'", "value": "white"},
                "value": ON_LIGHT,
            },
        },
    }
    return framed(
        {"data": {"values": rows}, "encoding": {"y": y}, "layer": [bars, labels]},
        title=plot.title,
        height=30 * max(1, len(plot.rows)) + 10,
    )


def _segments(name: str, parts: tuple[str, ...], counts: tuple[int, ...]) -> list[dict[str, Any]]:
    total, begun, made = max(1, sum(counts)), 0, []
    for part, count in zip(parts, counts, strict=True):
        ends = (begun / total, (begun + count) / total)
        made.append(
            {
                "model": in_lines(name),
                "outcome": part,
                "from": ends[0],
                "to": ends[1],
                "middle": sum(ends) / 2,
                "label": f"{100 * count / total:.0f} %",
            }
        )
        begun += count
    return made


def bar_panels(plot: BarPanels) -> Specification:
    """A bar for each label and whose it is; the commonest label stands on top in all panels."""
    whose = list(dict.fromkeys(who for panel in plot.panels for _, who, _ in panel.bars))[:MOST_WHOSE]
    order = _order(plot)
    width = round((WIDTH - LETTER * max(map(len, order)) - SPACING * len(plot.panels)) / max(1, len(plot.panels)))
    panels = [
        _panel(panel, order, whose, labelled=number == 0, width=width) for number, panel in enumerate(plot.panels)
    ]
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "title": plot.title,
        "hconcat": panels,
        "spacing": SPACING,
        "bounds": "flush",
        "resolve": {"scale": {"color": "shared"}},
    }


def _order(plot: BarPanels) -> list[str]:
    """Labels by how often they are given in all panels together, so that the panels can be read across."""
    total: dict[str, float] = {}
    for panel in plot.panels:
        for label, _, share in panel.bars:
            total[label] = total.get(label, 0.0) + (share.value or 0.0)
    return sorted(total, key=lambda label: (-total[label], label))


def _panel(panel: BarPanel, order: list[str], whose: list[str], *, labelled: bool, width: int) -> dict[str, Any]:
    rows = [
        {
            "model": who,
            "label": label,
            "share": share.value,
            "low": share.interval[0] if share.interval else None,
            "high": share.interval[1] if share.interval else None,
        }
        for label, who, share in panel.bars
        if who in whose
    ]
    y = {
        "field": "label",
        "type": "nominal",
        "scale": {"domain": order},
        "title": None,
        "axis": {"labels": labelled, "ticks": False, "domain": False},
    }
    offset = {"field": "model", "type": "nominal", "sort": whose}
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": whose, "range": list(HUES[: len(whose)])},
        "legend": {"title": None, "orient": "bottom"},
    }
    axis = {"format": "%", "title": "share of justifications", "tickCount": 5}
    bars = {
        "mark": {"type": "bar", "opacity": 0.85},
        "encoding": {
            "y": y,
            "yOffset": offset,
            "x": {"field": "share", "type": "quantitative", "axis": axis},
            "color": colour,
        },
    }
    ends = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "color": INK, "strokeWidth": 1.3},
        "encoding": {
            "y": y,
            "yOffset": offset,
            "x": {"field": "low", "type": "quantitative"},
            "x2": {"field": "high"},
        },
    }
    return {
        "title": {"text": panel.title, "fontSize": 12, "frame": "group", "offset": 6},
        "width": width,
        "height": {"step": 12 if len(whose) > 1 else 20},
        "data": {"values": rows},
        "layer": [bars, ends],
    }


CELL_LETTER = 7.5
"""Pixels a letter of a label takes, about."""
LONGEST_NAME = 130
"""Pixels of a leaning name; the tables hold it whole."""
DARK_FROM = 0.72
"""Above this rate a cell is so dark that white letters read better."""


def heat_map(plot: HeatMap) -> Specification:
    """Rows and columns stand in the order given; what a cell says stands in it."""
    rows = [
        {"level": in_lines(row), "model": column, "rate": value, "label": label}
        for row, column, value, label in plot.cells
    ]
    levels, models = [in_lines(row) for row in plot.rows], plot.columns
    beside = CELL_LETTER * max(len(line) for level in levels for line in level.split("\n"))
    angle = 0 if max(len(name) for name in models) * CELL_LETTER < (WIDTH - beside) / len(models) else -40
    above = {"orient": "top", "labelAngle": angle, "labelLimit": LONGEST_NAME if angle else 0}
    axes = {
        "y": {"field": "level", "type": "nominal", "title": None, "sort": levels, "axis": NAMES},
        "x": {"field": "model", "type": "nominal", "title": None, "sort": list(models), "axis": above},
    }
    colour = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": ["#f4f1e6", "#0b5f58"], "interpolate": "rgb"},
        "legend": None,
    }
    on_cell = {"condition": {"test": f"datum.rate > {DARK_FROM}", "value": "white"}, "value": ON_LIGHT}
    layers = [
        {"mark": {"type": "rect", "stroke": GROUND, "strokeWidth": 1}, "encoding": {"color": colour}},
        {"mark": {"type": "text", "fontSize": 11.5}, "encoding": {"text": {"field": "label"}, "color": on_cell}},
    ]
    each = 34 if any("\n" in level for level in levels) else 26
    drawn = framed(
        {"data": {"values": rows}, "encoding": axes, "layer": layers},
        title=plot.title,
        height=each * len(levels) + 10,
    )
    if angle:  # the last name leans over the edge
        drawn["padding"] = {"left": 5, "top": 5, "bottom": 5, "right": 70}
    return drawn


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
