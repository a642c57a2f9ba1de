"""The report as a workbook: a first page in words, a sheet for each table, the methods."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import COMPOSITES, NO_GRADE, letter_of
from guildhall.domain.report import CellValue, Column, Form, Report, ReportTable, Section
from guildhall.reports.text import counted, lead

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


SHADED = ("win_or_tie", "share")
"""Columns of shares that are coloured, so that the eye finds the high ones."""
GRADE_COLOURS: dict[str, str] = {
    "A+": "#63BE7B", "A": "#8FD19E", "A-": "#B7E1C0",
    "B+": "#8DB4E2", "B": "#B0CDEB", "B-": "#D0E1F3",
    "C+": "#FFE699", "C": "#FFEFBD", "C-": "#FFF6DC",
    "D+": "#F8CBAD", "D": "#F4B183", "D-": "#EE9A63",
    "F": "#E06666", NO_GRADE: "#D9D9D9",
}  # fmt: skip
"""Greens for A, blues for B, yellows for C, oranges for D, red for F, grey for none."""
FORBIDDEN = str.maketrans(dict.fromkeys("[]:*?/\\'", " "))


def workbook(report: Report) -> bytes:
    """An .xlsx with frozen headers, shares as percentages, and no formula that text could smuggle in."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"title": report.title, "created": NO_TIME})
    pen = SheetPen(book)
    pen.words("Report", _first_page(report))
    for section in report.sections:
        for table in section.tables:
            pen.table(table.title or section.title, table)
    last = [*report.planned_and_done, *report.methods, *report.notes]
    pen.words("Methods", [(sentence, "wrap") for sentence in last])
    book.close()
    return out.getvalue()


class _Number(NamedTuple):
    """A number, and the format it is shown in."""

    value: float
    kind: str


