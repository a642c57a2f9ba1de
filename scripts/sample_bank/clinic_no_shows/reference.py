"""Eight weeks of invented appointments with the faults a real export has, and the committee's request."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

from sample_bank import finish, word

CLINIC = "Cedar Bluff Family Health Center"
FIRST_DAY, DAYS = date(2026, 1, 5), 54
CLOSED = date(2026, 1, 26)
LEAVE = (date(2026, 2, 9), date(2026, 2, 13))
PROVIDERS = ("Amari, L.", "Boyle, T.", "Castellanos, R.")
REVENUE_USD, TEXTING_USD, CALLER_USD = 118, 310, 24
BANDS = (("0-7 days", 0, 7), ("8-21 days", 8, 21), ("22+ days", 22, 999))
# chance that the visit is lost, by band of lead time, without and with a text reminder
LOST = ((0.07, 0.05), (0.18, 0.12), (0.33, 0.22))


@dataclass(frozen=True)
class Appointment:
    appt_id: str
    patient_id: str
    provider: str
    visit_type: str
    booked_on: date
    appt_date: date
    appt_time: str
    reminder: str
    status: str

    @property
    def lead_days(self) -> int:
        return (self.appt_date - self.booked_on).days

    @property
    def band(self) -> int:
        return next(number for number, (_, low, high) in enumerate(BANDS) if low <= self.lead_days <= high)


def appointments() -> list[Appointment]:
    """The export as the clinic's system gives it: with repeats, test patients and a closed day."""
    rng = Random(20260302)
    days = [FIRST_DAY + timedelta(days=n) for n in range(DAYS)]
    rows: list[Appointment] = []
    for day in (day for day in days if day.weekday() < 5):
        for provider in PROVIDERS:
            for slot in range(6):
                if rng.random() < 0.93:
                    rows.append(_appointment(rng, f"A{20000 + len(rows)}", day, provider, slot))
    for number in (40, 222, 511):
        rows[number] = replace(rows[number], patient_id=f"ZZTEST{number % 7}", status="completed")
    repeated = [rows[number] for number in (15, 133, 134, 305, 306, 307, 480, 602)]
    return sorted(rows + repeated, key=lambda row: (row.appt_date, row.appt_id))


def _appointment(rng: Random, appt_id: str, day: date, provider: str, slot: int) -> Appointment:
    band = rng.choices((0, 1, 2), weights=(40, 35, 25))[0]
    lead = rng.randint(BANDS[band][1], (7, 21, 45)[band])
    texted = rng.random() < 0.55
    draw = rng.random()
    chance = LOST[band][texted]
    status = "completed"
    if draw < chance * 0.8:
        status = "no_show"
    elif draw < chance:
        status = "late_cancel"
    elif draw < chance + 0.06:
        status = "cancelled"
    if day == CLOSED:
        status = "no_show"
    elif provider == PROVIDERS[0] and LEAVE[0] <= day <= LEAVE[1]:
        status = "clinic_cancelled"
    minutes = 8 * 60 + 30 + slot * 75
    return Appointment(
        appt_id=appt_id,
        patient_id=f"P{rng.randint(1000, 9999)}",
        provider=provider,
        visit_type=rng.choices(("follow-up", "new patient", "annual"), weights=(60, 22, 18))[0],
        booked_on=day - timedelta(days=lead),
        appt_date=day,
        appt_time=f"{minutes // 60:02d}:{minutes % 60:02d}",
        reminder="text" if texted else "none",
        status=status,
    )


def usable(rows: list[Appointment]) -> list[Appointment]:
    """The appointments the measure is about: once each, real patients, open days."""
    once = {row.appt_id: row for row in rows}.values()
    return [row for row in once if not row.patient_id.startswith("ZZTEST") and row.appt_date != CLOSED]


def counted(rows: list[Appointment]) -> list[Appointment]:
    """Those in the denominator: visits that took place or were lost."""
    return [row for row in rows if row.status in {"completed", "no_show", "late_cancel"}]


def lost(rows: list[Appointment]) -> int:
    return sum(row.status in {"no_show", "late_cancel"} for row in rows)


def write(folder: Path, rows: list[Appointment]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "appointments_jan_feb_2026.csv").open("w", newline="", encoding="utf-8") as stream:
        out = csv.DictWriter(stream, [field.name for field in fields(Appointment)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(row) for row in rows)
    _write_request(folder / "committee_request.docx")


def _write_request(path: Path) -> None:
    document = word.new_document()
    document.add_heading("Operations committee: request for the March meeting", 1)
    word.paragraph(document, f"{CLINIC}\nFrom: J. Whitcombe, chief operating officer\nFor: Tuesday, March 10, 2026")
    word.paragraph(
        document, "We would like to bring lost visits under 10% by the end of September. Come with one recommendation."
    )
    document.add_heading("How we measure", 2)
    word.bullets(
        document,
        [
            "Lost visits = no_show + late_cancel (cancelled by the patient less than 24 hours before).",
            (
                "Rate = lost visits / (completed + lost visits). Earlier cancellations and visits we cancelled"
                " ourselves (clinic_cancelled) are in neither number."
            ),
            (
                "The scheduling system marks every open visit no_show overnight. It did so on January 26 too, when the"
                " ice storm closed us."
            ),
            "IT keeps a few test patients in the live system (ZZTEST). The export sometimes repeats a row.",
        ],
    )
    document.add_heading("Figures you may use", 2)
    figures = [
        ["Average net revenue per completed visit", "$118"],
        ["Two-way text reminders for all visits, vendor quote", "$310 a month"],
        ["Medical assistant, loaded cost", "$24 an hour"],
        ["One reminder call, with attempts and notes", "6 minutes"],
        ["Data period", "8 weeks from January 5, 2026"],
    ]
    word.table(document, ["Item", "Value"], figures, widths_in=[4.4, 1.6])
    word.paragraph(
        document,
        "Text reminders went to whoever had a mobile number on file. Nobody was chosen at random, so please be careful"
        " with what you claim for them.",
    )
    word.footer(document, "Sample data, invented; no real patients")
    finish.save_word(document, path, title="Committee request", author="J. Whitcombe")
