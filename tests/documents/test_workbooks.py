"""Workbooks are read as the library that makes them reads them, faster and in one pass."""

from __future__ import annotations

import warnings
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from guildhall.documents.extract import sheets
from guildhall.documents.extract.workbooks import SHEETS, Workbook
from guildhall.documents.opc import Opc
from tests.documents.hostile_parts import xlsx

Cells = dict[tuple[str, str], tuple[str | None, str | None]]


def ours(path: Path) -> Cells:
    book = Workbook(Opc(path.read_bytes(), name=path.name, unparsed=SHEETS))
    return {
        (sheet.name, cell.place): (sheet.formula(cell), sheet.value(cell))
        for sheet in book.sheets
        if sheet.holds_cells
        for _, cells in sheet.rows()
        for cell in cells
    }


def by_openpyxl(path: Path) -> Cells:
    """Formula and stored value of each cell, from two slow readings."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formulas = openpyxl.load_workbook(path, data_only=False)
        values = openpyxl.load_workbook(path, data_only=True)
    found: Cells = {}
    for sheet in formulas.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                written, stored = cell.value, values[sheet.title][cell.coordinate].value
                formula: Any = getattr(written, "text", written) if cell.data_type == "f" else None
                if formula is not None or stored is not None:
                    found[sheet.title, cell.coordinate] = (formula, plain(stored))
    return found


def plain(value: Any) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).upper()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return f"{value.total_seconds():g} s"
        case float() if value.is_integer() and value < 1e15:
            return str(int(value))
    return str(value)


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    from openpyxl import Workbook as Made
    from openpyxl.worksheet.formula import ArrayFormula

    book = Made()
    sheet = book.active
    assert sheet is not None
    noon = datetime(2024, 5, 6, 12, 8, 9)  # noqa: DTZ001 - workbooks know no time zones
    sheet.append(["words", 1, 2.5, True, date(2024, 5, 6), noon, time(3, 4)])
    sheet.append([None, "=B1*2", "=SUM(B1:C1)", " kept ", "#N/A", timedelta(hours=30), 1e20])
    sheet["H9"] = ArrayFormula("H9:H10", "=B1:B2*2")
    book.create_sheet("Second")["C3"] = "é < & >"
    book.save(tmp_path / "varied.xlsx")
    return tmp_path / "varied.xlsx"


def test_every_cell_is_read_as_openpyxl_reads_it(varied: Path) -> None:
    assert ours(varied) == by_openpyxl(varied)


def test_real_workbooks_are_read_as_openpyxl_reads_them(realdata: Path) -> None:
    files = sorted((realdata / "gdpval" / "authentic_files").rglob("*.xlsx"))
    small = [file for file in files if file.stat().st_size < 200_000][:6]
    assert small
    for file in small:
        assert ours(file) == by_openpyxl(file), file.name


def test_shared_formulas_and_unnumbered_cells_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "shared.xlsx"
    shared = '<f t="shared" ref="C1:C3" si="0">A1+$B$1</f>'
    first = f"<row><c><v>1</v></c><c><v>2</v></c><c>{shared}<v>3</v></c></row>"
    then = '<row r="3"><c r="A3"><v>5</v></c><c r="C3"><f t="shared" si="0"/></c></row>'
    path.write_bytes(xlsx(first + then))
    found = ours(path)
    assert found["S", "C1"] == ("=A1+$B$1", "3")
    assert found["S", "C3"] == ("=A3+$B$1", None)
    assert found["S", "B1"] == (None, "2")


def test_a_sheet_that_holds_only_a_chart_is_told_apart(tmp_path: Path) -> None:
    from openpyxl import Workbook as Made

    book = Made()
    book.create_chartsheet("Only a chart")
    book.save(tmp_path / "chart.xlsx")
    found = Workbook(Opc((tmp_path / "chart.xlsx").read_bytes(), name="chart.xlsx", unparsed=SHEETS)).sheets
    assert [(sheet.name, sheet.holds_cells) for sheet in found] == [("Sheet", True), ("Only a chart", False)]


def test_dates_count_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    from openpyxl import Workbook as Made
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book = Made()
    book.epoch = CALENDAR_MAC_1904
    assert book.active is not None
    book.active["A1"] = date(2024, 5, 6)
    book.save(tmp_path / "mac.xlsx")
    assert ours(tmp_path / "mac.xlsx") == {("Sheet", "A1"): (None, "2024-05-06")}


def test_a_grid_shows_values_keeps_formulas_beside_them_and_counts_what_it_leaves_out(
    varied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_ROWS", 2)
    first, second = sheets.read_grid(varied).sheets
    assert (first.name, first.left_out, second.left_out) == ("Sheet", 1, 0)
    assert first.rows[0][1][:5] == ("words", "1", "2.5", "TRUE", "2024-05-06")
    assert first.formulas == {"B2": "=B1*2", "C2": "=SUM(B1:C1)"}
    assert second.columns == ("A", "B", "C")