class SheetPen:
    """Writes sheets: one line of names, rows beneath, every column as wide as what stands in it."""

    def __init__(self, book: Any) -> None:
        self.book = book
        self.grades: dict[str, Any] = {}
        top = {"valign": "top"}
        head = {"bold": True, "bottom": 1, "bg_color": "#E3F1EE", "text_wrap": True, **top}
        self.formats = {
            "title": book.add_format({"bold": True, "font_size": 16, "text_wrap": True}),
            "heading": book.add_format({"bold": True, "font_size": 13, "font_color": "#1F4E79"}),
            "strong": book.add_format({"bold": True, "font_color": "#8A3B12", "text_wrap": True, **top}),
            "head": book.add_format(head),
            "head of numbers": book.add_format({**head, "align": "right"}),
            "share": book.add_format({"num_format": "0.0%", **top}),
            "number": book.add_format({"num_format": "0.00", **top}),
            "dollars": book.add_format({"num_format": "0.0000", **top}),
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

    def table(self, title: str, table: ReportTable) -> None:
        """A sheet of a table's rows; an estimate takes three columns, and the row's last says what it rests on."""
        header, rows = _laid_out(table)
        sheet = self._sheet(title)
        sheet.freeze_panes(1, 1)
        sheet.repeat_rows(0)
        widths = self._rows(sheet, 0, header, rows)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, min(WIDEST, max(8, width)) + 2)
        if rows:
            sheet.autofilter(0, 0, len(rows), len(header) - 1)
            for column in (header.index(one.title) for one in table.columns if one.name in SHADED):
                sheet.conditional_format(1, column, len(rows), column, {**SHADES, **COLOURS})

    def sections(self, name: str, sections: Sequence[Section]) -> None:
        """One sheet with everything that sections say and all their tables, one under the other."""
        sheet = self._sheet(name)
        sheet.set_column(0, 0, 38)
        sheet.set_column(1, 12, 17)
        at = 0
        for section in sections:
            sheet.write_string(at, 0, section.title, self.formats["heading"])
            at = self._sentences(sheet, at + 1, section.words)
            for table in section.tables:
                if table.title:
                    sheet.write_string(at, 0, table.title, self.formats["head"])
                    at += 1
                header, rows = _laid_out(table)
                self._rows(sheet, at, header, rows)
                at = self._sentences(sheet, at + len(rows) + 1, table.words) + 1
            at += 1

    def _sentences(self, sheet: Any, at: int, sentences: Sequence[str]) -> int:
        """Sentences over several columns, and the row after them."""
        for number, sentence in enumerate(sentences, at):
            sheet.merge_range(number, 0, number, 7, sentence, self.formats["wrap"])
            sheet.set_row(number, _height([sentence], PAGE_WIDTH))
        return at + len(sentences)

    def _rows(self, sheet: Any, at: int, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
        """A header and rows from row `at` on, and how wide each column's words are."""
        for column, word in enumerate(header):
            numeric = any(isinstance(row[column], _Number) for row in rows)
            sheet.write_string(at, column, word, self.formats["head of numbers" if numeric else "head"])
        widths = [len(word) for word in header]
        for number, row in enumerate(rows, at + 1):
            sheet.set_row(number, _height([value for value in row if isinstance(value, str)], WIDEST))
            for column, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(number, column, value, self.formats["cell" if column else "wrap"])
                    widths[column] = max(widths[column], len(value))
                elif value is not None:
                    sheet.write_number(number, column, value.value, self._format(value))
        return widths

    def _format(self, number: _Number) -> Any:
        """A number's format; a grade's shows its letter and has its colour."""
        if number.kind != "grade":
            return self.formats[number.kind]
        letter = letter_of(number.value)
        if letter not in self.grades:
            shown = {"num_format": f'"{letter} ("0.00")"', "bg_color": grade_colour(letter), "valign": "top"}
            self.grades[letter] = self.book.add_format(shown)
        return self.grades[letter]

    def _sheet(self, name: str) -> Any:
        sheet = self.book.add_worksheet(self._free(name))
        sheet.set_landscape()
        sheet.set_paper(9)
        sheet.fit_to_pages(1, 0)
        return sheet

    def _free(self, name: str) -> str:
        """A name that a sheet may have and none has yet."""
        short = " ".join(name.translate(FORBIDDEN).split())[:31] or "Table"
        taken = {sheet.get_name().casefold() for sheet in self.book.worksheets()}
        numbered = (f"{short[:27]} {number}" for number in range(2, 1000))
        return short if short.casefold() not in taken else next(one for one in numbered if one.casefold() not in taken)


def grade_colour(grade: str) -> str:
    """A letter's colour; a composite takes that of its better half."""
    return GRADE_COLOURS[grade.split("/")[0] if grade in COMPOSITES else grade]


def _height(words: Sequence[str], width: int) -> float:
    """Of a row in points: a program that shows a workbook does not always find out by itself how often words wrap."""
    return LINE_HEIGHT * max([1, *(-(-len(one) // width) for one in words)])


def _first_page(report: Report) -> list[tuple[str, str]]:
    return [
        (report.title, "title"),
        (lead(report), "wrap"),
        *((words, "strong") for words in report.warnings),
        *((sentence, "wrap") for sentence in report.conclusions),
        (counted(report), "wrap"),
        (
            f"Guildhall {report.version}, study {report.study}, frozen design {report.design_digest[:16]}, "
            f"seed {report.seed}.",
            "wrap",
        ),
    ]


def _laid_out(table: ReportTable) -> tuple[list[str], list[list[Any]]]:
    """Header and rows as they stand on a sheet."""
    spread = [any(isinstance(row[at], Estimate) for row in table.rows) for at in range(len(table.columns))]
    header = [name for column, wide in zip(table.columns, spread, strict=True) for name in _names(column, wide=wide)]
    resting = any(spread)
    rows = []
    for row in table.rows:
        cells: list[Any] = []
        for cell, column, wide in zip(row, table.columns, spread, strict=True):
            cells += _cells(cell, column.form, wide=wide)
        if resting:
            last = next((cell for cell in reversed(row) if isinstance(cell, Estimate)), None)
            cells += [None] * len(RESTS_ON) if last is None else _rests_on(last)
        rows.append(cells)
    return header + (RESTS_ON if resting else []), rows


def _names(column: Column, *, wide: bool) -> list[str]:
    return [column.title, f"{column.title}, low", f"{column.title}, high"] if wide else [column.title]


def _cells(cell: CellValue, form: Form, *, wide: bool) -> list[Any]:
    if isinstance(cell, Estimate):
        return [_number(value, form) for value in (cell.value, *(cell.interval or (None, None)))]
    own = cell if isinstance(cell, str) else _number(cell, form)
    return [own, None, None] if wide else [own]


_KINDS = {"percent": "share", "points": "share", "count": "count", "dollars": "dollars", "grade": "grade"}


def _number(value: float | None, form: Form) -> _Number | None:
    if value is None:
        return None
    return _Number(value, _KINDS.get(form) or ("count" if isinstance(value, int) else "number"))


def _rests_on(estimate: Estimate) -> list[Any]:
    counts = [_number(n, "count") for n in (estimate.n_tasks, estimate.n_judgments)]
    return [*counts, estimate.method, estimate.why_no_interval]
