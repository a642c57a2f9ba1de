"""What the manager is given: the ledger, the lease abstracts, the estimates received."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.shopping_center_reconciliation.center import CENTER, MANAGER, TENANTS, entries

COMMON = [
    (
        "7.1 Each tenant pays its share of common expenses: its area over 60,000 sq ft of leasable area, by days for"
        " part of a year (365 days)."
    ),
    (
        "7.2 Not common expenses: (a) roof and structure; (b) legal costs of disputes with tenants; (c) leasing costs;"
        " (d) work inside leasable space; (e) fines, penalties and interest."
    ),
    (
        "7.3 A repair or improvement over $5,000 with a useful life of more than one year is spread evenly over that"
        " life, beginning in the year it is made, without interest."
    ),
    "7.4 Administrative fee: 10% of the tenant's share of common expenses other than insurance and real estate tax.",
    "7.5 Trash is shared by the shop tenants only (36,000 sq ft), in proportion to area.",
    (
        "7.6 The landlord sends a statement by March 31. A balance is due 30 days after the date of the statement; a"
        " credit is applied to the next estimates. The tenant may examine the records within 90 days of the statement."
    ),
]
OWN = [
    (
        "Brightleaf Grocers, Unit 1, 24,000 sq ft",
        "Whole year. Pays no management fee, no administrative fee and no trash (own compactor).",
    ),
    (
        "Corner Vet, Unit 6, 3,000 sq ft",
        (
            "Whole year. Its share of controllable expenses may not rise by more than 5% over the year before."
            " Controllable means all common expenses, the management fee included, except snow removal, utilities,"
            " trash, insurance and real estate tax. Its share of controllable expenses for 2024 was $5,600.00. The"
            " administrative fee is taken after the limit."
        ),
    ),
    ("Luna Taqueria, Unit 8, 2,400 sq ft", "Commenced April 1, 2025. No limit. Otherwise as above."),
]


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "general_ledger_2025.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["date", "account", "vendor", "memo", "amount"])
        rows.writerows(
            [entry.day, entry.account, entry.vendor, entry.memo, f"{entry.amount:.2f}"] for entry in entries()
        )
    _write_leases(folder / "lease_abstracts.docx")
    _write_estimates(folder / "estimates_received_2025.xlsx")


def _write_leases(path: Path) -> None:
    document = word.new_document()
    document.add_heading(f"{CENTER}: lease abstracts for common expenses", 1)
    word.paragraph(
        document,
        "Three tenants pay common expenses in addition to rent. The other units are vacant or on gross leases; their"
        " share stays with the landlord.",
    )
    document.add_heading("The same in all three leases", 2)
    for text in COMMON:
        word.paragraph(document, text)
    document.add_heading("Particular to each lease", 2)
    word.table(document, ["Tenant", "Terms"], OWN, widths_in=[2.2, 4.3], size=10)
    word.footer(document, "Sample data, invented")
    finish.save_word(document, path, title="Lease abstracts", author=MANAGER)


def _write_estimates(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Received"
    row = sheet.title(
        page, f"{CENTER}: estimated payments received, 2025", "US dollars; payments toward common expenses only"
    )
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    row = sheet.header(page, row, ["Tenant", *months, "Total"])
    monthly = {"Brightleaf Grocers": (9400.0, 12), "Corner Vet": (1480.0, 12), "Luna Taqueria": (1150.0, 9)}
    for tenant in TENANTS:
        amount, count = monthly[tenant.name]
        values = [None] * (12 - count) + [amount] * count
        row = sheet.put(
            page, row, [tenant.name, *values, f"=SUM(B{row}:M{row})"], formats=dict.fromkeys(range(1, 14), sheet.WHOLE)
        )
    sheet.lay_out(page, [22, *[8] * 12, 11])
    finish.save_workbook(book, path, title="Estimates received", author=MANAGER)
