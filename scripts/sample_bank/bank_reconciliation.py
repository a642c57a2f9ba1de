"""Accountants and Auditors: February bank reconciliation of a small furniture maker."""

from __future__ import annotations

import csv
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word

CLIENT, BANK, FIRM = "Harrow & Pine Woodworks LLC", "First Millbrook Bank", "Dorsey Lyle CPAs"
BANK_OPENING, BOOK_OPENING = 48212.66, 46820.76

# date, reference, description, offset account, amount (+ receipt, - payment)
BOOKS: list[tuple[date, str, str, str, float]] = [
    (date(2026, 2, 2), "DEP-0201", "Calder Interiors, remit 7741", "1200 Accounts receivable", 7480.00),
    (date(2026, 2, 3), "2211", "Ridgeway Lumber", "2000 Accounts payable", -5318.25),
    (date(2026, 2, 4), "2212", "Millbrook City Utilities", "2000 Accounts payable", -612.47),
    (date(2026, 2, 5), "PR-0205", "Payroll, net, by ACH", "2200 Accrued payroll", -11904.38),
    (date(2026, 2, 6), "DEP-0202", "Showroom sales", "4000 Sales", 2236.15),
    (date(2026, 2, 9), "2213", "Apex Hardware Supply", "2000 Accounts payable", -1487.60),
    (date(2026, 2, 10), "DEP-0203", "Fenn Builders, inv 3310", "1200 Accounts receivable", 9125.00),
    (date(2026, 2, 11), "2214", "Mill Street Partners, February rent", "2000 Accounts payable", -4200.00),
    (date(2026, 2, 12), "2215", "Granite Mutual Insurance", "2000 Accounts payable", -1865.00),
    (date(2026, 2, 13), "DEP-0204", "Showroom sales", "4000 Sales", 3042.80),
    (date(2026, 2, 17), "2216", "Ridgeway Lumber", "2000 Accounts payable", -3774.92),
    (date(2026, 2, 18), "ACH-ST", "State sales tax, January", "2300 Sales tax payable", -1918.33),
    (date(2026, 2, 19), "PR-0219", "Payroll, net, by ACH", "2200 Accrued payroll", -12146.71),
    (date(2026, 2, 20), "DEP-0205", "Fenn Builders, inv 3324", "1200 Accounts receivable", 4400.00),
    (date(2026, 2, 20), "2217", "Kessler Spray Equipment", "2000 Accounts payable", -728.00),
    (date(2026, 2, 23), "DEP-0206", "Calder Interiors, remit 7802", "1200 Accounts receivable", 6315.00),
    (date(2026, 2, 24), "2218", "Tri-County Freight", "2000 Accounts payable", -954.30),
    (date(2026, 2, 25), "2219", "Oakdale Office Products", "2000 Accounts payable", -143.76),
    (date(2026, 2, 25), "DEP-0207", "Calder Interiors, remit 7802", "1200 Accounts receivable", 6315.00),
    (date(2026, 2, 26), "2220", "Ridgeway Lumber", "2000 Accounts payable", -2650.00),
    (date(2026, 2, 27), "DEP-0208", "Showroom sales", "4000 Sales", 2871.45),
]
# date, description, book reference it clears (or None), amount
STATEMENT: list[tuple[date, str, str | None, float]] = [
    (date(2026, 2, 2), "Deposit", "JAN-DEP", 3150.00),
    (date(2026, 2, 3), "Deposit", "DEP-0201", 7480.00),
    (date(2026, 2, 4), "Check 2207", "2207", -2916.40),
    (date(2026, 2, 5), "Check 2211", "2211", -5318.25),
    (date(2026, 2, 5), "ACH debit  PAYCREST PAYROLL", "PR-0205", -11904.38),
    (date(2026, 2, 6), "Check 2198", "2198", -1240.00),
    (date(2026, 2, 9), "Deposit", "DEP-0202", 2236.15),
    (date(2026, 2, 9), "Check 2212", "2212", -612.47),
    (date(2026, 2, 11), "Deposit", "DEP-0203", 9125.00),
    (date(2026, 2, 12), "Check 2213", "2213", -1478.60),
    (date(2026, 2, 13), "Check 2214", "2214", -4200.00),
    (date(2026, 2, 17), "Deposit", "DEP-0204", 3042.80),
    (date(2026, 2, 18), "ACH debit  STATE REV SALES TAX", "ACH-ST", -1918.33),
    (date(2026, 2, 19), "ACH debit  PAYCREST PAYROLL", "PR-0219", -12146.71),
    (date(2026, 2, 20), "Check 2216", "2216", -3774.92),
    (date(2026, 2, 23), "Deposit", "DEP-0205", 4400.00),
    (date(2026, 2, 24), "Deposit", "DEP-0206", 6315.00),
    (date(2026, 2, 25), "Returned deposited item  FENN BUILDERS  NSF", None, -4400.00),
    (date(2026, 2, 25), "Returned item fee", None, -15.00),
    (date(2026, 2, 25), "Check 2217", "2217", -728.00),
    (date(2026, 2, 26), "Check 1187", None, -860.00),
    (date(2026, 2, 27), "Check 2219", "2219", -143.76),
    (date(2026, 2, 27), "ACH debit  NORTHFIELD EQUIP FIN  LN 40-2281", None, -1125.00),
    (date(2026, 2, 27), "Monthly service charge", None, -32.00),
    (date(2026, 2, 27), "Interest paid", None, 11.84),
]
CARRIED = [
    ("2061", date(2025, 8, 11), "D. Marchetti (refund of deposit)", -385.50),
    ("2198", date(2026, 1, 27), "Ashgrove Millwork", -1240.00),
    ("2207", date(2026, 1, 30), "Ridgeway Lumber", -2916.40),
    ("JAN-DEP", date(2026, 1, 30), "Showroom sales (deposit in transit)", 3150.00),
]
# side of the reconciliation -> label, amount, where it was found
BOOK_ITEMS = [
    ("Check 2213 recorded as 1,487.60, cleared as 1,478.60", 9.00, "AJE 1"),
    ("Deposit DEP-0207 repeats DEP-0206 (Calder remit 7802)", -6315.00, "AJE 2"),
    ("Returned item, Fenn Builders inv 3324", -4400.00, "AJE 3"),
    ("Returned item fee", -15.00, "AJE 3"),
    ("Northfield equipment loan, February payment", -1125.00, "AJE 4"),
    ("Monthly service charge", -32.00, "AJE 5"),
    ("Interest paid by bank", 11.84, "AJE 6"),
]
ENTRIES: list[tuple[str, list[tuple[str, float, float]], str]] = [
    (
        "AJE 1",
        [("1000 Cash, operating", 9.00, 0), ("2000 Accounts payable", 0, 9.00)],
        "Correct the transposition in check 2213 to Apex Hardware; the bill and the cleared check are 1,478.60.",
    ),
    (
        "AJE 2",
        [("1200 Accounts receivable", 6315.00, 0), ("1000 Cash, operating", 0, 6315.00)],
        "Remove DEP-0207, the second posting of Calder remittance 7802. Calder's account is understated until posted.",
    ),
    (
        "AJE 3",
        [("1200 Accounts receivable", 4415.00, 0), ("1000 Cash, operating", 0, 4415.00)],
        (
            "Reinstate Fenn Builders inv 3324 (4,400.00) and recharge the bank's fee (15.00) as the credit policy"
            " provides."
        ),
    ),
    (
        "AJE 4",
        [
            ("2500 Note payable, Northfield", 937.80, 0),
            ("6700 Interest expense", 187.20, 0),
            ("1000 Cash, operating", 0, 1125.00),
        ],
        "Record the February autopay on loan 40-2281, split as in the lender's schedule (payment 14).",
    ),
    (
        "AJE 5",
        [("6120 Bank charges", 32.00, 0), ("1000 Cash, operating", 0, 32.00)],
        "Record the service charge for February.",
    ),
    (
        "AJE 6",
        [("1000 Cash, operating", 11.84, 0), ("4900 Interest income", 0, 11.84)],
        "Record interest credited on 27 February.",
    ),
]


