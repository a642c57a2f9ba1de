"""The report as Markdown, CSV and JSON: for reading in a terminal, for a spreadsheet, for a program."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, Findings
from guildhall.reports.chapters.ablations import ablations_markdown
from guildhall.reports.chapters.calibration import calibration_markdown
from guildhall.reports.chapters.reasons import reasons_markdown
from guildhall.reports.chapters.savings import savings_markdown
from guildhall.reports.chapters.trend import trend_markdown
from guildhall.reports.summary import in_short, ranked
from guildhall.reports.tables import csv_text, text_table
from guildhall.reports.words import basis, figure_words, interval_percent, percent


def markdown(findings: Findings) -> str:
    lines = [
        f"# {findings.title}",
        "",
        f"Models against the {findings.baseline}, judged blind by {findings.grader_kind} graders.",
        "",
    ]
    if findings.simulated:
        lines += ["**The graders of this study are simulated: these figures say nothing about any model.**", ""]
    lines += [" ".join(in_short(findings)), ""]
    lines += [*_counted(findings), *_headline(findings)]
    for breakdown in findings.breakdowns:
        lines += _breakdown(breakdown)
    lines += trend_markdown(findings.trend) if findings.trend else []
    lines += ablations_markdown(findings.ablations) if findings.ablations else []
    lines += savings_markdown(findings.savings) if findings.savings else []
    lines += reasons_markdown(findings.reasons) if findings.reasons else []
    lines += calibration_markdown(findings.calibrations) if findings.calibrations else []
    for group in findings.groups:
        rows = [
            [one.name, figure_words(one.estimate, in_percent=group.in_percent), basis(one.estimate)]
            for one in group.figures
        ]
        lines += [f"## {group.title}", "", group.words, "", *text_table(["figure", "estimate", "rests on"], rows)]
    lines += ["## Methods", "", *(f"{sentence}\n" for sentence in (*findings.methods, *findings.notes))]
    return "\n".join(lines).rstrip() + "\n"


def _counted(findings: Findings) -> list[str]:
    counts = findings.counts
    return [
        f"{counts.tasks_compared} of {counts.tasks} tasks compared; {counts.judgments} judgments, "
        f"{counts.failures} without a verdict, {counts.surplus} late or extra; {counts.omissions} parts not shown.",
        "",
    ]


def _headline(findings: Findings) -> list[str]:
    rows = [
        [
            record.model,
            record.wins,
            record.ties,
            record.losses,
            *(_rate(one) for one in (record.win, record.win_or_tie, record.half_tie)),
            basis(record.win_or_tie),
        ]
        for record in ranked(findings)
    ]
    return text_table(["model", "wins", "ties", "losses", "win", "win or tie", "half tie", "rests on"], rows)


def _breakdown(breakdown: Breakdown) -> list[str]:
    rows = [
        [
            *cell.levels.values(),
            cell.model,
            f"{cell.wins} / {cell.ties} / {cell.losses}",
            _rate(cell.win_or_tie),
            percent(cell.pooled.value) if cell.pooled else "–",
        ]
        for cell in breakdown.cells
    ]
    table = text_table([*breakdown.by, "model", "W / T / L", "win or tie", "pooled"], rows)
    return [f"## {breakdown.title}", "", *table]


def _rate(rate: Estimate) -> str:
    return f"{percent(rate.value)} ({interval_percent(rate)})"


def as_json(findings: Findings) -> str:
    return findings.model_dump_json(indent=2) + "\n"


def headline_csv(findings: Findings) -> str:
    """One row a model and convention, with the interval or the reason why there is none."""
    rows = [
        [
            record.model,
            name,
            one.value,
            *(one.interval or ("", "")),
            one.level,
            one.n_tasks,
            one.n_judgments,
            one.method,
            one.why_no_interval or "",
        ]
        for record in findings.headline
        for name, one in (("win", record.win), ("win_or_tie", record.win_or_tie), ("half_tie", record.half_tie))
    ]
    header = [
        "model",
        "convention",
        "value",
        "low",
        "high",
        "level",
        "n_tasks",
        "n_judgments",
        "method",
        "why_no_interval",
    ]
    return csv_text(header, rows)
