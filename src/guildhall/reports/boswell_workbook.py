"""The seed's workbook of a Boswell run: a sheet of grades received, one of grades given, one of all other tables.

A colour for each letter, the raw number beside it, own marks framed and italic, medians, the raw average in blue and
bold, a row of bias, a legend; panes frozen so that names stay in sight.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from guildhall.analysis.boswell.grade_tables import GradeCell, Tables
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.domain.grades import LETTERS, NO_GRADE, mean
from guildhall.domain.report import Section
from guildhall.reports.chapters.boswell_marks import short_names
from guildhall.reports.chapters.boswell_ranking import or_zero
from guildhall.reports.number_format import shown
from guildhall.reports.workbook import GRADE_COLOURS, SheetPen, grade_colour

_BLUE = "#DDEBF7"
_PINK = "#FCE4E4"
_ON_OWN_SHEET = ("grades-received", "grades-given")


def cross_grading_workbook(found: RunFigures, sections: Sequence[Section]) -> bytes:
    """The cross-grading workbook of a run."""
    import xlsxwriter

    out = io.BytesIO()
    # Text is never taken for a formula or a link: names and grades come from outside.
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        created = found.run.started_at.replace(tzinfo=None)
        book.set_properties({"title": f"Boswell Test {found.run.run}", "created": created})
        styles = _Styles(book)
        for name, fill in {"Received": _received, "Given": _given}.items():
            sheet = book.add_worksheet(name)
            sheet.set_landscape()
            sheet.fit_to_pages(1, 0)
            fill(sheet, styles, found)
        SheetPen(book).sections("Statistics", [one for one in sections if one.name not in _ON_OWN_SHEET])
    return out.getvalue()


def _grade(value: float | None, found: RunFigures) -> str:
    """A median as the seed shows it: `A- (3.75)`, and what it shows where there is none."""
    return shown(or_zero(value, found), "grade").value


class _Styles:
    """GradeCell formats, each made once."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[tuple[str, Any], ...], Any] = {}

    def get(self, **properties: Any) -> Any:
        base = {"font_name": "Calibri", "font_size": 11, "valign": "vcenter"}
        key = tuple(sorted((base | properties).items()))
        if key not in self._made:
            self._made[key] = self._book.add_format(dict(key))
        return self._made[key]

    def grade(self, cell: GradeCell) -> Any:
        own = {"italic": True, "bold": True, "border": 2, "border_color": "#7030A0"} if cell.own else {"border": 1}
        return self.get(align="center", bg_color=grade_colour(cell.grade), **({"border_color": "#BFBFBF"} | own))

    @property
    def head(self) -> Any:
        return self.get(bold=True, bg_color="#404040", font_color="#FFFFFF", align="center", text_wrap=True, border=1)

    @property
    def name(self) -> Any:
        return self.get(bold=True, border=1, border_color="#BFBFBF")

    @property
    def median(self) -> Any:
        return self.get(bold=True, align="center", border=1, border_color="#BFBFBF", bg_color="#F2F2F2")

    @property
    def average(self) -> Any:
        blue = {"bg_color": _BLUE, "font_color": "#1F4E79", "num_format": "0.00"}
        return self.get(bold=True, align="center", border=1, border_color="#BFBFBF", **blue)


def _cell_text(cell: GradeCell) -> str:
    return NO_GRADE if cell.value is None else f"{cell.grade} ({cell.value:.2f})"


def _received(sheet: Any, styles: _Styles, found: RunFigures) -> None:
    """Rows are authors, columns are graders."""
    tables = found.tables
    short = short_names(tables.graders)
    tail = ["Median Grade", "Raw Numeric Average", "Rank"]
    _headings(
        sheet, styles, "Author received from", [short[g] for g in tables.graders] + tail, wide=len(tables.graders)
    )
    for row, author in enumerate(tables.authors, 1):
        sheet.write_string(row, 0, author, styles.name)
        for column, grader in enumerate(tables.graders, 1):
            _grade_cell(sheet, styles, row, column, tables, author=author, grader=grader)
        at = len(tables.graders) + 1
        middle, average = tables.median_received(author), tables.average_received(author)
        sheet.write_string(row, at, _grade(middle, found), styles.median)
        _number(sheet, row, at + 1, average, styles.average)
        ranks = [scores.rank for scores in found.quotients.scores if scores.model == author]
        _number(sheet, row, at + 2, ranks[0] if ranks else None, styles.median)
    _footer(sheet, styles, found, len(tables.authors) + 1)
    _legend(sheet, styles, len(tables.authors) + 6, short)


