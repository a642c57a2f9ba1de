"""Rates of a breakdown, level by model."""

from __future__ import annotations

from guildhall.domain.findings import Breakdown
from guildhall.reports.plots.frame import ON_LIGHT, WIDTH, Specification, framed

LETTER = 7.5
"""Pixels a letter of a label takes, about."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def heat_map(breakdown: Breakdown) -> Specification:
    """Win-or-tie rates, level by model; a cell with no interval is marked with a question mark."""
    [column] = breakdown.by
    rows = [
        {
            "level": cell.levels[column],
            "model": cell.model,
            "rate": cell.win_or_tie.value,
            "label": f"{100 * (cell.win_or_tie.value or 0):.0f}" + ("" if cell.win_or_tie.interval else "?"),
        }
        for cell in breakdown.cells
    ]
    levels = {cell.levels[column] for cell in breakdown.cells}
    models = {cell.model for cell in breakdown.cells}
    angle = 0 if max(len(name) for name in models) * LETTER < WIDTH / len(models) else -40
    axes = {
        "y": {"field": "level", "type": "nominal", "title": None, "sort": sorted(levels, key=_place)},
        "x": {"field": "model", "type": "nominal", "title": None, "axis": {"orient": "top", "labelAngle": angle}},
    }
    scale = {"domain": [0, 1], "range": ["#f3efe2", "#0e756d"]}
    return framed(
        {
            "data": {"values": rows},
            "encoding": axes,
            "layer": [
                {
                    "mark": "rect",
                    "encoding": {
                        "color": {
                            "field": "rate",
                            "type": "quantitative",
                            "scale": scale,
                            "legend": {"format": "%", "title": "win or tie"},
                        }
                    },
                },
                {
                    "mark": {"type": "text", "fontSize": 11},
                    "encoding": {
                        "text": {"field": "label"},
                        "color": {"condition": {"test": "datum.rate > 0.55", "value": "white"}, "value": ON_LIGHT},
                    },
                },
            ],
        },
        title=breakdown.title,
        height=26 * len(levels) + 10,
    )


def _place(level: str) -> tuple[int, str]:
    """Efforts from low to high; everything else by name."""
    return (EFFORTS.index(level) if level in EFFORTS else 0, level)
