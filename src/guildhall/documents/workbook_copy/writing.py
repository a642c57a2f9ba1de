"""Values as a workbook, always by the same writer: the bytes depend on what is said and seen, and on nothing else."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.exceptions import XlsxWriterException

from guildhall.documents.detection import decoded
from guildhall.documents.kinds import Kind
from guildhall.documents.scrub.names import FIXED_MOMENT
from guildhall.documents.values import CopiedWorkbook
from guildhall.documents.workbook_copy.book import (
    LAST_COLUMN,
    LAST_ROW,
    LONGEST_TEXT,
    MOST_CELLS,
    CellContent,
    CopiedBook,
    CopiedCell,
    CopiedSheet,
    ErrorValue,
    Place,
)
from guildhall.documents.workbook_copy.lacking import NotCopied
from guildhall.documents.workbook_copy.looks import PLAIN, Look
from guildhall.documents.workbook_copy.reading import read_book
from guildhall.errors import UnreadableFile

USUAL_WIDTH = 12
"""Letters a column shows where nobody chose a width: wide enough for a date or an amount."""
_SETTINGS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_TRUSTED_ERRORS = frozenset({"#DIV/0!", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})
"""Errors that a formula has wherever it is computed; `#NAME?` and `#N/A` may be LibreOffice's own."""


def write_copy(file: Path, out: Path, *, kind: str, calculated: Path | None = None) -> CopiedWorkbook:
    """The copy as `out/copy.xlsx`; with what LibreOffice calculated of it, formulas carry these values."""
    missing = NotCopied()
    if Kind(kind) in (Kind.CSV, Kind.TSV):
        book = read_table(file, missing)
    else:
        book = read_book(file.read_bytes(), name=file.name, missing=missing)
    target = out / "copy.xlsx"
    try:
        _write(book, target, None if calculated is None else _stored_values(calculated), missing)
    except XlsxWriterException as error:
        raise UnreadableFile(file.name, f"cannot be copied ({error})") from error
    live = any(cell.formula for sheet in book.sheets for cell in sheet.cells.values())
    return CopiedWorkbook(out=target, not_copied=missing.listed(), kept_hidden=_hidden(book), formulas=live)


def read_table(file: Path, missing: NotCopied) -> CopiedBook:
    """Text in columns as one sheet; only what reads back as the same words becomes a number."""
    data = file.read_bytes()
    text = decoded(data)
    text = data.decode("utf-8", "replace") if text is None else text
    head = text[:10_000].partition("\n")[0]
    mark = max(",;\t|", key=head.count)
    sheet = CopiedSheet("Sheet1")
    limit = csv.field_size_limit(LONGEST_TEXT * 64)
    try:
        for row, fields in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=mark), start=1):
            if row > LAST_ROW or len(fields) > LAST_COLUMN or len(sheet.cells) > MOST_CELLS:
                raise UnreadableFile(file.name, f"has more than {MOST_CELLS} cells or more than a sheet can hold")
            for column, words in enumerate(fields, start=1):
                if words:
                    sheet.cells[row, column] = CopiedCell(_number_or_words(words))
    except csv.Error as error:
        raise UnreadableFile(file.name, f"is no table ({error})") from error
    finally:
        csv.field_size_limit(limit)
    missing.add("way of writing separators, quotes and line ends")
    return CopiedBook([sheet])


def _number_or_words(words: str) -> CellContent:
    plain = words.removeprefix("-")
    if plain.isascii() and plain.replace(".", "", 1).isdigit() and len(plain) < 16:
        number = float(words)
        if plain == "0" or not plain.startswith("0") or plain.startswith("0."):
            return number
    return words.replace("\r\n", "\n").replace("\r", "\n")


def _hidden(book: CopiedBook) -> tuple[str, ...]:
    said = [f"sheet '{sheet.name}' is hidden" for sheet in book.sheets if sheet.hidden]
    for sheet in book.sheets:
        for what, count in (("row", len(sheet.hidden_rows)), ("column", len(sheet.hidden_columns))):
            if count:
                said.append(f"{count} hidden {what}{'s' * (count != 1)} on sheet '{sheet.name}'")
    return tuple(said)


def _write(
    book: CopiedBook, target: Path, calculated: Sequence[Mapping[Place, CellContent]] | None, missing: NotCopied
) -> None:
    made = xlsxwriter.Workbook(str(target), {**_SETTINGS, "date_1904": book.since_1904})
    made.set_properties({"created": FIXED_MOMENT})
    sheets = [made.add_worksheet(sheet.name) for sheet in book.sheets]
    for name, meaning in book.names:
        made.define_name(name, f"={meaning}")
    form = _formats(made)
    shown = next((at for at, sheet in enumerate(book.sheets) if not sheet.hidden), 0)
    for at, (sheet, page) in enumerate(zip(book.sheets, sheets, strict=True)):
        stored = None if calculated is None else calculated[at] if at < len(calculated) else {}
        _fill(sheet, page, form, stored, missing)
        if at == shown:
            page.activate()
            page.set_first_sheet()
        elif sheet.hidden:
            page.very_hidden() if sheet.hidden == "veryHidden" else page.hide()
    made.close()


