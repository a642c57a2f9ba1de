"""Tables as Markdown and as CSV that a spreadsheet cannot take for formulas."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

from guildhall.analysis.tables import Table


def text_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A Markdown table, with the blank line after it."""

    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line("---" for _ in header), *(line(row) for row in rows), ""]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV that a spreadsheet cannot take for formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue()


def _harmless(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell


def rows_csv(table: Table) -> str:
    """Rows of a task and a model as a file that `guildhall analyze savings` reads."""
    words = {name: table.coded(name) for name in ("task", "model")}
    numbers = {name: table.numbers(name).tolist() for name in table.columns if name not in words}
    named = [[column.names[code] for code in column.codes.tolist()] for column in words.values()]
    known = [["" if math.isnan(value) else value for value in cells] for cells in numbers.values()]
    return csv_text([*words, *numbers], zip(*named, *known, strict=True))
