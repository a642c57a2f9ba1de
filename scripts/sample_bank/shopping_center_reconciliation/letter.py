"""The statement Corner Vet receives: what it owes, how it is worked out, how to question it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_bank import finish, word
from sample_bank.shopping_center_reconciliation.center import CENTER, MANAGER, TENANTS, Bill, Tenant, bill, pool


def write(path: Path) -> None:
    tenant = next(one for one in TENANTS if one.name == "Corner Vet")
    owed = bill(tenant)
    due = owed.total - tenant.estimates
    document = word.new_document()
    word.paragraph(document, f"**{MANAGER}**\nfor the owner of {CENTER}")
    word.paragraph(document, "March 16, 2026\n\nCorner Vet\nUnit 6, Fernhill Crossing")
    word.paragraph(document, "**Re: Statement of common expenses for 2025**")
    word.paragraph(
        document,
        f"Your share of common expenses for 2025 is **${owed.total:,.2f}**. You paid **${tenant.estimates:,.2f}** in"
        f" estimates, so a balance of **${due:,.2f}** is due by **April 15, 2026**. Your 5% limit on controllable"
        f" expenses applied this year and saved you ${owed.before_cap - owed.controllable:,.2f} before the"
        " administrative fee.",
    )
    _workings(document, tenant, owed)
    _explanations(document, owed)
    word.paragraph(document, f"Thank you for being part of {CENTER}.\n\n\nProperty manager\n{MANAGER}")
    word.footer(document, f"{MANAGER} (invented)  |  sample data")
    finish.save_word(document, path, title="Statement of common expenses 2025, Corner Vet", author=MANAGER)


def _workings(document: Any, tenant: Tenant, owed: Bill) -> None:
    controllable = pool("Controllable") + pool("Management fee")
    rows = [
        ["Controllable expenses, incl. management fee", f"{controllable:,.2f}", "5.0000%", f"{owed.before_cap:,.2f}"],
        ["  Reduced to your limit: 5,600.00 plus 5%", "", "", f"{owed.controllable:,.2f}"],
        [
            "Snow removal and utilities",
            f"{pool('Snow and utilities'):,.2f}",
            "5.0000%",
            f"{owed.snow_and_utilities:,.2f}",
        ],
        ["Trash (shop tenants, 36,000 sq ft)", f"{pool('Trash'):,.2f}", "8.3333%", f"{owed.trash:,.2f}"],
        ["Administrative fee, 10% of the above after the limit", "", "", f"{owed.admin:,.2f}"],
        ["Insurance", f"{pool('Insurance'):,.2f}", "5.0000%", f"{owed.insurance:,.2f}"],
        ["Real estate tax", f"{pool('Real estate tax'):,.2f}", "5.0000%", f"{owed.tax:,.2f}"],
        ["Your share for 2025", "", "", f"{owed.total:,.2f}"],
        ["Estimates received (12 x 1,480.00)", "", "", f"({tenant.estimates:,.2f})"],
        ["Balance due", "", "", f"{owed.total - tenant.estimates:,.2f}"],
    ]
    word.table(
        document,
        ["Item", "Center, $", "Share", "You, $"],
        rows,
        widths_in=[3.4, 1.1, 0.9, 1.1],
        right=(1, 2, 3),
        bold_rows=(7, 9),
    )
    word.paragraph(
        document, "The first line of the table is shown for information; the limited amount below it is what counts."
    )


def _explanations(document: Any, owed: Bill) -> None:
    document.add_heading("What is not in it", 2)
    word.paragraph(
        document,
        "We left out what your lease does not let us pass on: the roof work, legal and leasing costs, work inside a"
        " vacant unit, and the penalty for late payment of tax. The parking lot was resealed in May for $9,200; one"
        " fifth, $1,840, is in this year's expenses and one fifth will be in each of the next four.",
    )
    document.add_heading("2026 and your rights", 2)
    word.bullets(
        document,
        [
            (
                f"The same cost would be ${owed.total / 12:,.2f} a month; your estimate has been $1,480.00. We propose"
                f" ${round(owed.total / 12 / 5) * 5:,.2f} from May 1, 2026."
            ),
            (
                "You may examine the records within 90 days of this statement, that is until June 14, 2026. Please call"
                " and we will send the ledger."
            ),
            "Please pay with your April or May rent, marked “2025 expenses, Unit 6”.",
        ],
    )
