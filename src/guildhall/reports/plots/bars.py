"""Bars: shares of a whole one after the other, and shares with intervals side by side in panels."""

from __future__ import annotations

from typing import Any

from guildhall.domain.report import BarPanel, BarPanels, Bars
from guildhall.reports.plots.frame import (
    CONFIG,
    HUES,
    INK,
    NAMES,
    ON_LIGHT,
    SCHEMA,
    WIDTH,
    Specification,
    framed,
    in_lines,
)

PARTS = ("#0d746c", "#c9b458", "#b9c1bd")
"""Of a whole: won, tied, lost. The first is so dark that white letters read better."""
NARROWEST_LABELLED = 0.055
"""A part narrower than this share has no room for its number."""
MOST_WHOSE = 4
"""So many bars for a label can be told apart."""
LETTER = 7.2
"""Pixels a letter beside the bars takes, about."""
SPACING = 30


def bars(plot: Bars) -> Specification:
    """Each row a bar in parts, each part from where the last one ends."""
    rows = [segment for name, counts in plot.rows for segment in _segments(name, plot.parts, counts)]
    colours = PARTS[: len(plot.parts)]
    place = {"field": "from", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "share of judgments"}
    y = {
        "field": "model",
        "type": "nominal",
        "sort": [in_lines(name) for name, _ in plot.rows],
        "title": None,
        "axis": NAMES,
    }
    colour = {
        "field": "outcome",
        "type": "nominal",
        "scale": {"domain": list(plot.parts), "range": list(colours)},
        "title": None,
    }
    bars = {
        "mark": {"type": "bar", "height": 20},
        "encoding": {
            "x": {**place, "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}},
            "x2": {"field": "to"},
            "color": colour,
        },
    }
    labels = {
        "mark": {"type": "text", "fontSize": 11.5, "fontWeight": "bold"},
        "transform": [{"filter": f"datum.to - datum.from >= {NARROWEST_LABELLED}"}],
        "encoding": {
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": "label"},
            "color": {
                "condition": {"test": f"datum.outcome === '{plot.parts[0]}'", "value": "white"},
                "value": ON_LIGHT,
            },
        },
    }
    return framed(
        {"data": {"values": rows}, "encoding": {"y": y}, "layer": [bars, labels]},
        title=plot.title,
        height=30 * max(1, len(plot.rows)) + 10,
    )


def _segments(name: str, parts: tuple[str, ...], counts: tuple[int, ...]) -> list[dict[str, Any]]:
    total, begun, made = max(1, sum(counts)), 0, []
    for part, count in zip(parts, counts, strict=True):
        ends = (begun / total, (begun + count) / total)
        made.append(
            {
                "model": in_lines(name),
                "outcome": part,
                "from": ends[0],
                "to": ends[1],
                "middle": sum(ends) / 2,
                "label": f"{100 * count / total:.0f} %",
            }
        )
        begun += count
    return made


def bar_panels(plot: BarPanels) -> Specification:
    """A bar for each label and whose it is; the commonest label stands on top in all panels."""
    whose = list(dict.fromkeys(who for panel in plot.panels for _, who, _ in panel.bars))[:MOST_WHOSE]
    order = _order(plot)
    width = round((WIDTH - LETTER * max(map(len, order)) - SPACING * len(plot.panels)) / max(1, len(plot.panels)))
    panels = [
        _panel(panel, order, whose, labelled=number == 0, width=width) for number, panel in enumerate(plot.panels)
    ]
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "title": plot.title,
        "hconcat": panels,
        "spacing": SPACING,
        "bounds": "flush",
        "resolve": {"scale": {"color": "shared"}},
    }


def _order(plot: BarPanels) -> list[str]:
    """Labels by how often they are given in all panels together, so that the panels can be read across."""
    total: dict[str, float] = {}
    for panel in plot.panels:
        for label, _, share in panel.bars:
            total[label] = total.get(label, 0.0) + (share.value or 0.0)
    return sorted(total, key=lambda label: (-total[label], label))


def _panel(panel: BarPanel, order: list[str], whose: list[str], *, labelled: bool, width: int) -> dict[str, Any]:
    rows = [
        {
            "model": who,
            "label": label,
            "share": share.value,
            "low": share.interval[0] if share.interval else None,
            "high": share.interval[1] if share.interval else None,
        }
        for label, who, share in panel.bars
        if who in whose
    ]
    y = {
        "field": "label",
        "type": "nominal",
        "scale": {"domain": order},
        "title": None,
        "axis": {"labels": labelled, "ticks": False, "domain": False},
    }
    offset = {"field": "model", "type": "nominal", "sort": whose}
    colour = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": whose, "range": list(HUES[: len(whose)])},
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
        "title": {"text": panel.title, "fontSize": 12, "frame": "group", "offset": 6},
        "width": width,
        "height": {"step": 12 if len(whose) > 1 else 20},
        "data": {"values": rows},
        "layer": [bars, ends],
    }
