"""Spreadsheets as grids for the screen: stored values by cell, formulas beside them, within what a page can hold."""

from __future__ import annotations

from pathlib import Path

from guildhall.documents.extract.workbooks import SHEETS, Sheet, Workbook
from guildhall.documents.opc import Opc
from guildhall.domain.prepared import Grid, GridSheet
from guildhall.errors import UnreadableFile

MOST_ROWS, MOST_COLUMNS, MOST_SHEETS, LONGEST_CELL = 400, 60, 30, 500


def read_grid(file: Path) -> Grid:
    """Every sheet of a workbook; rows beyond the limit are counted. Called in a room."""
    book = Workbook(Opc(file.read_bytes(), name=file.name, unparsed=SHEETS))
    try:
        return Grid(sheets=tuple(_grid(sheet) for sheet in book.sheets if sheet.holds_cells)[:MOST_SHEETS])
    except (KeyError, ValueError, IndexError) as error:
        raise UnreadableFile(file, f"its sheets cannot be read ({error})") from error


def _grid(sheet: Sheet) -> GridSheet:
    from openpyxl.utils import column_index_from_string, get_column_letter

    kept: list[tuple[int, dict[int, str]]] = []
    written: dict[str, str] = {}
    left_out = 0
    for number, cells in sheet.rows():
        if len(kept) == MOST_ROWS:
            left_out += 1
            continue
        row: dict[int, str] = {}
        for cell in cells:
            column = column_index_from_string(cell.column)
            if column > MOST_COLUMNS:
                continue
            value, formula = sheet.value(cell), sheet.formula(cell)
            row[column] = ("(no stored value)" if value is None else value)[:LONGEST_CELL]
            if formula is not None:
                written[cell.place] = formula[:LONGEST_CELL]
        kept.append((number, row))
    width = max((max(row, default=0) for _, row in kept), default=0)
    return GridSheet(
        name=sheet.name,
        hidden=sheet.hidden,
        columns=tuple(get_column_letter(column) for column in range(1, width + 1)),
        rows=tuple((number, tuple(row.get(column, "") for column in range(1, width + 1))) for number, row in kept),
        formulas=written,
        left_out=left_out,
    )
