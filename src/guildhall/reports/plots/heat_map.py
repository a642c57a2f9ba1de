"""Cells coloured by their value: rates level by model, grades author by grader."""

from __future__ import annotations

from guildhall.domain.report import HeatMap
from guildhall.reports.plots.frame import GROUND, NAMES, ON_LIGHT, WIDTH, Specification, framed, in_lines

LETTER = 7.5
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
    beside = LETTER * max(len(line) for level in levels for line in level.split("\n"))
    angle = 0 if max(len(name) for name in models) * LETTER < (WIDTH - beside) / len(models) else -40
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
