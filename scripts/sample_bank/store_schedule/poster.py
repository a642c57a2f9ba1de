"""The page that goes on the notice board: who works when, in times rather than codes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from docx.enum.section import WD_ORIENT
from docx.shared import Inches

from sample_bank import finish, word
from sample_bank.store_schedule.week import DAYS, SHIFTS, STAFF, STORE, need, on_floor, open_hours, paid_hours


def write(path: Path) -> None:
    short = [(day, hour) for day in range(7) for hour in open_hours(day) if on_floor(day, hour) < need(day, hour)]
    if short:
        raise ValueError(f"the schedule leaves hours short: {short}")
    document = word.new_document(font="Liberation Sans", size=12, margin_in=0.5)
    section = document.sections[0]
    section.orientation, section.page_width, section.page_height = WD_ORIENT.LANDSCAPE, Inches(11), Inches(8.5)
    document.add_heading(f"{STORE}: week of March 16, 2026", 1)
    times = {shift.code: shift.times.replace("-", "\u2013") for shift in SHIFTS} | {"-": ""}
    rows = [
        [
            person.name + (" (keys)" if person.keys else ""),
            *(times[code] for code in person.week),
            f"{paid_hours(person):.1f}",
        ]
        for person in STAFF
    ]
    header = ["", *(f"{day:%A}\n{day:%B} {day.day}" for day in DAYS), "Paid hours"]
    word.table(document, header, rows, widths_in=[1.45, *[1.1] * 7, 0.75], right=(8,), size=11.5)
    word.paragraph(
        document,
        "Open Monday to Saturday 10:00 to 20:00, Sunday 11:00 to 18:00. Shifts over six hours include 30 unpaid"
        " minutes.",
    )
    word.bullets(
        document,
        [
            "Saturday is the spring event: please be at the door at 9:30 sharp.",
            "No keyholder, no opening: if Rosa, Dev or Alan is late, wait at the staff door and call.",
            "To swap a shift, agree with the other person and ask Rosa or Dev before you change anything.",
        ],
    )
    word.footer(document, "Posted March 11, 2026  |  sample data, invented")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "schedule.docx"
        finish.save_word(document, source, title="Schedule", author=STORE)
        finish.save_pdf(source, path, title="Schedule, week of March 16, 2026", author=STORE)
