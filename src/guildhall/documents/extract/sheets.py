"""Spreadsheets as text: every sheet and every filled cell, formulas beside the values the file stores."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any

from guildhall.documents.extract.writing import Writer, table_row
from guildhall.documents.opc import Opc
from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.xmltrees import local
from guildhall.errors import UnreadableFile

Facts = dict[str, "str | int | float | bool | None"]
_MOST_ROWS_LOOKED_AT = 1_100_000


def extract_sheets(data: bytes, package: Opc, writer: Writer) -> Facts:
    """Write all sheets; the facts count sheets, rows, cells and formulas, also of what the budget left out."""
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    totals: Facts = {"sheets": 0, "rows": 0, "cells": 0, "formulas": 0, "formulas without stored value": 0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            formulas = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False, keep_links=False)
            values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            for name in formulas.sheetnames:
                _write_sheet(formulas[name], values[name], writer, totals)
    except (InvalidFileException, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise UnreadableFile(package.name, f"its sheets cannot be read ({error})") from error
    _write_comments(package, writer)
    _write_charts(package, writer)
    return totals


def _write_sheet(formulas: Any, values: Any, writer: Writer, totals: Facts) -> None:
    hidden = "" if getattr(formulas, "sheet_state", "visible") == "visible" else " (hidden)"
    writer.add(f"## Sheet: {formulas.title}{hidden}", unit="sheets")
    _count(totals, "sheets")
    if not hasattr(formulas, "iter_rows"):
        writer.add("(a sheet that holds only a chart)")
        return
    for number, shown in filled_rows(formulas, values):
        _count(totals, "rows")
        _count(totals, "cells", len(shown))
        _count(totals, "formulas", sum(text.startswith("=") for text in shown.values()))
        _count(totals, "formulas without stored value", sum(text.endswith(_NO_VALUE) for text in shown.values()))
        writer.add(table_row([f"row {number}", *(f"{column}: {text}" for column, text in shown.items())]), unit="rows")


_NO_VALUE = "-> (no stored value)"


def filled_rows(formulas: Any, values: Any) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows that hold something: their number, and by column letter the text or `=formula -> stored value`."""
    for sheet in (formulas, values):
        sheet.reset_dimensions()
    rows = zip_longest(formulas.iter_rows(max_row=_MOST_ROWS_LOOKED_AT), values.iter_rows(max_row=_MOST_ROWS_LOOKED_AT))
    for number, (formula_row, value_row) in enumerate(rows, start=1):
        stored = {cell.column: cell.value for cell in value_row or () if cell.value is not None}
        shown = dict(_shown_cells(formula_row or (), stored))
        if shown:
            yield number, shown


def _shown_cells(row: Iterable[Any], stored: dict[int, Any]) -> Iterator[tuple[str, str]]:
    for cell in row:
        content = cell.value
        if content is None:
            continue
        text = getattr(content, "text", None) or getattr(content, "ref", None) if _is_array(content) else content
        if isinstance(text, str) and (cell.data_type == "f" or text.startswith("=")):
            value = stored.get(cell.column)
            yield cell.column_letter, f"{text} -> {_plain(value)}" if value is not None else f"{text} {_NO_VALUE}"
        else:
            yield cell.column_letter, _plain(text)


def _is_array(content: Any) -> bool:
    return type(content).__name__ in ("ArrayFormula", "DataTableFormula")


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if not isinstance(value, timedelta) else f"{value.total_seconds():g} s"


def _count(totals: Facts, name: str, by: int = 1) -> None:
    totals[name] = int(totals[name] or 0) + by


def _write_comments(package: Opc, writer: Writer) -> None:
    people = Ledger()
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


def _write_charts(package: Opc, writer: Writer) -> None:
    for part, tree in package.trees():
        if "/charts/chart" in part:
            for line in chart_lines(tree):
                writer.add(line, unit="chart lines")


def chart_lines(tree: Any) -> Iterator[str]:
    """A chart as words: its title, and each series with the values the file stores for it."""
    titles = ["".join(text.text or "" for text in title.iter("{*}t")) for title in tree.iter("{*}title")]
    yield f"Chart: {' / '.join(filter(None, titles)) or 'no title'}"
    for series in tree.iter("{*}ser"):
        name = _cached(series, "tx") or ["unnamed"]
        categories, numbers = _cached(series, "cat"), _cached(series, "val") or _cached(series, "yVal")
        pairs = zip_longest(categories, numbers, fillvalue="") if categories else ((number,) for number in numbers)
        yield f"  series {name[0]}: " + ", ".join(" = ".join(filter(None, pair)) for pair in pairs)


def _cached(series: Any, part: str) -> list[str]:
    holder = next((child for child in series if local(child.tag) == part), None)
    if holder is None:
        return []
    return [value.text or "" for value in holder.iter("{*}v")]
