"""Wins, ties and losses as bars."""

from __future__ import annotations

from guildhall.domain.findings import Findings
from guildhall.reports.plots.frame import Specification, framed

OUTCOMES = {"win": "#0f766e", "tie": "#c9b458", "loss": "#b9c1bd"}


def outcome_bars(findings: Findings) -> Specification:
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
    encoding = {
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
    }
    return framed(
        {"data": {"values": rows}, "mark": {"type": "bar", "height": 18}, "encoding": encoding},
        title=f"Outcomes against the {findings.baseline}, by {findings.grader_kind} graders",
        height=28 * max(1, len(order)) + 10,
    )
