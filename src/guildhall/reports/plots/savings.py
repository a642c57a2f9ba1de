"""Speed and cost over the number of tries, one curve a model with its band."""

from __future__ import annotations

from typing import Any

from guildhall.domain.speed_and_cost import SpeedAndCost
from guildhall.reports.chapters.savings import CURRENCIES, in_currency
from guildhall.reports.plots.frame import CONFIG, FAINT, HUES, INK, SCHEMA, Specification

MOST_CURVES = 8
"""More curves than this one cannot tell apart; tables and files hold all."""
MOST_BANDS = 4
"""More bands than this lie over each other and say nothing; tables and files hold every interval."""
PANEL_WIDTH, PANEL_HEIGHT = 305, 250


def savings_curves(found: SpeedAndCost) -> Specification:
    """A panel for speed and one for cost; 1 is where the model neither saves nor loses."""
    panels = [_panel(found, currency) for currency in CURRENCIES if _rows(found, currency)]
    title = {
        "text": f"What trying first saves, w = {found.w}",
        "subtitle": [f"Human time: {found.hours_by}. Review: {found.review_by}", f"Success: {found.success_by}"],
        "offset": 14,
    }
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "title": title,
        "spacing": 70,
        "bounds": "flush",
        "resolve": {"scale": {"color": "shared"}},
        "hconcat": panels,
    }


def savings_have_curves(found: SpeedAndCost) -> bool:
    """Whether there is anything to draw: without a time of review there is no ratio of trying."""
    return any(_rows(found, currency) for currency in CURRENCIES)


def _rows(found: SpeedAndCost, currency: str) -> list[dict[str, Any]]:
    return [
        {
            "model": one.model,
            "tries": n,
            "ratio": each.value,
            "low": each.interval[0] if each.interval else None,
            "high": each.interval[1] if each.interval else None,
        }
        for one, ratios in in_currency(found, currency)[:MOST_CURVES]
        for n, each in ratios.try_n.items()
        if each.value is not None
    ]


def _panel(found: SpeedAndCost, currency: str) -> dict[str, Any]:
    title, comparative, _ = CURRENCIES[currency]
    models = [one.model for one, _ in in_currency(found, currency)[:MOST_CURVES]]
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": models, "range": list(HUES[: len(models)])},
        "legend": {
            "title": None,
            "orient": "bottom",
            "columns": 3,
            "symbolType": "circle",
            "symbolOpacity": 1,
            "labelLimit": 220,
        },
    }
    x = {
        "field": "tries",
        "type": "quantitative",
        "scale": {"nice": False, "padding": 10},
        "axis": {"title": "attempts before the expert takes over", "tickMinStep": 1, "format": "d", "grid": False},
    }
    y = {"type": "quantitative", "scale": {"zero": False}, "axis": {"title": f"times {comparative}", "format": ".2~f"}}
    level = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": FAINT}, "encoding": {"y": {"datum": 1}}}
    band = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "area", "opacity": 0.12},
        "encoding": {
            "x": x,
            "y": {**y, "field": "low"},
            "y2": {"field": "high"},
            "color": colour,
        },
    }
    curve = {
        "mark": {"type": "line", "strokeWidth": 2.2, "point": {"size": 34, "filled": True}},
        "encoding": {"x": x, "y": {**y, "field": "ratio"}, "color": colour},
    }
    return {
        "title": {"text": title, "fontSize": 12, "color": INK, "frame": "group", "offset": 6},
        "width": PANEL_WIDTH,
        "height": PANEL_HEIGHT,
        "data": {"values": _rows(found, currency)},
        "layer": [level, *([band] if len(models) <= MOST_BANDS else []), curve],
    }
