"""The schedule as a workbook: the grid drives hours, cost, coverage and the rule checks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, PatternFill

from sample_bank import finish, sheet
from sample_bank.store_schedule.week import BUDGET_HOURS, BUDGET_USD, DAYS, SHIFTS, STAFF, STORE, open_hours, visitors

FIRST, LAST = 5, 5 + len(STAFF) - 1
CODES, STARTS, ENDS, PAID = (f"Shifts!${column}$4:${column}${3 + len(SHIFTS)}" for column in "ABCD")
_FILLS = {"O": "D9EAE8", "C": "FBE3CC", "S": "FDF2D0", "A": "D9EAE8"}
DAY_COLUMNS = "CDEFGHI"

NOTES = [
    (
        "Gus asked late (March 10) for Saturday off. Granted: cover allows it if Fay opens on Saturday. Her wish"
        " for Sunday rather than Saturday then cannot be met."
    ),
    (
        "Please speak to Fay before posting. No schedule within these rules meets both wishes, and rule 8 puts a"
        " day off before a preference."
    ),
    (
        "Kept: Beth's vacation, Rosa's meeting (off all Tuesday), Alan's Wednesday, Cho's school days (four paid"
        " hours each)."
    ),
    (
        "209.5 is the fewest hours that meet every hour's need with these codes and rules, so the 2.5 left are a"
        " reserve for sick cover, not a saving to hand back."
    ),
]


def write(path: Path) -> None:
    book = Workbook()
    grid: Any = book.active
    grid.title = "Schedule"
    _fill_grid(grid)
    _fill_coverage(book.create_sheet("Coverage"))
    _fill_checks(book.create_sheet("Rule checks"))
    _fill_shifts(book.create_sheet("Shifts"))
    finish.save_workbook(book, path, title="Schedule, week of March 16, 2026", author=STORE)


def _fill_grid(page: Any) -> None:
    row = sheet.title(
        page,
        f"{STORE}: schedule, March 16 to 22, 2026",
        "O 9:30-17:00   C 13:00-20:30   S 16:30-20:30   Sunday A 10:30-18:30   * keyholder",
    )
    labels = ["Name", "Max", *(f"{day:%a} {day.day}" for day in DAYS), "Days", "Paid hours", "Rate, $", "Cost, $"]
    row = sheet.header(page, row, labels)
    for person in STAFF:
        days, hours = (
            f'=COUNTIF(C{row}:I{row},"?")-COUNTIF(C{row}:I{row},"-")',
            f"=SUMPRODUCT(COUNTIF(C{row}:I{row},{CODES})*{PAID})",
        )
        values = [
            person.name + (" *" if person.keys else ""),
            person.max_hours,
            *person.week,
            days,
            hours,
            person.rate_usd,
            f"=K{row}*L{row}",
        ]
        sheet.put(page, row, values, formats={10: "0.0", 11: sheet.MONEY, 12: sheet.MONEY})
        for column, code in zip(DAY_COLUMNS, person.week, strict=True):
            page[f"{column}{row}"].alignment = Alignment(horizontal="center")
            if code in _FILLS:
                page[f"{column}{row}"].fill = PatternFill("solid", fgColor=_FILLS[code])
        row += 1
    _fill_totals(page, row)
    row += 4
    for text in NOTES:
        row = sheet.note(page, row, text, merge_to=13, height=18)
    sheet.lay_out(page, [14, 7, *[8] * 7, 7, 11, 9, 11])


def _fill_totals(page: Any, row: int) -> None:
    hours = [f"=SUMPRODUCT(COUNTIF({column}{FIRST}:{column}{LAST},{CODES})*{PAID})" for column in DAY_COLUMNS]
    sheet.put(
        page,
        row,
        ["Paid hours", None, *hours, None, f"=SUM(K{FIRST}:K{LAST})", None, f"=SUM(M{FIRST}:M{LAST})"],
        formats={**dict.fromkeys(range(2, 11), "0.0"), 12: sheet.MONEY},
    )
    sheet.total(page, row, last=13)
    sheet.put(page, row + 1, ["Budget", *[None] * 9, BUDGET_HOURS, None, BUDGET_USD], formats={12: sheet.MONEY})
    sheet.put(
        page,
        row + 2,
        ["Left", *[None] * 9, f"=K{row + 1}-K{row}", None, f"=M{row + 1}-M{row}"],
        formats={10: "0.0", 12: sheet.MONEY},
    )


def _fill_coverage(page: Any) -> None:
    row = sheet.title(
        page,
        "Coverage: on the floor less needed, by hour",
        "Need = visitors / 12 rounded up, at least 2; 0 or more is covered, a negative number is short",
    )
    row = sheet.header(page, row, ["Hour from", *(f"{day:%a} {day.day}" for day in DAYS)])
    forecast = visitors()
    first = row
    for hour in range(10, 20):
        values: list[Any] = [hour]
        for day, column in enumerate(DAY_COLUMNS):
            if hour not in open_hours(day):
                values.append("closed")
                continue
            present = f"SUMPRODUCT(COUNTIF(Schedule!{column}${FIRST}:{column}${LAST},{CODES})*({STARTS}<=$A{row})*({ENDS}>=$A{row}+1))"
            values.append(f"={present}-MAX(2,ROUNDUP({forecast[day, hour]}/12,0))")
        row = sheet.put(page, row, values, formats={0: '0":00"', **dict.fromkeys(range(1, 8), "+0;-0;0")})
    sheet.put(
        page, row, ["Hours short", *(f'=COUNTIF({column}{first}:{column}{row - 1},"<0")' for column in "BCDEFGH")]
    )
    sheet.total(page, row, last=8)
    sheet.lay_out(page, [14, *[11] * 7])


def _fill_checks(page: Any) -> None:
    row = sheet.title(page, "Rule checks")
    row = sheet.header(page, row, ["Rule", "Result", "How it is checked"])
    keys = [FIRST + number for number, person in enumerate(STAFF) if person.keys]

    def key_count(column: str, codes: str) -> str:
        return "+".join(f'COUNTIF(Schedule!{column}{keys[0]}:{column}{keys[-1]},"{code}")' for code in codes)

    opening = ",".join(f"{key_count(column, 'AE' if column == 'I' else 'O')}>0" for column in DAY_COLUMNS)
    closing = ",".join(f"{key_count(column, 'AL' if column == 'I' else 'CS')}>0" for column in DAY_COLUMNS)
    pairs = "+".join(
        f'SUMPRODUCT(((Schedule!{today}{FIRST}:{today}{LAST}="C")+(Schedule!{today}{FIRST}:{today}{LAST}="S"))'
        f'*((Schedule!{after}{FIRST}:{after}{LAST}="O")+(Schedule!{after}{FIRST}:{after}{LAST}="A")+(Schedule!{after}{FIRST}:{after}{LAST}="E")))'
        for today, after in pairwise(DAY_COLUMNS)
    )
    cho = FIRST + next(number for number, person in enumerate(STAFF) if "17" in person.role)
    checks = [
        (
            "Every open hour has enough people",
            f'=IF(SUM(Coverage!B{4 + 10}:H{4 + 10})=0,"kept","BROKEN")',
            "Coverage sheet",
        ),
        ("A keyholder opens every day", f'=IF(AND({opening}),"kept","BROKEN")', "O, or A or E on Sunday"),
        ("A keyholder closes every day", f'=IF(AND({closing}),"kept","BROKEN")', "C or S, or A or L on Sunday"),
        ("Nobody opens after closing", f'=IF({pairs}=0,"kept","BROKEN")', "C or S followed by O, A or E"),
        ("At most five days", f'=IF(MAX(Schedule!J{FIRST}:J{LAST})<=5,"kept","BROKEN")', "Days column"),
        (
            "Nobody above max hours",
            f'=IF(SUMPRODUCT(--(Schedule!K{FIRST}:K{LAST}>Schedule!B{FIRST}:B{LAST}))=0,"kept","BROKEN")',
            "Paid hours against Max",
        ),
        (
            "Under 18: four hours on school days",
            f'=IF(COUNTIF(Schedule!C{cho}:G{cho},"O")+COUNTIF(Schedule!C{cho}:G{cho},"C")+COUNTIF(Schedule!C{cho}:G{cho},"M")=0,"kept","BROKEN")',
            "Cho has S only, Monday to Friday",
        ),
        (
            "Hours and payroll within budget",
            f'=IF(AND(Schedule!K{LAST + 3}>=0,Schedule!M{LAST + 3}>=0),"kept","BROKEN")',
            "Left row",
        ),
        ("Availability, vacation and requests", "kept", "By hand: see notes under the schedule"),
    ]
    for check in checks:
        row = sheet.put(page, row, check)
    sheet.lay_out(page, [42, 12, 40], landscape=False)


def _fill_shifts(page: Any) -> None:
    row = sheet.title(page, "Shift codes (hours as decimals)")
    for shift in SHIFTS:
        row = sheet.put(
            page,
            row + (row == 3),
            [shift.code, shift.start, shift.end, shift.paid_hours],
            formats=dict.fromkeys((1, 2, 3), "0.0"),
        )
    sheet.header(page, 3, ["Code", "From", "To", "Paid"])
    sheet.lay_out(page, [10, 10, 10, 10], landscape=False)
