"""The analysis behind the deck: cleaned appointments and tables that count them with live formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment

from sample_bank import finish, sheet
from sample_bank.clinic_no_shows.reference import BANDS, CLINIC, CLOSED, Appointment


def write(path: Path, rows: list[Appointment]) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Summary"
    last = _fill_data(book.create_sheet("Data"), rows)
    _fill_summary(summary, last)
    finish.save_workbook(book, path, title="Lost visits, January to February 2026", author=CLINIC)


def _fill_data(page: Any, rows: list[Appointment]) -> int:
    """Every exported row with the reason it is left out, if it is; gives the last row number."""
    labels = ["Appt", "Patient", "Provider", "Type", "Booked", "Date", "Reminder", "Status", "Lead days", "Band", "Use"]
    row = sheet.header(page, 1, labels)
    seen: set[str] = set()
    bands = f'=IF(I{{0}}<={BANDS[0][2]},"{BANDS[0][0]}",IF(I{{0}}<={BANDS[1][2]},"{BANDS[1][0]}","{BANDS[2][0]}"))'
    for one in rows:
        use = "yes"
        if one.appt_id in seen:
            use = "repeat"
        elif one.patient_id.startswith("ZZTEST"):
            use = "test patient"
        elif one.appt_date == CLOSED:
            use = "closed day"
        seen.add(one.appt_id)
        values = [
            one.appt_id,
            one.patient_id,
            one.provider,
            one.visit_type,
            one.booked_on,
            one.appt_date,
            one.reminder,
            one.status,
        ]
        for column, value in enumerate([*values, f"=F{row}-E{row}", bands.format(row), use], start=1):
            cell = page.cell(row, column, value)
            if column in {5, 6}:
                cell.number_format = sheet.DATE
            elif column == 9:
                cell.number_format = "0"
            else:
                cell.alignment = Alignment(horizontal="left", indent=1)
        row += 1
    sheet.lay_out(page, [9, 10, 16, 13, 12, 12, 10, 16, 10, 11, 13], freeze="A2")
    page.auto_filter.ref = f"A1:K{row - 1}"
    page.print_title_rows = "1:1"
    return row - 1


def _count(last: int, *conditions: tuple[str, str]) -> str:
    parts = [
        f'Data!$K$2:$K${last},"yes"',
        *(f"Data!${column}$2:${column}${last},{value}" for column, value in conditions),
    ]
    return f"COUNTIFS({','.join(parts)})"


def _lost(last: int, *conditions: tuple[str, str]) -> str:
    return "+".join(_count(last, *conditions, ("H", f'"{status}"')) for status in ("no_show", "late_cancel"))


def _fill_summary(page: Any, last: int) -> None:
    row = sheet.title(
        page,
        f"{CLINIC}: lost visits, January 5 to February 27, 2026",
        "Lost = no_show + late_cancel; rate = lost / (completed + lost); counts are live formulas over the Data sheet",
    )
    row = sheet.header(page, row, ["From export to measure", "Rows"])
    first = row
    for label, use in (
        ("Usable rows", "yes"),
        ("Repeated rows left out", "repeat"),
        ("Test patients left out", "test patient"),
        ("Closed day left out (January 26)", "closed day"),
    ):
        row = sheet.put(page, row, [label, f'=COUNTIF(Data!$K$2:$K${last},"{use}")'], formats={1: sheet.WHOLE})
    sheet.put(page, row, ["Rows in the export", f"=SUM(B{first}:B{row - 1})"], formats={1: sheet.WHOLE})
    sheet.total(page, row, last=2)
    row = _rates(page, row + 2, last, "Lead time", [(name, (("J", f'"{name}"'),)) for name, *_ in BANDS])
    paired = [
        (f"{name}, {kind}", (("J", f'"{name}"'), ("G", f'"{kind}"'))) for name, *_ in BANDS for kind in ("none", "text")
    ]
    row = _rates(page, row, last, "Lead time and reminder", paired)
    row = _rates(
        page,
        row,
        last,
        "Visit type",
        [(kind, (("D", f'"{kind}"'),)) for kind in ("follow-up", "new patient", "annual")],
    )
    sheet.lay_out(page, [40, 12, 12, 12, 12], landscape=False)


def _rates(page: Any, row: int, last: int, label: str, groups: list[tuple[str, tuple[tuple[str, str], ...]]]) -> int:
    first = row = sheet.header(page, row, [label, "Completed", "Lost", "Counted", "Rate"])
    formats = {1: sheet.WHOLE, 2: sheet.WHOLE, 3: sheet.WHOLE, 4: sheet.PERCENT}
    for name, conditions in groups:
        completed = f"={_count(last, *conditions, ('H', chr(34) + 'completed' + chr(34)))}"
        values = [name, completed, f"={_lost(last, *conditions)}", f"=B{row}+C{row}", f"=C{row}/D{row}"]
        row = sheet.put(page, row, values, formats=formats)
    totals = [f"=SUM({column}{first}:{column}{row - 1})" for column in "BCD"]
    sheet.put(page, row, ["All", *totals, f"=C{row}/D{row}"], formats=formats)
    sheet.total(page, row, last=5)
    return row + 2
