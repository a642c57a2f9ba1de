"""Occupations as pictures: the chosen ones by pay, and the digital share against the task-content scores."""

from __future__ import annotations

from typing import Any

from guildhall.domain.occupations import Selection, Shift, Validation
from guildhall.reports.plots.frame import FAINT, INK, MARK, WIDTH, Specification, framed

DIGITAL, OTHER = "#2563a8", "#b4532a"
"""Blue and rust: told apart by most who see colours otherwise, and by lightness in print."""


def pay_bars(selection: Selection) -> Specification:
    """The chosen occupations by total pay, sector by sector."""
    rows = [
        {"occupation": one.title, "sector": one.sector, "pay": (one.total_wages_usd or 0) / 1e9}
        for one in selection.chosen
    ]
    encoding = {
        "y": {"field": "occupation", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 330}},
        "x": {"field": "pay", "type": "quantitative", "axis": {"title": "total pay, billion dollars a year"}},
    }
    label = {**encoding, "text": {"field": "pay", "type": "quantitative", "format": ".1f"}}
    return framed(
        {
            "data": {"values": rows},
            "layer": [
                {"mark": {"type": "bar", "height": 11, "color": MARK}, "encoding": encoding},
                {
                    "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 10, "color": FAINT},
                    "encoding": label,
                },
            ],
        },
        title=f"The {len(rows)} chosen occupations, sector by sector",
        height=17 * max(1, len(rows)) + 10,
    )


def shift_plot(shifts: tuple[Shift, ...], base: Selection) -> Specification:
    """How many of the chosen stay, and how many come in, as the digital threshold moves."""
    kept = len(base.chosen)
    moved = [one for one in shifts if one.thresholds.digital_share != base.thresholds.digital_share]
    points = [(one.thresholds.digital_share, kept - len(one.goes), len(one.comes)) for one in moved]
    points.append((base.thresholds.digital_share, kept, 0))
    rows = [
        {"threshold": threshold, "count": count, "who": who, "place": place}
        for threshold, stay, come in sorted(points)
        for place, (who, count) in enumerate((("chosen as now", stay), ("others", come)))
    ]
    encoding = {
        "x": {"field": "threshold", "type": "ordinal", "axis": {"title": "least digital share", "labelAngle": 0}},
        "y": {"field": "count", "type": "quantitative", "stack": "zero", "axis": {"title": "occupations"}},
        "color": {
            "field": "who",
            "type": "nominal",
            "scale": {"domain": ["chosen as now", "others"], "range": [MARK, "#c9b458"]},
            "title": None,
        },
        "order": {"field": "place", "type": "quantitative"},
    }
    return framed(
        {"data": {"values": rows}, "mark": {"type": "bar", "width": 38}, "encoding": encoding},
        title="What another digital threshold would choose",
        height=220,
    )


def content_scatter(validation: Validation) -> Specification:
    """Each score against the digital share, one panel a score, with the line through it."""
    x = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%", "title": "digital share", "tickCount": 3},
    }
    y = {"field": "score", "type": "quantitative", "axis": {"title": None}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "point", "filled": True, "size": 10, "opacity": 0.35, "color": MARK},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": [{"regression": "score", "on": "share"}],
            "mark": {"type": "line", "color": INK, "strokeWidth": 1.5},
            "encoding": {"x": x, "y": y},
        },
    ]
    return _by_score(validation, layers, title="Task contents by digital share", height=150, own_scales=True)


def content_strips(validation: Validation) -> Specification:
    """Each occupation's scores, digital occupations apart from the others."""
    encoding = {
        "x": {"field": "score", "type": "quantitative", "axis": {"title": None, "tickCount": 3}},
        "y": {"field": "side", "type": "nominal", "sort": ["digital", "other"], "axis": {"title": None}},
        "yOffset": {"field": "jitter", "type": "quantitative", "scale": {"domain": [0, 1]}},
        "color": {
            "field": "side",
            "type": "nominal",
            "scale": {"domain": ["digital", "other"], "range": [DIGITAL, OTHER]},
            "legend": None,
        },
    }
    layers = [{"mark": {"type": "point", "filled": True, "size": 9, "opacity": 0.5}, "encoding": encoding}]
    return _by_score(
        validation, layers, title="Task contents of digital and other occupations", height=130, own_scales=False
    )


def _by_score(
    validation: Validation, layers: list[dict[str, Any]], *, title: str, height: int, own_scales: bool
) -> Specification:
    """A panel for each score, three a row."""
    rows = [
        {
            "panel": name,
            "share": one.digital_share,
            "score": value,
            "side": "digital" if one.is_digital else "other",
            # Spread by the golden ratio: even, and the same in every drawing.
            "jitter": (place * 0.6180339887) % 1,
        }
        for place, one in enumerate(validation.occupations)
        for name, value in one.scores.items()
        if value is not None
    ]
    order = [one.score for one in validation.correlations]
    header = {"title": None, "labelFontSize": 11, "labelColor": INK, "labelLimit": 230}
    body = {
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "nominal", "sort": order, "header": header},
        "columns": 3,
        "spacing": {"row": 18, "column": 22},
        "spec": {"width": (WIDTH - 80) // 3, "height": height, "layer": layers},
        "resolve": {"scale": {"y": "independent"} if own_scales else {}},
    }
    whole = framed(body, title=title, height=height)
    return {name: value for name, value in whole.items() if name not in {"width", "height"}}
