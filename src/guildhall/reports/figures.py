"""Which figures a report holds, by the name of their file."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.findings import FigureGroup, Findings
from guildhall.reports.plots.differences import signed_forest
from guildhall.reports.plots.forest import forest, group_forest
from guildhall.reports.plots.frame import Specification, subtitled, svg_to_png, to_svg
from guildhall.reports.plots.heat_map import heat_map
from guildhall.reports.plots.outcomes import outcome_bars
from guildhall.reports.plots.reasons import reason_bars
from guildhall.reports.plots.reliability import reliability_plot
from guildhall.reports.plots.savings import savings_curves, savings_have_curves
from guildhall.reports.plots.trend import trend_plot
from guildhall.reports.summary import ranked

MOST_MODELS = 24
"""So many models, the best, are what one can read side by side in a figure; tables and files hold all."""
MOST_ENTRIES = 36
"""So many lines of a chapter, the first, are what one can read in a figure."""


def drawn(findings: Findings) -> dict[str, str]:
    """Every figure as SVG."""
    return {name: to_svg(figure) for name, figure in figures_of(findings).items()}


def write_figure(figure: Specification, folder: Path, name: str) -> str:
    """Draw a figure as SVG and PNG into a folder; the SVG."""
    svg = to_svg(figure)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{name}.png").write_bytes(svg_to_png(svg))
    return svg


def figures_of(findings: Findings) -> dict[str, Specification]:
    """Every figure of a report by the name of its file."""
    best = {record.model for record in ranked(findings)[:MOST_MODELS]}
    made = _of_models(_only(findings, best))
    if len(best) < len(findings.headline):
        words = f"the best {MOST_MODELS} of {len(findings.headline)} models by win or tie; the tables hold all"
        made = {name: subtitled(figure, words) for name, figure in made.items()}
    return made | _of_chapters(findings) | {group.name: _group(group) for group in findings.groups}


def _only(findings: Findings, models: set[str]) -> Findings:
    """The headline and the breakdowns of some models, for the eye."""
    return findings.model_copy(
        update={
            "headline": tuple(record for record in findings.headline if record.model in models),
            "breakdowns": tuple(
                one.model_copy(update={"cells": tuple(cell for cell in one.cells if cell.model in models)})
                for one in findings.breakdowns
            ),
        }
    )


def _group(group: FigureGroup) -> Specification:
    shown = group.figures[:MOST_ENTRIES]
    figure = group_forest(group.model_copy(update={"figures": shown}))
    if len(shown) == len(group.figures):
        return figure
    return subtitled(figure, f"the first {len(shown)} of {len(group.figures)} lines; the table holds all")


def _of_models(findings: Findings) -> dict[str, Specification]:
    made = {"outcomes": outcome_bars(findings)}
    rates = forest(
        "Win or tie, with 95 % intervals",
        [(record.model, record.win_or_tie) for record in ranked(findings)],
        reference=0.5,
    )
    made["win-or-tie"] = subtitled(rates, f"mean over tasks, against the {findings.baseline}; dashed: one half")
    for breakdown in findings.breakdowns:
        made[f"by-{breakdown.by[0].replace('_', '-')}"] = heat_map(breakdown)
    return made


def _of_chapters(findings: Findings) -> dict[str, Specification]:
    """The chapters with a figure of their own kind, which shows as many models as it can."""
    made = {}
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
    return made
