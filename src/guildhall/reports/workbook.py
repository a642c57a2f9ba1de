"""The report as a workbook: a first page in words, the headline, a sheet for each breakdown, the rest, the methods."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, Findings
from guildhall.reports.chapters.savings import every_ratio
from guildhall.reports.summary import in_short, ranked

NO_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - a workbook's times have no zone
"""In place of the hour of writing, which would make two reports of the same judgments differ."""
WIDEST = 46
"""Letters a column shows at most; longer words wrap."""
PAGE_WIDTH = 110
"""Letters of a line on a sheet of sentences."""
LINE_HEIGHT = 15.0
RESTS_ON = ["tasks", "judgments", "method", "why no interval"]
SHADES = {"type": "2_color_scale", "min_type": "num", "max_type": "num", "min_value": 0, "max_value": 1}
COLOURS = {"min_color": "#F7F5EC", "max_color": "#7FB5AE"}


def workbook(findings: Findings) -> bytes:
    """An .xlsx with frozen headers, shares as percentages, and no formula that text could smuggle in."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"title": findings.title, "created": NO_TIME})
    pen = _Pen(book)
    pen.words("Report", _first_page(findings))
    _headline(pen, findings)
    for breakdown in findings.breakdowns:
        _breakdown(pen, findings, breakdown)
    figures = [
        [title, name, "share" if share else "number", *_cells(estimate, share=share), *_rests_on(estimate)]
        for title, name, estimate, share in _other_figures(findings)
    ]
    pen.table("Other figures", ["chapter", "figure", "read as", *_ends("value"), *RESTS_ON], figures)
    pen.words("Methods", [*((sentence, "wrap") for sentence in (*findings.methods, *findings.notes))])
    book.close()
    return out.getvalue()


@dataclass(frozen=True)
class Share:
    """A number that is shown in per cent."""

    value: float


class _Pen:
    """Writes sheets: one line of names, rows beneath, every column as wide as what stands in it."""

    def __init__(self, book: Any) -> None:
        self.book = book
        top = {"valign": "top"}
        head = {"bold": True, "bottom": 1, "bg_color": "#E3F1EE", "text_wrap": True, **top}
        self.formats = {
            "title": book.add_format({"bold": True, "font_size": 16, "text_wrap": True}),
            "strong": book.add_format({"bold": True, "font_color": "#8A3B12", "text_wrap": True, **top}),
            "head": book.add_format(head),
            "head of numbers": book.add_format({**head, "align": "right"}),
            "share": book.add_format({"num_format": "0.0%", **top}),
            "number": book.add_format({"num_format": "0.00", **top}),
            "count": book.add_format({"num_format": "#,##0", **top}),
            "wrap": book.add_format({"text_wrap": True, **top}),
            "cell": book.add_format({"text_wrap": True, "indent": 1, **top}),
        }

    def words(self, name: str, lines: Sequence[tuple[str, str]]) -> None:
        """A sheet of sentences, each with the name of its format."""
        sheet = self._sheet(name)
        sheet.set_column(0, 0, PAGE_WIDTH)
        sheet.hide_gridlines(2)
        for row, (sentence, kind) in enumerate(lines):
            sheet.set_row(row, 24 if kind == "title" else _height([sentence], PAGE_WIDTH))
            sheet.write_string(row, 0, sentence, self.formats[kind])

    def table(
        self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]], *, shaded: int | None = None
    ) -> None:
        """A sheet of rows; the column `shaded` is coloured by its shares."""
        sheet = self._sheet(name[:31])
        sheet.freeze_panes(1, 1)
        sheet.repeat_rows(0)
        for column, word in enumerate(header):
            numeric = any(isinstance(row[column], Share | float | int) for row in rows)
            sheet.write_string(0, column, word, self.formats["head of numbers" if numeric else "head"])
        widths = [len(word) for word in header]
        for number, row in enumerate(rows, 1):
            sheet.set_row(number, _height([value for value in row if isinstance(value, str)], WIDEST))
            for column, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(number, column, value, self.formats["cell" if column else "wrap"])
                    widths[column] = max(widths[column], len(value))
                elif value is not None:
                    plain = value.value if isinstance(value, Share) else value
                    kind = "share" if isinstance(value, Share) else "number" if isinstance(value, float) else "count"
                    sheet.write_number(number, column, plain, self.formats[kind])
        for column, width in enumerate(widths):
            sheet.set_column(column, column, min(WIDEST, max(8, width)) + 2)
        if rows:
            sheet.autofilter(0, 0, len(rows), len(header) - 1)
        if rows and shaded is not None:
            sheet.conditional_format(1, shaded, len(rows), shaded, {**SHADES, **COLOURS})

    def _sheet(self, name: str) -> Any:
        sheet = self.book.add_worksheet(name)
        sheet.set_landscape()
        sheet.set_paper(9)
        sheet.fit_to_pages(1, 0)
        return sheet


