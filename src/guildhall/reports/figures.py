"""Which figures a report holds, by the name of their file."""

from __future__ import annotations

from guildhall.domain.findings import Findings
from guildhall.reports.plots.differences import signed_forest
from guildhall.reports.plots.forest import forest, group_forest
from guildhall.reports.plots.frame import Specification, subtitled, to_svg
from guildhall.reports.plots.heat_map import heat_map
from guildhall.reports.plots.outcomes import outcome_bars
from guildhall.reports.plots.reasons import reason_bars
from guildhall.reports.plots.reliability import reliability_plot
from guildhall.reports.plots.savings import savings_curves, savings_have_curves
from guildhall.reports.plots.trend import trend_plot
from guildhall.reports.summary import ranked

MOST_MODELS = 40
"""So many models, the best, are what one can read in a figure; tables and files hold all."""
MOST_ENTRIES = 60


def drawn(findings: Findings) -> dict[str, str]:
    """Every figure as SVG."""
    return {name: to_svg(figure) for name, figure in figures_of(findings).items()}


def figures_of(findings: Findings) -> dict[str, Specification]:
    """Every figure of a report by the name of its file."""
    if len(findings.headline) <= MOST_MODELS:
        return _figures(findings)
    words = f"the best {MOST_MODELS} of {len(findings.headline)} models by win or tie; the tables hold all"
    return {name: subtitled(figure, words) for name, figure in _figures(_readable(findings)).items()}


def _readable(findings: Findings) -> Findings:
    """The findings of the best models only, for the eye."""
    best = {record.model for record in ranked(findings)[:MOST_MODELS]}
    return findings.model_copy(
        update={
            "headline": tuple(record for record in findings.headline if record.model in best),
            "breakdowns": tuple(
                one.model_copy(update={"cells": tuple(cell for cell in one.cells if cell.model in best)})
                for one in findings.breakdowns
            ),
            "groups": tuple(
                group.model_copy(update={"figures": group.figures[:MOST_ENTRIES]}) for group in findings.groups
            ),
        }
    )


def _figures(findings: Findings) -> dict[str, Specification]:
    made = {"outcomes": outcome_bars(findings)}
    rates = forest(
        "Win or tie, with 95 % intervals",
        [(record.model, record.win_or_tie) for record in ranked(findings)],
        reference=0.5,
    )
    made["win-or-tie"] = subtitled(rates, f"mean over tasks, against the {findings.baseline}; dashed: one half")
    for breakdown in findings.breakdowns:
        made[f"by-{breakdown.by[0].replace('_', '-')}"] = heat_map(breakdown)
    if findings.trend:
        made["trend"] = trend_plot(findings.trend)
    if findings.ablations:
        entries = [(f"{one.title}\n{one.who}", one.difference["win_or_tie"]) for one in findings.ablations]
        made["ablations"] = signed_forest("What one setting does to win or tie, paired by task", entries)
    if findings.savings and savings_have_curves(findings.savings):
        made["savings"] = savings_curves(findings.savings)
    if findings.reasons and findings.reasons.shares:
        made["reasons"] = reason_bars(findings.reasons)
    if findings.calibrations:
        made["calibration"] = reliability_plot(findings.calibrations)
    for group in findings.groups:
        made[group.name] = group_forest(group)
    return made
