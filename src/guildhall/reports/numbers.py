"""Every number of a report with the query that finds the judgments behind it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Findings
from guildhall.reports.chapters.savings import every_ratio
from guildhall.reports.tables import csv_text

OF_ALL_ROWS = frozenset({"agreement", "agreement-beyond-chance", "order", "blinding", "tells", "review-time"})
"""Chapters whose figures rest on all rows of the report."""


def numbers_csv(findings: Findings) -> str:
    """One line a number: where it stands, what it is, and a command that shows its rows (empty where rows are none)."""
    header = ["chapter", "name", "estimate", "value", "low", "high", "n_tasks", "n_judgments", "method", "query"]
    return csv_text(header, _numbers(findings))


def query(findings: Findings, where: Mapping[str, str]) -> str:
    """The command that shows the rows in which these columns hold these words."""
    narrowed = [part for name, word in where.items() for part in ("--where", f"{name}={word}")]
    asked = ["guildhall", "study", "rows", findings.study, *narrowed]
    return shlex.join([*asked, "--baseline", findings.baseline, "--graders", findings.grader_kind])


def _numbers(findings: Findings) -> Iterator[list[Any]]:
    for record in findings.headline:
        rows = query(findings, {"model": record.model})
        for name, one in (("win", record.win), ("win_or_tie", record.win_or_tie), ("half_tie", record.half_tie)):
            yield _line("headline", record.model, name, one, rows)
    for breakdown in findings.breakdowns:
        for cell in breakdown.cells:
            rows = query(findings, {"model": cell.model, **cell.levels})
            place = f"{cell.model} / {' / '.join(cell.levels.values())}"
            yield _line(breakdown.title, place, "win_or_tie", cell.win_or_tie, rows)
    yield from _of_chapters(findings)
    for group in findings.groups:
        rows = query(findings, {}) if group.name in OF_ALL_ROWS else ""
        for figure in group.figures:
            yield _line(group.name, figure.name, group.title, figure.estimate, rows)


def _of_chapters(findings: Findings) -> Iterator[list[Any]]:
    """The chapters with a shape of their own."""
    if findings.trend:
        rows = query(findings, {})
        yield _line("trend", "all dated models", "change a year", findings.trend.slope_per_year, rows)
    for one in findings.ablations:
        for name, estimate in one.difference.items():
            yield _line(
                "ablations", f"{one.title} ({one.who})", name, estimate, query(findings, {"model": one.changed})
            )
    for place, currency, strategy, ratio in every_ratio(findings.savings) if findings.savings else ():
        yield _line(f"savings: {currency}", place, strategy, ratio, query(findings, {"model": place}))
    if findings.reasons:
        for reason in findings.reasons.shares:
            place = f"{reason.model}: {reason.side}"
            yield _line("reasons", place, reason.label, reason.share, query(findings, {"model": reason.model}))
    for calibration in findings.calibrations:
        rows = query(findings, {"model": calibration.model})
        yield _line("calibration", calibration.model, f"Brier, {calibration.against}", calibration.brier, rows)
        words = f"over-confidence, {calibration.against}"
        yield _line("calibration", calibration.model, words, calibration.overconfidence, rows)


def _line(chapter: str, name: str, what: str, one: Estimate, rows: str) -> list[Any]:
    ends = one.interval or ("", "")
    return [chapter, name, what, one.value, *ends, one.n_tasks, one.n_judgments, one.method, rows]
