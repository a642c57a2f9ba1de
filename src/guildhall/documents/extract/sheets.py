"""Spreadsheets as text and as grids for the screen: every filled cell, formulas beside the values the file stores.

openpyxl is imported where it is used: it takes a tenth of a second, and rooms look at few workbooks.
"""

from __future__ import annotations

from pathlib import Path

from guildhall.documents.extract.graphics import paragraphs, write_graphics
from guildhall.documents.extract.workbooks import SHEETS, Sheet, SheetCell, Workbook
from guildhall.documents.extract.writing import Facts, FileToRead, Writer, table_row
from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.documents.xmltrees import local
from guildhall.domain.prepared import Grid, GridSheet
from guildhall.errors import UnreadableFile


def extract_sheets(file: FileToRead, writer: Writer) -> Facts:
    """Write all sheets; the facts count sheets, rows, cells and formulas, also of what the budget left out."""
    package = Opc(file.data(), name=file.name, unparsed=SHEETS)
    totals: Facts = {"sheets": 0, "rows": 0, "cells": 0, "formulas": 0, "formulas without stored value": 0}
    cells = package if file.copy is None else Opc(file.copy.read_bytes(), name=file.name, unparsed=SHEETS)
    try:
        for sheet in Workbook(cells).sheets:
            _write_sheet(sheet, writer, totals)
    except (KeyError, ValueError, IndexError) as error:
        raise UnreadableFile(file.name, f"its sheets cannot be read ({error})") from error
    _write_comments(package, writer)
    _write_text_boxes(package, writer)
    write_graphics(package, writer)
    return totals


def _write_sheet(sheet: Sheet, writer: Writer, totals: Facts) -> None:
    writer.add(f"## Sheet: {sheet.name}{' (hidden)' if sheet.hidden else ''}", unit="sheets")
    _count(totals, "sheets")
    if not sheet.holds_cells:
        writer.add("(a sheet that holds only a chart)")
        return
    for number, cells in sheet.rows():
        formulas = [cell for cell in cells if cell.formula is not None]
        _count(totals, "rows")
        _count(totals, "cells", len(cells))
        _count(totals, "formulas", len(formulas))
        _count(totals, "formulas without stored value", sum(cell.value is None for cell in formulas))
        shown = [] if writer.full else [f"{cell.column}: {_shown(sheet, cell)}" for cell in cells]
        writer.add(table_row([f"row {number}", *shown]), unit="rows")


def _shown(sheet: Sheet, cell: SheetCell) -> str:
    """The text or number, or `=formula -> stored value`."""
    formula, value = sheet.formula(cell), sheet.value(cell)
    if formula is None:
        return value or ""
    return f"{formula} -> {'(no stored value)' if value is None else value}"


def _count(totals: Facts, name: str, by: int = 1) -> None:
    totals[name] = int(totals[name] or 0) + by


def _write_comments(package: Opc, writer: Writer) -> None:
    people = ScrubLedger()
    for part, tree in package.trees():
        if local(tree.tag) == "comments" and "xl/" in part:
            names = [author.text or "" for author in tree.iter("{*}author")]
            for comment in tree.iter("{*}comment"):
                words = "".join(text.text or "" for text in comment.iter("{*}t"))
                index = int(comment.get("authorId", "0"))
                person = names[index] if index < len(names) else ""
                alias = people.alias(person or "unknown")
                writer.add(
                    f"Comment at {comment.get('ref')}: {alias}: {words.removeprefix(f'{person}:').strip()}",
                    unit="comments",
                )


def _write_text_boxes(package: Opc, writer: Writer) -> None:
    for part, tree in package.trees():
        for shape in tree.iter("{*}sp") if "/drawings/drawing" in part else ():
            for words in paragraphs(shape):
                writer.add(f"Text box: {words}", unit="text boxes")


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