def _footer(sheet: Any, styles: _Styles, found: RunFigures, row: int) -> None:
    """Column medians, grading bias, and the count of marks without a grade where there are any."""
    tables = found.tables
    lines = ["Column Medians (given)", "Grading Bias"] + (["N/A count"] if tables.unread else [])
    pink = styles.get(align="center", text_wrap=True, bg_color=_PINK, border=1, border_color="#BFBFBF", font_size=9)
    for offset, name in enumerate(lines):
        sheet.write_string(row + offset, 0, name, styles.name)
        sheet.set_row(row + offset, 30 if name == "Grading Bias" else None)
    for column, grader in enumerate(tables.graders, 1):
        middle = _grade(tables.median_given(grader), found)
        sheet.write_string(row, column, middle, styles.median)
        sheet.write_string(row + 1, column, tables.bias.graders[grader].label, pink)
        if tables.unread:
            sheet.write_number(row + 2, column, tables.unread_by_grader[grader], styles.median)


def _given(sheet: Any, styles: _Styles, found: RunFigures) -> None:
    """Rows are graders, columns are authors."""
    tables = found.tables
    short = short_names(tables.authors)
    tail = ["Median Given", "Raw Average Given", "Bias"]
    _headings(sheet, styles, "Grader gave to", [short[a] for a in tables.authors] + tail, wide=len(tables.authors))
    for row, grader in enumerate(tables.graders, 1):
        sheet.write_string(row, 0, grader, styles.name)
        for column, author in enumerate(tables.authors, 1):
            _grade_cell(sheet, styles, row, column, tables, author=author, grader=grader)
        at = len(tables.authors) + 1
        sheet.write_string(row, at, _grade(tables.median_given(grader), found), styles.median)
        _number(sheet, row, at + 1, mean(tables.given(grader)), styles.average)
        sheet.write_string(row, at + 2, tables.bias.graders[grader].label, styles.median)
    sheet.set_column(len(tables.authors) + 3, len(tables.authors) + 3, 24)
    _legend(sheet, styles, len(tables.graders) + 3, short)


def _headings(sheet: Any, styles: _Styles, corner: str, names: list[str], *, wide: int) -> None:
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, wide, 12)
    sheet.set_column(wide + 1, wide + 3, 15)
    sheet.set_row(0, 32)
    sheet.write_string(0, 0, corner, styles.head)
    for column, name in enumerate(names, 1):
        sheet.write_string(0, column, name, styles.head)
    sheet.freeze_panes(1, 1)


def _grade_cell(
    sheet: Any, styles: _Styles, row: int, column: int, tables: Tables, *, author: str, grader: str
) -> None:
    cell = tables.cell(author=author, grader=grader)
    if cell.asked:
        sheet.write_string(row, column, _cell_text(cell), styles.grade(cell))


def _number(sheet: Any, row: int, column: int, value: float | None, style: Any) -> None:
    if value is None:
        sheet.write_blank(row, column, None, style)
    else:
        sheet.write_number(row, column, value, style)


def _legend(sheet: Any, styles: _Styles, row: int, short: dict[str, str]) -> None:
    sheet.write_string(row, 0, "Legend", styles.get(bold=True))
    for offset, grade in enumerate((*LETTERS, NO_GRADE), 1):
        style = styles.get(align="center", bg_color=GRADE_COLOURS[grade], border=1, border_color="#BFBFBF")
        sheet.write_string(row, offset, grade, style)
    own = styles.get(italic=True, bold=True, border=2, border_color="#7030A0", align="center")
    sheet.write_string(row + 1, 1, "own mark", own)
    changed = [(name, model) for model, name in short.items() if name != model]
    for offset, (name, model) in enumerate(changed):
        sheet.write_string(row + 3 + offset, 0, f"{name} = {model}", styles.get(font_color="#595959"))
