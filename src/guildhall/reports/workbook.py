"""The report as a workbook: the headline, a sheet for each breakdown, the other figures, the methods."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Findings
from guildhall.reports.chapters.savings import every_ratio


def workbook(findings: Findings) -> bytes:
    """An .xlsx with frozen headers, shares as percentages, and no formula that text could smuggle in."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    formats = {
        "head": book.add_format({"bold": True, "bottom": 1, "bg_color": "#E3F1EE", "text_wrap": True}),
        "share": book.add_format({"num_format": "0.0%"}),
        "number": book.add_format({"num_format": "0.00"}),
        "wrap": book.add_format({"text_wrap": True, "valign": "top"}),
    }
    _headline(book, formats, findings)
    for breakdown in findings.breakdowns:
        header = [breakdown.by[0].replace("_", " "), "model", "wins", "ties", "losses", *_ends("win or tie"), "pooled"]
        rows = [
            [
                cell.levels[breakdown.by[0]],
                cell.model,
                cell.wins,
                cell.ties,
                cell.losses,
                *_cells(cell.win_or_tie),
                cell.pooled.value if cell.pooled else None,
            ]
            for cell in breakdown.cells
        ]
        _sheet(book, formats, breakdown.title[:31], header, rows, shares={5, 6, 7, 9})
    figures = [[title, name, *_cells(estimate)] for title, name, estimate in _other_figures(findings)]
    _sheet(book, formats, "Other figures", ["chapter", "figure", *_ends("value")], figures, shares=set())
    methods = book.add_worksheet("Methods")
    methods.set_column(0, 0, 110)
    for row, sentence in enumerate((*findings.methods, *findings.notes)):
        methods.write_string(row, 0, sentence, formats["wrap"])
    book.close()
    return out.getvalue()


def _other_figures(findings: Findings) -> Iterator[tuple[str, str, Estimate]]:
    """Chapter, name and estimate of everything after the breakdowns."""
    if findings.trend:
        yield "Trend over release dates", "change of win or tie per year", findings.trend.slope_per_year
    for one in findings.ablations:
        yield from (
            ("What one setting does", f"{one.title} ({one.who}), {name}", found)
            for name, found in one.difference.items()
        )
    if findings.savings:
        for model, currency, name, ratio in every_ratio(findings.savings):
            yield f"Times saved, w = {findings.savings.w}", f"{currency}: {model}, {name}", ratio
    if findings.reasons:
        for reason in findings.reasons.shares:
            yield f"Why work {reason.side}", f"{reason.model}: {reason.label}", reason.share
        yield from (("Agreement of coders", name, found) for name, found in findings.reasons.agreement)
    for calibration in findings.calibrations:
        of = f"{calibration.model}, {calibration.against}"
        yield "Stated confidence", f"Brier score: {of}", calibration.brier
        yield "Stated confidence", f"over-confidence: {of}", calibration.overconfidence
    for group in findings.groups:
        yield from ((group.title, figure.name, figure.estimate) for figure in group.figures)


def _headline(book: Any, formats: dict[str, Any], findings: Findings) -> None:
    header = ["model", "wins", "ties", "losses", *_ends("win"), *_ends("win or tie"), *_ends("half tie")]
    rows = [
        [
            record.model,
            record.wins,
            record.ties,
            record.losses,
            *_cells(record.win),
            *_cells(record.win_or_tie),
            *_cells(record.half_tie),
        ]
        for record in findings.headline
    ]
    _sheet(book, formats, "Headline", header, rows, shares={4, 5, 6, 8, 9, 10, 12, 13, 14})


def _ends(name: str) -> list[str]:
    return [name, "low", "high", "why no interval"]


def _cells(estimate: Estimate) -> list[Any]:
    return [estimate.value, *(estimate.interval or (None, None)), estimate.why_no_interval]


def _sheet(
    book: Any, formats: dict[str, Any], title: str, header: list[str], rows: list[list[Any]], *, shares: set[int]
) -> None:
    sheet = book.add_worksheet(title)
    sheet.freeze_panes(1, 1)
    sheet.write_row(0, 0, header, formats["head"])
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row):
            if value is None:
                continue
            if isinstance(value, str):
                sheet.write_string(number, column, value)
            else:
                kind = "share" if column in shares else "number" if isinstance(value, float) else None
                sheet.write_number(number, column, value, formats[kind] if kind else None)
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, len(header) - 1, 14)
    if rows:
        sheet.autofilter(0, 0, len(rows), len(header) - 1)
