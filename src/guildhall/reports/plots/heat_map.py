"""Rates of a breakdown, level by model."""

from __future__ import annotations

from guildhall.domain.findings import Breakdown
from guildhall.reports.plots.frame import ON_LIGHT, Specification, framed


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
    axes = {
        "y": {"field": "level", "type": "nominal", "title": None},
        "x": {"field": "model", "type": "nominal", "title": None, "axis": {"orient": "top", "labelAngle": 0}},
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
        height=26 * len({row["level"] for row in rows}) + 10,
    )
