"""Wins, ties and losses as bars."""

from __future__ import annotations

from typing import Any

from guildhall.domain.findings import Findings, ModelRecord
from guildhall.reports.plots.frame import NAMES, ON_LIGHT, Specification, framed, in_lines

OUTCOMES = {"win": "#0d746c", "tie": "#c9b458", "loss": "#b9c1bd"}
NARROWEST_LABELLED = 0.055
"""A part narrower than this share has no room for its number."""


def outcome_bars(findings: Findings) -> Specification:
    """Wins, ties and losses of each model as shares of its judgments, best first."""
    order = [record.model for record in sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))]
    rows = [row for record in findings.headline for row in _segments(record)]
    place = {"field": "from", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "share of judgments"}
    y = {
        "field": "model",
        "type": "nominal",
        "sort": [in_lines(name) for name in order],
        "title": None,
        "axis": NAMES,
    }
    colour = {
        "field": "outcome",
        "type": "nominal",
        "scale": {"domain": list(OUTCOMES), "range": list(OUTCOMES.values())},
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
            "color": {"condition": {"test": "datum.outcome === 'win'", "value": "white"}, "value": ON_LIGHT},
        },
    }
    return framed(
        {"data": {"values": rows}, "encoding": {"y": y}, "layer": [bars, labels]},
        title=f"Outcomes against the {findings.baseline}, by {findings.grader_kind} graders",
        height=30 * max(1, len(order)) + 10,
    )


def _segments(record: ModelRecord) -> list[dict[str, Any]]:
    """A model's bar in three parts, each from where the last one ends."""
    counts = {"win": record.wins, "tie": record.ties, "loss": record.losses}
    total, begun, made = max(1, sum(counts.values())), 0, []
    for outcome, count in counts.items():
        ends = (begun / total, (begun + count) / total)
        made.append(
            {
                "model": in_lines(record.model),
                "outcome": outcome,
                "from": ends[0],
                "to": ends[1],
                "middle": sum(ends) / 2,
                "label": f"{100 * count / total:.0f} %",
            }
        )
        begun += count
    return made
