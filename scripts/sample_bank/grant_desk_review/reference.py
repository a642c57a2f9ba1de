"""What the reviewer is given: the agreement, the claim with its ledger, and the time records."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.grant_desk_review.claim import (
    AWARD,
    BUDGET,
    CATEGORIES,
    COUNTY,
    GRANTEE,
    INDIRECT,
    LINES,
    PRIOR,
    PROGRAM,
    TIME_RECORDS,
)

TERMS = [
    ("1. Award.", f"The County awards {GRANTEE} (the Subrecipient) up to $190,000 for {PROGRAM}, award {AWARD}."),
    (
        "2. Period.",
        "September 1, 2025 to June 30, 2026. Only costs incurred in the period are allowable, whenever they are paid.",
    ),
    (
        "3. Fringe and indirect.",
        (
            "Fringe is 23% of allowable personnel. Indirect is 10% of modified total direct costs. These exclude"
            " equipment and the part of each contract above $25,000."
        ),
    ),
    ("4. Equipment.", "An item with a unit cost of $5,000 or more. It needs the County's prior written approval."),
    (
        "5. Personnel.",
        (
            "Hourly pay must be supported by time records for each month, signed by the employee and a supervisor."
            " Salaried staff certify effort twice a year."
        ),
    ),
    ("6. Travel.", "Mileage at no more than $0.70 a mile, from logs."),
    (
        "7. Unallowable.",
        (
            "Alcohol, entertainment, fines, penalties and late charges; and gifts or gift cards unless approved in"
            " writing beforehand."
        ),
    ),
    (
        "8. Claims.",
        (
            "Quarterly, with a ledger that supports every cost. A cost may be claimed once. Claims are due 30 days"
            " after the quarter ends."
        ),
    ),
    ("9. Purchasing.", "Purchases above $3,000 from one supplier need three quotes on file."),
    (
        "10. Review.",
        (
            "The County may disallow a cost that does not meet this agreement and may question one that lacks support."
            " The Subrecipient has 15 calendar days from the date of the letter to supply missing support; costs still"
            " unsupported are then disallowed."
        ),
    ),
    (
        "11. Findings.",
        (
            "A disallowed total above 5% of a claim requires a corrective action plan within 30 calendar days of the"
            " letter."
        ),
    ),
]


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_agreement(folder / "subaward_agreement_excerpt.pdf")
    _write_claim(folder / "claim_2_oct_dec_2025.xlsx")
    with (folder / "time_records_oct_dec_2025.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["employee", "month", "hours_on_award", "signatures"])
        rows.writerows([record.employee, record.month, record.hours or "", record.signed] for record in TIME_RECORDS)


def _write_agreement(path: Path) -> None:
    document = word.new_document(font="Liberation Serif", size=11)
    document.add_heading(f"Subaward agreement {AWARD} (excerpt)", 1)
    word.paragraph(document, f"between {COUNTY} and {GRANTEE}, signed August 18, 2025")
    for name, text in TERMS:
        word.paragraph(document, f"**{name}** {text}", align="justify")
    word.footer(document, "Subaward agreement excerpt  |  sample data, invented")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "agreement.docx"
        finish.save_word(document, source, title="Subaward agreement", author=COUNTY)
        finish.save_pdf(source, path, title=f"Subaward agreement {AWARD} (excerpt)", author=COUNTY)


def _write_claim(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Claim 2"
    last = _fill_ledger(book.create_sheet("Ledger"))
    _fill_claim(summary, last)
    finish.save_workbook(book, path, title="Claim 2", author=GRANTEE)


def _fill_ledger(ledger: Any) -> int:
    """Every cost charged; gives the last row."""
    row = sheet.title(
        ledger,
        f"{GRANTEE}: ledger for claim 2, October to December 2025",
        f"Award {AWARD}; fringe is charged at 23% of personnel and not listed",
    )
    row = sheet.header(
        ledger, row, ["Line", "Date", "Document", "Payee", "Description", "Category", "Amount", "Support"]
    )
    for line in LINES:
        values = [line.number, line.day, line.document, line.payee, line.text, line.category, line.amount, line.support]
        row = sheet.put(ledger, row, values, formats={1: sheet.DATE, 6: sheet.MONEY})
    sheet.lay_out(ledger, [6, 12, 13, 24, 38, 13, 12, 38], one_page=True)
    return row - 1


def _fill_claim(summary: Any, last: int) -> None:
    row = sheet.title(
        summary,
        f"{GRANTEE}: claim 2",
        f"Award {AWARD}, {PROGRAM}; October 1 to December 31, 2025; submitted January 26, 2026",
    )
    first = row = sheet.header(
        summary, row, ["Category", "Budget", "Claim 1 (September)", "Claim 2", "To date", "Left"]
    )
    formats = dict.fromkeys(range(1, 6), sheet.MONEY)
    for category in CATEGORIES:
        amount = f"=SUMIF(Ledger!F5:F{last},A{row},Ledger!G5:G{last})"
        if category == "Fringe":
            amount = f"=ROUND(23%*D{first},2)"
        row = sheet.put(
            summary,
            row,
            [category, BUDGET[category], PRIOR[category], amount, f"=C{row}+D{row}", f"=B{row}-E{row}"],
            formats=formats,
        )
    sums = [f"=SUM({column}{first}:{column}{row - 1})" for column in "BCD"]
    row = sheet.put(summary, row, ["Direct costs", *sums, f"=C{row}+D{row}", f"=B{row}-E{row}"], formats=formats)
    row = sheet.put(
        summary,
        row,
        [
            "Indirect, 10%",
            15140,
            round(INDIRECT * sum(PRIOR.values()), 2),
            f"=ROUND(10%*D{row - 1},2)",
            f"=C{row}+D{row}",
            f"=B{row}-E{row}",
        ],
        formats=formats,
    )
    sheet.put(
        summary, row, ["Total", *(f"={column}{row - 2}+{column}{row - 1}" for column in "BCDEF")], formats=formats
    )
    sheet.total(summary, row - 2, last=6)
    sheet.total(summary, row, last=6)
    sheet.note(
        summary,
        row + 2,
        "I certify that these costs were incurred for the award and are allowable.  P. Okonjo, finance manager",
        merge_to=6,
    )
    sheet.lay_out(summary, [22, 14, 18, 14, 14, 14])