def build(folder: Path) -> None:
    reference, expert = folder / "reference", folder / "expert"
    reference.mkdir(parents=True, exist_ok=True)
    _write_ledger(reference / "gl_1000_cash_feb_2026.csv")
    _write_statement(reference / "bank_statement_feb_2026.pdf")
    _write_prior(reference / "bank_reconciliation_jan_2026.xlsx")
    _write_notes(reference / "bookkeeper_notes.docx")
    _write_reconciliation(expert / "bank_reconciliation_feb_2026.xlsx")


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


def _write_reconciliation(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Reconciliation"
    matched = book.create_sheet("Matching")
    entries = book.create_sheet("Adjusting entries")
    notes = book.create_sheet("Notes")
    book_total, bank_total = _fill_matching(matched)
    _fill_summary(summary, book_total, bank_total)
    _fill_entries(entries)
    _fill_notes(notes)
    finish.save_workbook(book, path, title=f"Bank reconciliation, February 2026, {CLIENT}", author=FIRM)


def _fill_matching(page: Any) -> tuple[str, str]:
    """Every book and bank line side by side; gives the cells that hold the two closing balances."""
    at = sheet.title(
        page, "Book to bank matching, February 2026", "A line with an amount on one side only is an open item."
    )
    first = row = sheet.header(
        page,
        at,
        ["Reference", "Description", "Book date", "Per books", "Bank date", "Per bank", "Books less bank", "Status"],
    )
    cleared = {ref: (day, amount) for day, _, ref, amount in STATEMENT if ref}
    lines: list[tuple[str, str, date | None, float | None, date | None, float | None, str]] = []
    for ref, day, text, amount in CARRIED:
        bank = cleared.get(ref)
        lines.append(
            (ref, text, day, amount, *(bank or (None, None)), "January item, cleared" if bank else "Outstanding, stale")
        )
    for day, ref, text, _, amount in BOOKS:
        bank = cleared.get(ref)
        status = "Matched" if bank else "Outstanding"
        if ref == "2213":
            status = "Book error: transposed"
        elif ref == "DEP-0207":
            status = "Book error: duplicate"
        elif ref == "DEP-0208":
            status = "Deposit in transit"
        lines.append((ref, text, day, amount, *(bank or (None, None)), status))
    for day, text, ref, amount in STATEMENT:
        if ref is None:
            status = "Bank error" if "1187" in text else "Not in books"
            lines.append(("", " ".join(text.split()), None, None, day, amount, status))
    formats = {2: sheet.DATE, 3: sheet.MONEY, 4: sheet.DATE, 5: sheet.MONEY, 6: sheet.MONEY}
    for ref, text, book_day, books, bank_day, bank_amount, status in lines:
        difference = f"=N(D{row})-N(F{row})"
        row = sheet.put(
            page, row, [ref, text, book_day, books, bank_day, bank_amount, difference, status], formats=formats
        )
    last = row - 1
    carried = first + len(CARRIED)
    sheet.put(
        page,
        row,
        ["February activity", None, None, f"=SUM(D{carried}:D{last})", None, f"=SUM(F{first}:F{last})"],
        formats=formats,
    )
    sheet.put(page, row + 1, ["Opening balance", None, None, BOOK_OPENING, None, BANK_OPENING], formats=formats)
    sheet.put(
        page,
        row + 2,
        ["Closing balance", None, None, f"=D{row}+D{row + 1}", None, f"=F{row}+F{row + 1}"],
        formats=formats,
    )
    for offset in range(3):
        sheet.total(page, row + offset, last=8)
    sheet.lay_out(page, [17, 44, 12, 13, 12, 13, 14, 24], freeze=f"A{first}", one_page=True)
    return f"Matching!D{row + 2}", f"Matching!F{row + 2}"


def _fill_summary(page: Any, book_total: str, bank_total: str) -> None:
    at = sheet.title(
        page,
        f"{CLIENT}: bank reconciliation",
        f"Account 1000, operating, {BANK} ending 0417, as of 02/28/2026",
        f"Prepared by {FIRM} from the bank statement, the ledger, the January reconciliation and the bookkeeper's"
        " notes",
    )
    money = {2: sheet.MONEY}
    row = sheet.header(page, at, ["Bank side", "Support", "Amount"])
    bank_row = row
    row = sheet.put(page, row, ["Balance per bank statement, 02/27/2026", "Statement", f"={bank_total}"], formats=money)
    items = [
        ("Add: deposit in transit, DEP-0208 (night drop 02/27)", "Ledger; notes", 2871.45),
        ("Less: check 2061, D. Marchetti, 08/11/2025 (stale, over 180 days)", "January list", -385.50),
        ("Less: check 2215, Granite Mutual Insurance, 02/12/2026", "Ledger", -1865.00),
        ("Less: check 2218, Tri-County Freight, 02/24/2026", "Ledger", -954.30),
        ("Less: check 2220, Ridgeway Lumber, 02/26/2026", "Ledger", -2650.00),
        ("Add: bank error, check 1187 is not drawn on our account", "Statement; notes", 860.00),
    ]
    for label, support, amount in items:
        row = sheet.put(page, row, [label, support, amount], formats=money)
    adjusted_bank = row
    sheet.put(page, row, ["Adjusted bank balance", None, f"=SUM(C{bank_row}:C{row - 1})"], formats=money)
    sheet.total(page, row, last=3)
    row = sheet.header(page, row + 2, ["Book side", "Support", "Amount"])
    book_row = row
    row = sheet.put(page, row, ["Balance per general ledger, 02/28/2026", "Ledger", f"={book_total}"], formats=money)
    for label, amount, support in BOOK_ITEMS:
        row = sheet.put(page, row, [label, support, amount], formats=money)
    sheet.put(page, row, ["Adjusted book balance", None, f"=SUM(C{book_row}:C{row - 1})"], formats=money)
    sheet.total(page, row, last=3)
    sheet.put(
        page,
        row + 2,
        ["Unreconciled difference", None, f"=ROUND(C{adjusted_bank}-C{row},2)"],
        formats={2: '#,##0.00;(#,##0.00);"0.00"'},
    )
    sheet.total(page, row + 2, last=3)
    sheet.put(
        page,
        row + 3,
        [
            "Check: adjusting entries to cash agree with the book side",
            None,
            (
                f"=IF(ROUND(SUM(C{book_row + 1}:C{row - 1})-SUMIF('Adjusting entries'!B:B,\"1000 Cash,"
                " operating\",'Adjusting entries'!C:C)+SUMIF('Adjusting entries'!B:B,\"1000 Cash,"
                ' operating",\'Adjusting entries\'!D:D),2)=0,"agrees","DIFFERS")'
            ),
        ],
    )
    sheet.put(page, row + 5, ["Prepared by / date", "", "____________"])
    sheet.put(page, row + 6, ["Reviewed by / date", "", "____________"])
    sheet.lay_out(page, [66, 20, 16], landscape=False)


def _fill_entries(page: Any) -> None:
    at = sheet.title(page, "Proposed adjusting entries, 02/28/2026", "Proposed for the client's approval; not posted.")
    row = first = sheet.header(page, at, ["Entry", "Account", "Debit", "Credit", "Explanation"])
    for name, lines, reason in ENTRIES:
        for number, (account, debit, credit) in enumerate(lines):
            label, why = (name, reason) if number == 0 else (None, None)
            row = sheet.put(
                page,
                row,
                [label, account, debit or None, credit or None, why],
                formats={2: sheet.MONEY, 3: sheet.MONEY},
            )
    sheet.put(
        page,
        row,
        [
            "Total",
            None,
            f"=SUM(C{first}:C{row - 1})",
            f"=SUM(D{first}:D{row - 1})",
            f'=IF(ROUND(C{row}-D{row},2)=0,"Entries balance","OUT OF BALANCE")',
        ],
        formats={2: sheet.MONEY, 3: sheet.MONEY},
    )
    sheet.total(page, row, last=5)
    sheet.lay_out(page, [9, 32, 13, 13, 62])


def _fill_notes(page: Any) -> None:
    row = sheet.title(page, "Points for the client and the reviewer")
    points = [
        (
            "1. Check 1187 (860.00, paid 02/26). The client has no such check stock and its series runs from 2198 to"
            " 2220. Treated as a bank error. The client should dispute it in writing now: the statement allows 30 days."
            " If the bank shows it to be a check on this account, it becomes a fraud matter, not a reconciling item."
        ),
        (
            "2. Check 2061 to D. Marchetti (385.50) is more than 180 days old and a bank may refuse it. Do not write it"
            " back to income. Contact the payee in writing, stop the check, and move it to 2400 Unclaimed property when"
            " the state's dormancy period requires. No entry proposed until the client has tried."
        ),
        (
            "3. Fenn Builders: a 4,400.00 check returned NSF two weeks after its 9,125.00 check cleared. Consider the"
            " collectibility of what Fenn still owes."
        ),
        (
            "4. The difference the bookkeeper saw is two posting errors and five unrecorded bank items on the book"
            " side, plus ordinary timing. Nothing was forced: the unreconciled difference is 0.00."
        ),
        (
            "5. Control points: deposits should be matched to remittance numbers when posted (the duplicate would have"
            " shown), and check amounts taken from the bill rather than typed. The statement closes on 02/27; 02/28 was"
            " a Saturday with no activity in the ledger."
        ),
    ]
    for text in points:
        row = sheet.note(page, row, text, merge_to=6, height=48)
    sheet.lay_out(page, [15] * 6, landscape=False)
