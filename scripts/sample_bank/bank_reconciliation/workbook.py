"""The finished reconciliation: two sides, every line matched, adjusting entries, notes."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet
from sample_bank.bank_reconciliation.books import (
    BANK,
    BANK_OPENING,
    BOOK_ITEMS,
    BOOK_OPENING,
    BOOKS,
    CARRIED,
    CLIENT,
    ENTRIES,
    FIRM,
    STATEMENT,
)


def write(path: Path) -> None:
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
