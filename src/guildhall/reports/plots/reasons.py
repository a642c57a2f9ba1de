"""Reasons as bars: why work lost to the left, why it won to the right, with intervals."""

from __future__ import annotations

from typing import Any

from guildhall.domain.reasons import Reasons
from guildhall.reports.plots.frame import CONFIG, HUES, INK, SCHEMA, WIDTH, Specification

MOST_MODELS = 4
PANELS = {"lost": "Why work lost", "won": "Why work won"}
LETTER = 7.2
"""Pixels a letter beside the bars takes, about."""
SPACING = 30


def reason_bars(found: Reasons) -> Specification:
    """One panel a side, a bar a reason and model; the commonest reason on top in both."""
    models = list(dict.fromkeys(one.model for one in found.shares))[:MOST_MODELS]
    sides = [side for side in PANELS if any(one.side == side for one in found.shares)]
    beside = LETTER * max(len(label) for label in _order(found))
    width = round((WIDTH - beside - SPACING * len(sides)) / max(1, len(sides)))
    panels = [_panel(found, side, models, labelled=side == sides[0], width=width) for side in sides]
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "title": {"text": "Reasons graders gave", "subtitle": f"coded by {found.coder}, with 95 % intervals"},
        "hconcat": panels,
        "spacing": SPACING,
        "bounds": "flush",
        "resolve": {"scale": {"color": "shared"}},
    }


def _order(found: Reasons) -> list[str]:
    """Labels by how often they are given on both sides together, so that the panels can be read across."""
    total: dict[str, float] = {}
    for one in found.shares:
        total[one.label] = total.get(one.label, 0.0) + (one.share.value or 0.0)
    return sorted(total, key=lambda label: (-total[label], label))


def _panel(found: Reasons, side: str, models: list[str], *, labelled: bool, width: int) -> dict[str, Any]:
    shares = [one for one in found.shares if one.side == side and one.model in models]
    rows = [
        {
            "model": one.model,
            "label": one.label,
            "share": one.share.value,
            "low": one.share.interval[0] if one.share.interval else None,
            "high": one.share.interval[1] if one.share.interval else None,
        }
        for one in shares
    ]
    y = {
        "field": "label",
        "type": "nominal",
        "scale": {"domain": _order(found)},
        "title": None,
        "axis": {"labels": labelled, "ticks": False, "domain": False},
    }
    offset = {"field": "model", "type": "nominal", "sort": models}
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": models, "range": list(HUES[: len(models)])},
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
        "title": {"text": PANELS[side], "fontSize": 12, "frame": "group", "offset": 6},
        "width": width,
        "height": {"step": 12 if len(models) > 1 else 20},
        "data": {"values": rows},
        "layer": [bars, ends],
    }
