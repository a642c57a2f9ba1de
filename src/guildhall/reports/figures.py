"""Which figures a report holds, by the name of their file."""

from __future__ import annotations

from guildhall.domain.findings import Findings
from guildhall.reports.plots.differences import NEW_LINE, signed_forest
from guildhall.reports.plots.forest import forest, group_forest
from guildhall.reports.plots.frame import Specification
from guildhall.reports.plots.heat_map import heat_map
from guildhall.reports.plots.outcomes import outcome_bars
from guildhall.reports.plots.trend import trend_plot


def figures_of(findings: Findings) -> dict[str, Specification]:
    """Every figure of a report by the name of its file."""
    made = {"outcomes": outcome_bars(findings)}
    ranked = sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))
    made["win-or-tie"] = forest(
        "Win or tie, with 95 % intervals", [(record.model, record.win_or_tie) for record in ranked], reference=0.5
    )
    for breakdown in findings.breakdowns:
        made[f"by-{breakdown.by[0].replace('_', '-')}"] = heat_map(breakdown)
    if findings.trend:
        made["trend"] = trend_plot(findings.trend)
    if findings.ablations:
        entries = [(f"{one.title}{NEW_LINE}{one.who}", one.difference["win_or_tie"]) for one in findings.ablations]
        made["ablations"] = signed_forest("What one setting does to win or tie, paired by task", entries)
    for group in findings.groups:
        made[group.name] = group_forest(group)
    return made
