"""Spreadsheets as grids for the screen: stored values by cell, formulas beside them, within what a page can hold."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from guildhall.documents.extract.sheets import filled_rows
from guildhall.domain.prepared import Grid, GridSheet
from guildhall.errors import UnreadableFile

MOST_ROWS, MOST_COLUMNS, MOST_SHEETS, LONGEST_CELL = 400, 60, 30, 500


def read_grid(file: Path, out: Path) -> Grid:  # noqa: ARG001 - nothing to write
    """Every sheet of a workbook; rows beyond the limit are counted. Called in a room of its own."""
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            formulas = openpyxl.load_workbook(file, read_only=True, data_only=False, keep_links=False)
            values = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            names = [name for name in formulas.sheetnames if hasattr(formulas[name], "iter_rows")][:MOST_SHEETS]
            return Grid(sheets=tuple(_sheet(formulas[name], values[name]) for name in names))
    except (InvalidFileException, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise UnreadableFile(file, f"its sheets cannot be read ({error})") from error


def _sheet(formulas: Any, values: Any) -> GridSheet:
    from openpyxl.utils import column_index_from_string, get_column_letter

    kept: list[tuple[int, dict[int, str]]] = []
    written: dict[str, str] = {}
    left_out = 0
    for number, shown in filled_rows(formulas, values):
        if len(kept) == MOST_ROWS:
            left_out += 1
            continue
        row: dict[int, str] = {}
        for letter, text in shown.items():
            column = column_index_from_string(letter)
            if column > MOST_COLUMNS:
                continue
            formula, arrow, value = text.rpartition(" -> ") if text.startswith("=") else ("", "", text)
            row[column] = value[:LONGEST_CELL]
            if arrow:
                written[f"{letter}{number}"] = formula[:LONGEST_CELL]
        kept.append((number, row))
    width = max((max(row, default=0) for _, row in kept), default=0)
    return GridSheet(
        name=formulas.title,
        hidden=getattr(formulas, "sheet_state", "visible") != "visible",
        columns=tuple(get_column_letter(column) for column in range(1, width + 1)),
        rows=tuple((number, tuple(row.get(column, "") for column in range(1, width + 1))) for number, row in kept),
        formulas=written,
        left_out=left_out,
    )