def _fill(
    sheet: CopiedSheet, page: Any, form: Callable[[Look], Any], stored: Mapping[Place, CellContent] | None,
    missing: NotCopied,
) -> None:  # fmt: skip
    """Everything of one sheet; without stored values it is a draft, for LibreOffice to calculate."""
    _frame(sheet, page)
    for box in sheet.merged:
        top, left, bottom, right = (number - 1 for number in box)
        page.merge_range(top, left, bottom, right, "", form(sheet.cells[box[:2]].look))
    values = stored or {}
    arrays = _inside_arrays(sheet)
    for place in sorted(sheet.cells.keys() - arrays):
        _cell(page, place, sheet.cells[place], form, values, draft=stored is None, missing=missing)
    for place in sorted(arrays):  # after their formulas, which fill them with zeros
        calm = CopiedCell(values.get(place), look=sheet.cells.get(place, CopiedCell()).look)
        _cell(page, place, calm, form, values, draft=False, missing=missing)
    for (row, column), words in sorted(sheet.notes.items()):
        page.write_comment(row - 1, column - 1, "\n".join(words)[:LONGEST_TEXT])


def _formats(made: Any) -> Callable[[Look], Any]:
    """Formats numbered in the order in which they are first asked for."""
    known: dict[Look, Any] = {PLAIN: None}
    by_identity: dict[int, Any] = {}  # looks are shared by many cells, and hashing one takes its time

    def form(look: Look) -> Any:
        if id(look) not in by_identity:
            if look not in known:
                known[look] = made.add_format(look.for_writing())
            by_identity[id(look)] = known[look]
        return by_identity[id(look)]

    return form


def _inside_arrays(sheet: CopiedSheet) -> set[Place]:
    """Cells that a formula over several cells fills; a formula that claims too many keeps to its own cell."""
    inside: set[Place] = set()
    for place, cell in list(sheet.cells.items()):
        if not cell.array:
            continue
        top, left, bottom, right = cell.array
        size = (bottom - top + 1) * (right - left + 1)
        if (top, left) != place or size > 10_000 or len(inside) + size > MOST_CELLS:
            cell.array = (*place, *place)
            continue
        inside |= {(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)} - {place}
    return inside


def _frame(sheet: CopiedSheet, page: Any) -> None:
    page.set_column(0, LAST_COLUMN - 1, USUAL_WIDTH)
    for column in sorted(sheet.widths.keys() | sheet.hidden_columns):
        hidden = {"hidden": True} if column in sheet.hidden_columns else {}
        page.set_column(column - 1, column - 1, sheet.widths.get(column, USUAL_WIDTH), None, hidden)
    for row in sorted(sheet.heights.keys() | sheet.hidden_rows):
        page.set_row(row - 1, sheet.heights.get(row), None, {"hidden": True} if row in sheet.hidden_rows else {})
    if sheet.rows_start_hidden:
        page.set_default_row(hide_unused_rows=True)
    if sheet.frozen and any(sheet.frozen):
        page.freeze_panes(*sheet.frozen)
    if sheet.tab:
        page.set_tab_color(f"#{sheet.tab}")
    if not sheet.gridlines:
        page.hide_gridlines(2)
    if sheet.from_right:
        page.right_to_left()


def _cell(
    page: Any, place: Place, cell: CopiedCell, form: Callable[[Look], Any], values: Mapping[Place, CellContent], *,
    draft: bool, missing: NotCopied,
) -> None:  # fmt: skip
    row, column, look = place[0] - 1, place[1] - 1, form(cell.look)
    if cell.formula:
        formula = "NA()" if draft and cell.volatile else cell.formula  # so that all that rests on it is an error, too
        value = "" if cell.volatile else _trusted(values.get(place))
        if cell.array:
            top, left, bottom, right = (number - 1 for number in cell.array)
            page.write_array_formula(top, left, bottom, right, f"={formula}", look, value)
        else:
            page.write_formula(row, column, f"={formula}", look, value)
        return
    match cell.value:
        case None | "":
            page.write_blank(row, column, None, look)
        case bool():
            page.write_boolean(row, column, cell.value, look)
        case float():
            page.write_number(row, column, cell.value, look)
        case ErrorValue():
            page.write_formula(row, column, f"={cell.value.code}", look, cell.value.code)
        case str():
            if len(cell.value) > LONGEST_TEXT:
                missing.add("text longer than a cell can hold, cut|texts longer than a cell can hold, cut")
            page.write_string(row, column, cell.value[:LONGEST_TEXT], look)


def _trusted(value: CellContent | None) -> str | float | bool:
    """A stored value that every program would store; nothing where it may be LibreOffice's alone."""
    if isinstance(value, ErrorValue):
        return value.code if value.code in _TRUSTED_ERRORS else ""
    return "" if value is None else value


def _stored_values(file: Path) -> list[dict[Place, CellContent]]:
    """What a workbook of ours stores for its cells, once LibreOffice has calculated it."""
    return [
        {at: cell.value for at, cell in sheet.cells.items() if cell.value is not None}
        for sheet in read_book(file.read_bytes(), name=file.name, missing=NotCopied()).sheets
    ]
