"""What the accountant is given: ledger, statement, last month's reconciliation, the bookkeeper's notes."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.bank_reconciliation.books import (
    BANK,
    BANK_OPENING,
    BOOK_OPENING,
    BOOKS,
    CARRIED,
    CLIENT,
    FIRM,
    STATEMENT,
)


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_ledger(folder / "gl_1000_cash_feb_2026.csv")
    _write_statement(folder / "bank_statement_feb_2026.pdf")
    _write_prior(folder / "bank_reconciliation_jan_2026.xlsx")
    _write_notes(folder / "bookkeeper_notes.docx")


def _write_ledger(path: Path) -> None:
    balance = BOOK_OPENING
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["date", "reference", "description", "offset_account", "debit", "credit", "balance"])
        rows.writerow(["2026-01-31", "", "Balance forward", "", "", "", f"{balance:.2f}"])
        for day, ref, text, account, amount in BOOKS:
            balance += amount
            debit, credit = (f"{amount:.2f}", "") if amount > 0 else ("", f"{-amount:.2f}")
            rows.writerow([day.isoformat(), ref, text, account, debit, credit, f"{balance:.2f}"])


def _write_statement(path: Path) -> None:
    document = word.new_document(font="Liberation Sans", size=9.5, margin_in=0.8)
    document.add_heading(BANK, 0)
    word.paragraph(document, "Business Checking  |  Account ending 0417  |  Statement period 02/01/2026 to 02/27/2026")
    word.paragraph(document, f"**{CLIENT}**\n218 Mill Street, Unit 4\nMillbrook")
    received = sum(amount for *_, amount in STATEMENT if amount > 0)
    paid = -sum(amount for *_, amount in STATEMENT if amount < 0)
    closing = BANK_OPENING + received - paid
    summary = [[f"{value:,.2f}" for value in (BANK_OPENING, received, paid, closing)]]
    labels = ["Opening balance", "Deposits and credits", "Checks and debits", "Closing balance"]
    word.table(document, labels, summary, widths_in=[1.7] * 4, right=range(4))
    balance, rows = BANK_OPENING, []
    for day, text, _, amount in STATEMENT:
        balance += amount
        credit, debit = (f"{amount:,.2f}", "") if amount > 0 else ("", f"{-amount:,.2f}")
        rows.append([day.strftime("%m/%d"), text, debit, credit, f"{balance:,.2f}"])
    columns = ["Date", "Description", "Debits", "Credits", "Balance"]
    word.table(document, columns, rows, widths_in=[0.6, 3.5, 0.95, 0.95, 1.0], right=(2, 3, 4), size=8.5)
    word.paragraph(document, "Please examine this statement promptly and report any error within 30 days.")
    word.footer(document, f"{BANK} (invented)  |  sample data")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "statement.docx"
        finish.save_word(document, source, title="Statement", author=BANK)
        finish.save_pdf(source, path, title="Business checking statement, February 2026", author=BANK)


def _write_prior(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Jan 2026"
    row = sheet.title(
        page, f"{CLIENT}: bank reconciliation", "Account 1000, operating, as of 01/31/2026", "Prepared by bookkeeper"
    )
    row = sheet.put(page, row, ["Balance per bank", None, None, BANK_OPENING], formats={3: sheet.MONEY})
    first = row = sheet.header(page, row + 1, ["Reference", "Date", "Payee", "Amount"])
    for ref, day, text, amount in CARRIED:
        row = sheet.put(page, row, [ref, day, text, amount], formats={1: sheet.DATE, 3: sheet.MONEY})
    sheet.put(page, row, ["Items not yet at bank", None, None, f"=SUM(D{first}:D{row - 1})"], formats={3: sheet.MONEY})
    sheet.total(page, row, last=4)
    sheet.put(page, row + 1, ["Balance per books", None, None, f"=D{first - 3}+D{row}"], formats={3: sheet.MONEY})
    sheet.total(page, row + 1, last=4)
    sheet.lay_out(page, [24, 13, 38, 15], landscape=False)
    finish.save_workbook(book, path, title="January reconciliation", author=CLIENT)


def _write_notes(path: Path) -> None:
    document = word.new_document()
    document.add_heading("Notes for the February close", 1)
    word.paragraph(document, f"From: R. Okafor, bookkeeper, {CLIENT}\nTo: {FIRM}\nDate: 3 March 2026")
    word.bullets(
        document,
        [
            "The bank and I are about 9,700 apart and I could not find it in one place. Please do not let me plug it.",
            (
                "Our checks run in one series. The last one used in January was 2210; 2208 to 2210 were voided,"
                " unissued, in a printer jam. We do not use any other check stock."
            ),
            "Apex Hardware's bill of 4 February was 1,478.60. I wrote the check by hand.",
            "Calder pays us by one check per remittance advice. Remittance 7802 covers their whole February order.",
            (
                "Northfield moved us to autopay. Payment 14 on loan 40-2281 (1,125.00) is 187.20 interest and the rest"
                " principal."
            ),
            "Our credit terms let us pass any bank fee for a returned check on to the customer, and we always do.",
            "Friday's showroom cash (27 February) went in the night drop after the bank had closed.",
            "I have been carrying the Marchetti refund since last summer. I tried to phone once.",
        ],
    )
    document.add_heading("Accounts you may need", 2)
    accounts = (
        "1000 Cash, operating\n1200 Accounts receivable\n2000 Accounts payable\n2400 Unclaimed property\n2500 Note"
        " payable, Northfield\n4900 Interest income\n6120 Bank charges\n6700 Interest expense"
    )
    rows = [line.split(" ", 1) for line in accounts.splitlines()]
    word.table(document, ["No.", "Account"], rows, widths_in=[0.8, 3.2])
    word.footer(document, "Sample data, invented")
    finish.save_word(document, path, title="Notes for the February close", author="R. Okafor")
