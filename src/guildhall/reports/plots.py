"""Figures: Vega-Lite specifications drawn to SVG and PNG without a browser. Each stands above the table it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, FigureGroup, Findings

INK, FAINT, GRID = "#1d2422", "#57625e", "#dfe3de"
OUTCOMES = {"win": "#0f766e", "tie": "#c9b458", "loss": "#b9c1bd"}
MARK = "#0f766e"
WIDTH = 660
_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "Noto Sans, Liberation Sans, DejaVu Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": FAINT,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelLimit": 260,
    },
    "title": {"anchor": "start", "color": INK, "fontSize": 14, "subtitleColor": FAINT},
    "legend": {"labelColor": INK, "titleColor": FAINT, "orient": "top", "labelFontSize": 12, "titleFontSize": 12},
}


def outcome_bars(findings: Findings) -> dict[str, Any]:
    """Wins, ties and losses of each model as shares of its judgments, best first."""
    order = [record.model for record in sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))]
    rows = [
        {
            "model": record.model,
            "outcome": name,
            "share": count / max(1, record.wins + record.ties + record.losses),
            "place": place,
        }
        for record in findings.headline
        for place, (name, count) in enumerate((("win", record.wins), ("tie", record.ties), ("loss", record.losses)))
    ]
    return _chart(
        rows,
        title=f"Outcomes against the {findings.baseline}, by {findings.grader_kind} graders",
        height=28 * max(1, len(order)) + 10,
        mark={"type": "bar", "height": 18},
        encoding={
            "y": {"field": "model", "type": "nominal", "sort": order, "title": None},
            "x": {
                "field": "share",
                "type": "quantitative",
                "stack": "zero",
                "axis": {"format": "%", "title": "share of judgments"},
            },
            "color": {
                "field": "outcome",
                "type": "nominal",
                "scale": {"domain": list(OUTCOMES), "range": list(OUTCOMES.values())},
                "title": None,
            },
            "order": {"field": "place", "type": "quantitative"},
        },
    )


def forest(
    title: str, entries: Sequence[tuple[str, Estimate]], *, reference: float | None, share: bool = True
) -> dict[str, Any]:
    """Points with their intervals; an estimate without an interval is a hollow point, never a line of no width."""
    rows = [
        {
            "name": name,
            "value": estimate.value,
            "low": estimate.interval[0] if estimate.interval else None,
            "high": estimate.interval[1] if estimate.interval else None,
            "sure": "with interval" if estimate.interval else "no interval",
        }
        for name, estimate in entries
        if estimate.value is not None
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    axis = {"format": "%", "title": None} if share else {"title": None}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": MARK},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"y": y, "x": {"field": "low", "type": "quantitative", "axis": axis}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "stroke": MARK},
            "encoding": {
                "y": y,
                "x": {
                    "field": "value",
                    "type": "quantitative",
                    "axis": axis,
                    "scale": {"zero": False, "nice": True, "padding": 12},
                },
                "fill": {
                    "field": "sure",
                    "type": "nominal",
                    "scale": {"domain": ["with interval", "no interval"], "range": [MARK, "white"]},
                    "legend": None,
                },
            },
        },
    ]
    if reference is not None:
        rule = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": FAINT}, "encoding": {"x": {"datum": reference}}}
        layers.insert(0, rule)
    return _framed({"data": {"values": rows}, "layer": layers}, title=title, height=24 * max(1, len(rows)) + 10)


def heat_map(breakdown: Breakdown) -> dict[str, Any]:
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
    scale = {"domain": [0, 1], "range": ["#f3efe2", "#0f766e"]}
    return _framed(
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
                        "color": {"condition": {"test": "datum.rate > 0.55", "value": "white"}, "value": INK},
                    },
                },
            ],
        },
        title=breakdown.title,
        height=26 * len({row["level"] for row in rows}) + 10,
    )


def figures_of(findings: Findings) -> dict[str, dict[str, Any]]:
    """Every figure of a report by the name of its file."""
    made = {"outcomes": outcome_bars(findings)}
    ranked = sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))
    made["win-or-tie"] = forest(
        "Win or tie, with 95 % intervals", [(record.model, record.win_or_tie) for record in ranked], reference=0.5
    )
    for breakdown in findings.breakdowns:
        made[f"by-{breakdown.by[0].replace('_', '-')}"] = heat_map(breakdown)
    for number, group in enumerate(findings.groups, 1):
        made[f"figure-{number}"] = _group_forest(group)
    return made


def _group_forest(group: FigureGroup) -> dict[str, Any]:
    entries = [(figure.name, figure.estimate) for figure in group.figures]
    values = [bound for _, one in entries for bound in (one.interval or (one.value or 0.0,))]
    share = bool(values) and min(values) >= 0 and max(values) <= 1
    return forest(group.title, entries, reference=None, share=share)


def to_svg(specification: dict[str, Any]) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(json.dumps(specification))
    # The renderer numbers its ids through a process's life; ours begin anew with each figure.
    numbers: dict[str, str] = {}
    return re.sub(r"(gradient_|clip)\d+", lambda found: numbers.setdefault(found[0], f"{found[1]}{len(numbers)}"), svg)


def to_png(specification: dict[str, Any], *, scale: float = 2.0) -> bytes:
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(json.dumps(specification), scale=scale)
    return png


def _chart(
    rows: list[dict[str, Any]], *, title: str, height: int, mark: Any, encoding: dict[str, Any]
) -> dict[str, Any]:
    return _framed({"data": {"values": rows}, "mark": mark, "encoding": encoding}, title=title, height=height)


def _framed(body: dict[str, Any], *, title: str, height: int) -> dict[str, Any]:
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "config": _CONFIG, "title": title, "width": WIDTH, "height": height, **body}
