"""Rates of a breakdown, level by model."""

from __future__ import annotations

from guildhall.domain.findings import Breakdown
from guildhall.reports.plots.frame import GROUND, NAMES, ON_LIGHT, WIDTH, Specification, framed, in_lines, subtitled

LETTER = 7.5
"""Pixels a letter of a label takes, about."""
LONGEST_NAME = 130
"""Pixels of a leaning name; the tables hold it whole."""
DARK_FROM = 0.72
"""Above this rate a cell is so dark that white letters read better."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def heat_map(breakdown: Breakdown) -> Specification:
    """Win-or-tie rates, level by model; a cell with no interval is marked with a question mark."""
    [column] = breakdown.by
    rows = [
        {
            "level": in_lines(cell.levels[column]),
            "model": cell.model,
            "rate": cell.win_or_tie.value,
            "label": f"{100 * (cell.win_or_tie.value or 0):.0f}" + ("" if cell.win_or_tie.interval else "?"),
        }
        for cell in breakdown.cells
    ]
    levels = [in_lines(level) for level in sorted({cell.levels[column] for cell in breakdown.cells}, key=_place)]
    models = {cell.model for cell in breakdown.cells}
    ranked = sorted(models, key=lambda model: (-_mean(breakdown, model), model))
    beside = LETTER * max(len(line) for level in levels for line in level.split("\n"))
    angle = 0 if max(len(name) for name in models) * LETTER < (WIDTH - beside) / len(models) else -40
    above = {"orient": "top", "labelAngle": angle, "labelLimit": LONGEST_NAME if angle else 0}
    axes = {
        "y": {"field": "level", "type": "nominal", "title": None, "sort": levels, "axis": NAMES},
        "x": {"field": "model", "type": "nominal", "title": None, "sort": ranked, "axis": above},
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
        title=breakdown.title,
        height=each * len(levels) + 10,
    )
    if angle:  # the last name leans over the edge
        drawn["padding"] = {"left": 5, "top": 5, "bottom": 5, "right": 70}
    return subtitled(drawn, "win or tie, in per cent; ? marks a cell of too few tasks for an interval")


def _mean(breakdown: Breakdown, model: str) -> float:
    """By which models stand side by side: the mean of their cells."""
    known = [cell.win_or_tie.value or 0.0 for cell in breakdown.cells if cell.model == model]
    return sum(known) / len(known)


def _place(level: str) -> tuple[int, str]:
    """Efforts from low to high; everything else by name."""
    return (EFFORTS.index(level) if level in EFFORTS else 0, level)
