"""Rates of a breakdown, level by model."""

from __future__ import annotations

from guildhall.domain.findings import Breakdown
from guildhall.reports.plots.frame import GROUND, NAMES, ON_LIGHT, WIDTH, Specification, framed, in_lines, subtitled

LETTER = 7.5
"""Pixels a letter of a label takes, about."""
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
    beside = LETTER * max(len(line) for level in levels for line in level.split("\n"))
    angle = 0 if max(len(name) for name in models) * LETTER < (WIDTH - beside) / len(models) else -40
    axes = {
        "y": {"field": "level", "type": "nominal", "title": None, "sort": levels, "axis": NAMES},
        "x": {"field": "model", "type": "nominal", "title": None, "axis": {"orient": "top", "labelAngle": angle}},
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
    return subtitled(drawn, "win or tie, in per cent; ? marks a cell of too few tasks for an interval")


def _place(level: str) -> tuple[int, str]:
    """Efforts from low to high; everything else by name."""
    return (EFFORTS.index(level) if level in EFFORTS else 0, level)