def _height(words: Sequence[str], width: int) -> float:
    """Of a row in points: a program that shows a workbook does not always find out by itself how often words wrap."""
    return LINE_HEIGHT * max([1, *(-(-len(one) // width) for one in words)])


def _first_page(findings: Findings) -> list[tuple[str, str]]:
    counts = findings.counts
    lines = [
        (findings.title, "title"),
        (f"Models against the {findings.baseline}, judged blind by {findings.grader_kind} graders.", "wrap"),
    ]
    if findings.simulated:
        lines.append(("The graders of this study are simulated: these figures say nothing about any model.", "strong"))
    return [
        *lines,
        *((sentence, "wrap") for sentence in in_short(findings)),
        (
            f"{counts.tasks_compared} of {counts.tasks} tasks compared; {counts.judgments} judgments, "
            f"{counts.failures} without a verdict, {counts.surplus} late or extra; {counts.omissions} parts not shown.",
            "wrap",
        ),
        (
            f"Guildhall {findings.version}, study {findings.study}, frozen design {findings.design_digest[:16]}, "
            f"seed {findings.seed}.",
            "wrap",
        ),
    ]


def _headline(pen: _Pen, findings: Findings) -> None:
    rates = ("win", "win or tie", "half tie")
    header = ["model", "wins", "ties", "losses", *(end for rate in rates for end in _ends(rate)), *RESTS_ON]
    rows = [
        [
            record.model,
            record.wins,
            record.ties,
            record.losses,
            *(cell for one in (record.win, record.win_or_tie, record.half_tie) for cell in _cells(one, share=True)),
            *_rests_on(record.win_or_tie),
        ]
        for record in ranked(findings)
    ]
    pen.table("Headline", header, rows, shaded=7)


def _breakdown(pen: _Pen, findings: Findings, breakdown: Breakdown) -> None:
    [by] = breakdown.by
    place = {record.model: at for at, record in enumerate(ranked(findings))}
    header = [by.replace("_", " "), "model", "wins", "ties", "losses", *_ends("win or tie"), "pooled", *RESTS_ON]
    rows = [
        [
            cell.levels[by],
            cell.model,
            cell.wins,
            cell.ties,
            cell.losses,
            *_cells(cell.win_or_tie, share=True),
            _number(cell.pooled.value if cell.pooled else None, share=True),
            *_rests_on(cell.win_or_tie),
        ]
        for cell in sorted(breakdown.cells, key=lambda cell: (cell.levels[by], place.get(cell.model, 0)))
    ]
    pen.table(breakdown.title, header, rows, shaded=5)


def _other_figures(findings: Findings) -> Iterator[tuple[str, str, Estimate, bool]]:
    """Chapter, name and estimate of everything after the breakdowns, and whether it is a share."""
    if findings.trend:
        yield "Trend over release dates", "change of win or tie per year", findings.trend.slope_per_year, True
    for one in findings.ablations:
        for name, found in one.difference.items():
            yield "What one setting does", f"{one.title} ({one.who}), {name}", found, True
    yield from _of_speed_and_reasons(findings)
    for calibration in findings.calibrations:
        of = f"{calibration.model}, {calibration.against}"
        yield "Stated confidence", f"Brier score: {of}", calibration.brier, False
        yield "Stated confidence", f"over-confidence: {of}", calibration.overconfidence, True
    for group in findings.groups:
        for figure in group.figures:
            yield group.title, figure.name, figure.estimate, group.in_percent


def _of_speed_and_reasons(findings: Findings) -> Iterator[tuple[str, str, Estimate, bool]]:
    if findings.savings:
        for model, currency, name, ratio in every_ratio(findings.savings):
            yield f"Times saved, w = {findings.savings.w}", f"{currency}: {model}, {name}", ratio, False
    if findings.reasons:
        for reason in findings.reasons.shares:
            yield f"Why work {reason.side}", f"{reason.model}: {reason.label}", reason.share, True
        for name, found in findings.reasons.agreement:
            yield "Agreement of coders", name, found, False


def _ends(name: str) -> list[str]:
    return [name, f"{name}, low", f"{name}, high"]


def _cells(estimate: Estimate, *, share: bool) -> list[Any]:
    return [_number(value, share=share) for value in (estimate.value, *(estimate.interval or (None, None)))]


def _number(value: float | None, *, share: bool) -> Any:
    return Share(value) if share and value is not None else value


def _rests_on(estimate: Estimate) -> list[Any]:
    return [estimate.n_tasks, estimate.n_judgments, estimate.method, estimate.why_no_interval]
