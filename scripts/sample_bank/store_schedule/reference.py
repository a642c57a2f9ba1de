"""What the supervisor is given: availability and rules, the traffic forecast, requests for the week."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.store_schedule.week import BUDGET_HOURS, BUDGET_USD, DAYS, SHIFTS, STAFF, STORE, visitors

RULES = [
    "Open Monday to Saturday 10:00 to 20:00, Sunday 11:00 to 18:00.",
    "On the floor: one person per 12 forecast visitors in each open hour, rounded up, never fewer than two.",
    "A keyholder and one other person at every opening and every closing.",
    "Use the shift codes only. A shift over six hours has 30 unpaid minutes; paid hours are given.",
    "Nobody works more than five days. Nobody opens the morning after closing.",
    "Under 18: at most four paid hours on a school day, eight otherwise, and 18 in the week.",
    f"Budget for the week: {BUDGET_HOURS} paid hours and ${BUDGET_USD:,}. Max hours per person as listed.",
    (
        "Requests for days off are due two Wednesdays before the week begins (March 4). Later ones are granted if cover"
        " allows."
    ),
]


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_staff(folder / "staff_and_rules.xlsx")
    with (folder / "traffic_forecast.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["date", "hour_from", "visitors"])
        rows.writerows([DAYS[day].isoformat(), f"{hour}:00", count] for (day, hour), count in visitors().items())
    _write_requests(folder / "requests_for_the_week.docx")


def _write_staff(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Staff"
    row = sheet.title(page, f"{STORE}: staff", "As of March 9, 2026")
    row = sheet.header(page, row, ["Name", "Role", "Keys", "Max hours", "Rate, $", "Can work"])
    for person in STAFF:
        values = [
            person.name,
            person.role,
            "yes" if person.keys else "no",
            person.max_hours,
            person.rate_usd,
            person.can_work.split(";")[0],
        ]
        row = sheet.put(page, row, values, formats={4: sheet.MONEY})
    sheet.lay_out(page, [14, 22, 8, 11, 10, 56])
    shifts = book.create_sheet("Shifts")
    row = sheet.title(shifts, "Shift codes", "O, C, M, S Monday to Saturday; A, E, L Sunday")
    row = sheet.header(shifts, row, ["Code", "Times", "Paid hours"])
    for shift in SHIFTS:
        row = sheet.put(shifts, row, [shift.code, shift.times, shift.paid_hours], formats={2: "0.0"})
    sheet.lay_out(shifts, [10, 16, 12], landscape=False)
    rules = book.create_sheet("Rules")
    row = sheet.title(rules, "Rules")
    for number, text in enumerate(RULES, start=1):
        row = sheet.note(rules, row, f"{number}. {text}", merge_to=6, height=18)
    sheet.lay_out(rules, [18] * 6)
    finish.save_workbook(book, path, title="Staff and rules", author=STORE)


def _write_requests(path: Path) -> None:
    document = word.new_document()
    document.add_heading("Requests and notes for the week of March 16, 2026", 1)
    rows = [
        ["Beth K.", "February 20", "Vacation Thursday 19 and Friday 20. Approved."],
        ["Rosa M.", "March 2", "Regional meeting Tuesday morning; back by 13:00. Not paid from our hours."],
        ["Fay W.", "March 3", "Prefers Sunday to Saturday if it makes no difference."],
        ["Cho L.", "March 3", "School all five days that week."],
        ["Gus N.", "March 10", "Would like Saturday 21 off for a friend's birthday."],
        ["District", "March 9", "Spring event Saturday 21: forecast already in the traffic file. No overtime."],
    ]
    word.table(document, ["From", "Received", "What"], rows, widths_in=[1.1, 1.1, 4.2], size=10)
    word.footer(document, "Sample data, invented")
    finish.save_word(document, path, title="Requests for the week", author=STORE)
