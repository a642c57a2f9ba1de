"""The reviewer's workpaper: every line tested, and the claim recalculated by formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet
from sample_bank.grant_desk_review.claim import AWARD, BUDGET, CATEGORIES, COUNTY, GRANTEE, LINES, PRIOR, TIME_RECORDS


def write(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Recalculation"
    last = _fill_tests(book.create_sheet("Line tests"))
    _fill_time(book.create_sheet("Time records"))
    _fill_summary(summary, last)
    finish.save_workbook(book, path, title=f"Desk review of claim 2, {AWARD}", author=COUNTY)


def _fill_tests(page: Any) -> int:
    row = sheet.title(
        page,
        f"Line tests: claim 2, {AWARD}",
        "Tested for period, category, support, arithmetic, repeats, purchasing and unallowable costs; sections refer to"
        " the agreement",
    )
    row = sheet.header(
        page,
        row,
        ["Line", "Date", "Document", "Payee", "Category", "Claimed", "Disallowed", "Questioned", "Accepted", "Finding"],
    )
    formats = {1: sheet.DATE, 5: sheet.MONEY, 6: sheet.MONEY, 7: sheet.MONEY, 8: sheet.MONEY}
    cleared = {
        15: "Clear: under $5,000 a unit, so supplies; three quotes on file",
        19: "Clear: approved, three quotes; excluded from indirect base (F6)",
        24: "Clear: contract under $25,000, so all in indirect base",
    }
    for line in LINES:
        values = [
            line.number,
            line.day,
            line.document,
            line.payee,
            line.category,
            line.amount,
            line.disallowed,
            line.questioned,
        ]
        row = sheet.put(
            page,
            row,
            [*values, f"=F{row}-G{row}-H{row}", line.finding or cleared.get(line.number, "Clear")],
            formats=formats,
        )
    sheet.put(
        page,
        row,
        ["Total", None, None, None, None, *(f"=SUM({column}5:{column}{row - 1})" for column in "FGHI"), None],
        formats=formats,
    )
    sheet.total(page, row, last=10)
    sheet.lay_out(page, [6, 12, 13, 24, 13, 12, 12, 12, 12, 50], one_page=True, freeze="A5")
    return row - 1


def _fill_time(page: Any) -> None:
    row = sheet.title(page, "Hourly pay against time records", "Claimed hours = pay claimed / rate in the ledger")
    row = sheet.header(
        page,
        row,
        ["Employee", "Month", "Rate", "Pay claimed", "Hours claimed", "Hours on record", "Difference", "Note"],
    )
    pay = {(line.payee, line.text.rsplit(", ", 1)[1]): line.amount for line in LINES if line.category == "Personnel"}
    for record in TIME_RECORDS:
        rate = 22.0 if record.employee == "J. Lindqvist" else 24.0
        note = f'=IF(F{row}=0,"No record: questioned",IF(G{row}=0,"Agrees","Excess hours disallowed"))'
        values = [
            record.employee,
            record.month,
            rate,
            pay[record.employee, record.month],
            f"=D{row}/C{row}",
            record.hours,
            f"=E{row}-F{row}",
            note,
        ]
        row = sheet.put(
            page, row, values, formats={2: sheet.MONEY, 3: sheet.MONEY, 4: "0.0", 5: "0.0", 6: '0.0;-0.0;"-"'}
        )
    sheet.lay_out(page, [18, 14, 10, 13, 14, 15, 12, 30])


def _fill_summary(page: Any, last: int) -> None:
    row = sheet.title(
        page, f"{GRANTEE}: claim 2 recalculated", f"Award {AWARD}; October to December 2025; prepared by {COUNTY}"
    )
    first = row = sheet.header(
        page,
        row,
        ["Category", "Claimed", "Disallowed", "Questioned", "Approved now", "Budget", "Approved to date", "Used"],
    )
    formats = {**dict.fromkeys(range(1, 7), sheet.MONEY), 7: sheet.PERCENT}
    for category in CATEGORIES:
        sums = [
            f"=SUMIF('Line tests'!$E$5:$E${last},$A{row},'Line tests'!{column}$5:{column}${last})" for column in "FGH"
        ]
        if category == "Fringe":
            sums = [f"=ROUND(23%*{column}{first},2)" for column in "BCD"]
        values = [
            category,
            *sums,
            f"=B{row}-C{row}-D{row}",
            BUDGET[category],
            f"={PRIOR[category]}+E{row}",
            f"=G{row}/F{row}",
        ]
        row = sheet.put(page, row, values, formats=formats)
    direct = row
    row = sheet.put(
        page,
        row,
        ["Direct costs", *(f"=SUM({column}{first}:{column}{row - 1})" for column in "BCDEFG"), f"=G{row}/F{row}"],
        formats=formats,
    )
    sheet.total(page, direct, last=8)
    _fill_indirect(page, row, direct=direct, equipment=first + CATEGORIES.index("Equipment"), formats=formats)
    sheet.lay_out(page, [44, 14, 14, 14, 15, 14, 16, 10])


def _fill_indirect(page: Any, row: int, *, direct: int, equipment: int, formats: dict[int, str]) -> None:
    """Indirect on the base the agreement defines, the totals, and whether a plan is required."""
    base = row
    row = sheet.put(page, row, ["Less equipment (section 3)", None, None, None, f"=-E{equipment}"], formats=formats)
    row = sheet.put(page, row, ["Indirect base", None, None, None, f"=E{direct}+E{base}"], formats=formats)
    indirect = row
    row = sheet.put(
        page,
        row,
        [
            "Indirect, 10%",
            f"=ROUND(10%*B{direct},2)",
            f"=B{row}-D{row}-E{row}",
            f"=ROUND(10%*D{direct},2)",
            f"=ROUND(10%*E{row - 1},2)",
        ],
        formats=formats,
    )
    sheet.put(page, row, ["Total", *(f"={column}{direct}+{column}{indirect}" for column in "BCDE")], formats=formats)
    sheet.total(page, row, last=8)
    sheet.put(page, row + 2, ["Disallowed as a share of the claim", f"=C{row}/B{row}"], formats={1: "0.00%"})
    sheet.put(
        page,
        row + 3,
        ["Corrective action plan (above 5%, section 11)", f'=IF(B{row + 2}>5%,"Required","Not required")'],
    )
    sheet.put(
        page,
        row + 4,
        ["Share if the questioned costs are not supported", f"=(C{row}+D{row})/B{row}"],
        formats={1: "0.00%"},
    )
