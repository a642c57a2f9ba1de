"""Stated confidence against what came true, one curve a model; on the diagonal claims hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guildhall.domain.calibrations import ModelCalibration
from guildhall.reports.plots.frame import CONFIG, FAINT, GROUND, HUES, SCHEMA, Specification

MOST_CURVES, MOST_WITH_ENDS = len(HUES), 3
"""So many curves are drawn at most, and with intervals only where these do not hide each other."""
PANEL = 278


def reliability_plot(found: Sequence[ModelCalibration]) -> Specification:
    """A square for each outcome; points have intervals, and a hollow point has none."""
    models = list(dict.fromkeys(one.model for one in found))[:MOST_CURVES]
    ends = len(models) <= MOST_WITH_ENDS
    outcomes = list(dict.fromkeys(one.against for one in found))
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "title": {
            "text": "What was claimed, and what came true",
            "subtitle": "below the dashed line claims are too high" + ("; 95 % intervals" if ends else ""),
        },
        "hconcat": [
            _panel([one for one in found if one.against == name], name, models, ends=ends) for name in outcomes
        ],
        "spacing": 50,
        "resolve": {"scale": {"color": "shared"}},
    }


def _panel(found: Sequence[ModelCalibration], outcome: str, models: list[str], *, ends: bool) -> dict[str, Any]:
    rows = [row for one in found if one.model in models for row in _rows(one)]
    scale = {"domain": [0, 1]}
    axis = {"format": ".0%", "tickCount": 5}
    x = {"field": "claimed", "type": "quantitative", "scale": scale, "axis": {**axis, "title": "stated confidence"}}
    y = {"type": "quantitative", "scale": scale, "axis": {**axis, "title": outcome}}
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": models, "range": list(HUES[: len(models)])},
        "legend": {"title": None, "orient": "bottom", "columns": 4, "symbolType": "circle", "labelLimit": 220},
    }
    corners = [{"at": 0}, {"at": 1}]
    place = {"field": "at", "type": "quantitative"}
    rules = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 1.6},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
    }
    return {
        "width": PANEL,
        "height": PANEL,
        "data": {"values": rows},
        "layer": [
            {
                "data": {"values": corners},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": FAINT, "strokeWidth": 1},
                "encoding": {"x": {**x, **place}, "y": {**y, **place}},
            },
            {
                "mark": {"type": "line", "strokeWidth": 1.4},
                "encoding": {"x": x, "y": {**y, "field": "came"}, "color": colour},
            },
            *([rules] if ends else []),
            {
                "mark": {"type": "point", "size": 55, "opacity": 1, "strokeWidth": 2, "filled": False},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "came"},
                    "color": colour,
                    "fill": {"condition": {"test": "!isValid(datum.low)", "value": GROUND}, **colour, "legend": None},
                },
            },
        ],
    }


def _rows(found: ModelCalibration) -> list[dict[str, Any]]:
    return [
        {
            "model": found.model,
            "claimed": point.claimed,
            "came": point.came_true.value,
            "low": point.came_true.interval[0] if point.came_true.interval else None,
            "high": point.came_true.interval[1] if point.came_true.interval else None,
        }
        for point in found.curve
    ]
