"""Spreadsheets in one plain house look; inputs blue, formulas black, as analysts expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

FONT = "Calibri"
MONEY = '#,##0.00;(#,##0.00);"-"'
WHOLE = '#,##0;(#,##0);"-"'
PERCENT = "0.0%"
DATE = "mm/dd/yyyy"
_THIN, _HAIR = Side(style="thin", color="1F2A44"), Side(style="hair", color="A0A8B8")


def title(sheet: Any, text: str, *notes: str) -> int:
    """A heading and grey note lines in column A; gives the first free row after a gap."""
    sheet["A1"] = text
    sheet["A1"].font = Font(name=FONT, size=14, bold=True, color="1F2A44")
    for row, note in enumerate(notes, start=2):
        sheet.cell(row, 1, note).font = Font(name=FONT, size=9, italic=True, color="666666")
    return len(notes) + 3


def header(sheet: Any, row: int, labels: Sequence[str], *, column: int = 1) -> int:
    for offset, label in enumerate(labels):
        cell = sheet.cell(row, column + offset, label)
        cell.font = Font(name=FONT, size=10, bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="1F2A44")
        cell.alignment = Alignment(wrap_text=True, vertical="center", horizontal="left" if offset == 0 else "center")
    return row + 1


def put(
    sheet: Any, row: int, values: Sequence[Any], *, column: int = 1, formats: Mapping[int, str] | None = None
) -> int:
    """Write one row; numbers typed in are blue, formulas black. `formats` maps offsets to number formats."""
    for offset, value in enumerate(values):
        cell = sheet.cell(row, column + offset, value)
        typed_in = isinstance(value, int | float) and not isinstance(value, bool)
        cell.font = Font(name=FONT, size=10, color="1F4E9E" if typed_in else "000000")
        words = isinstance(value, str) and not value.startswith("=")
        verdict = isinstance(value, str) and value.startswith("=IF(") and value.endswith('")')
        cell.alignment = Alignment(
            horizontal="left" if words or verdict else None,
            vertical="top",
            wrap_text=words,
            indent=1 if offset and (words or verdict) else 0,
        )
        cell.border = Border(bottom=_HAIR)
        if formats and offset in formats:
            cell.number_format = formats[offset]
    return row + 1


def total(sheet: Any, row: int, *, first: int = 1, last: int) -> None:
    """Make a row read as a total: bold, ruled above, shaded."""
    for column in range(first, last + 1):
        cell = sheet.cell(row, column)
        cell.font = Font(name=FONT, size=10, bold=True)
        cell.border = Border(top=_THIN, bottom=_THIN)
        cell.fill = PatternFill("solid", fgColor="E8ECF4")


def note(sheet: Any, row: int, text: str, *, merge_to: int = 8, height: float | None = None) -> int:
    sheet.merge_cells(start_row=row, start_column=1, end_row=row, end_column=merge_to)
    cell = sheet.cell(row, 1, text)
    cell.font, cell.alignment = Font(name=FONT, size=9.5), Alignment(wrap_text=True, vertical="top")
    if height:
        sheet.row_dimensions[row].height = height
    return row + 1


def section(sheet: Any, row: int, text: str) -> int:
    sheet.cell(row, 1, text).font = Font(name=FONT, size=11, bold=True, color="1F2A44")
    return row + 1


@dataclass
class Calculation:
    """A calculation that grows downward: label, amount, basis; each amount can be named and referred to."""

    page: Any
    row: int
    cells: dict[str, str] = field(default_factory=dict)

    def head(self, label: str) -> None:
        self.row = header(self.page, self.row, [label, "Amount", "Basis"])

    def line(self, name: str, label: str, formula: str, basis: str = "", shape: str = WHOLE) -> None:
        """Add a line; `{name}` in the formula stands for the cell of an earlier line."""
        self.cells[name] = f"B{self.row}"
        self.row = put(self.page, self.row, [label, formula.format(**self.cells), basis], formats={1: shape})

    def close(self, name: str, label: str, formula: str, basis: str = "", shape: str = WHOLE) -> None:
        """Add a line that reads as a total."""
        self.line(name, label, formula, basis, shape)
        total(self.page, self.row - 1, last=3)

    def gap(self) -> None:
        self.row += 1


def lay_out(
    sheet: Any, widths: Sequence[float], *, freeze: str | None = None, landscape: bool = True, one_page: bool = False
) -> None:
    """Column widths, rows tall enough for wrapped words, frozen header, and a page set-up one page wide."""
    for number, width in enumerate(widths):
        sheet.column_dimensions[chr(ord("A") + number)].width = width
    _give_wrapped_rows_room(sheet, widths)
    sheet.freeze_panes = freeze
    sheet.sheet_view.showGridLines = False
    sheet.page_setup.orientation = "landscape" if landscape else "portrait"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_LETTER
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, int(one_page)
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_options.horizontalCentered = True
    sheet.page_margins.left = sheet.page_margins.right = 0.5


def _give_wrapped_rows_room(sheet: Any, widths: Sequence[float]) -> None:
    """Neither openpyxl nor a converter measures wrapped text, so heights are estimated from lengths."""
    for cells in sheet.iter_rows(max_col=len(widths)):
        number = cells[0].row
        wrapped = [
            sum(ceil(max(len(line), 1) * 0.85 / width) for line in cell.value.split("\n"))
            for cell, width in zip(cells, widths, strict=False)
            if isinstance(cell.value, str) and cell.alignment.wrap_text
        ]
        if max(wrapped, default=1) > 1 and sheet.row_dimensions[number].height is None:
            sheet.row_dimensions[number].height = 13.5 * max(wrapped) + 2
