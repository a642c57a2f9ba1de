"""The reconciliation: ledger classified line by line, pools, one column per tenant, all by formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet
from sample_bank.shopping_center_reconciliation.center import CENTER, MANAGER, POOLS, TENANTS, entries


def write(path: Path) -> None:
    book = Workbook()
    tenants: Any = book.active
    tenants.title = "Tenants"
    pools = book.create_sheet("Pools")
    last = _fill_ledger(book.create_sheet("Ledger"))
    cells = _fill_pools(pools, last)
    _fill_tenants(tenants, cells)
    finish.save_workbook(book, path, title=f"Expense reconciliation 2025, {CENTER}", author=MANAGER)


def _fill_ledger(page: Any) -> int:
    row = sheet.title(
        page,
        "General ledger 2025, classified",
        "Amount is what was booked; counted is what the leases let us pass on this year",
    )
    row = sheet.header(page, row, ["Date", "Account", "Vendor", "Memo", "Amount", "Pool", "Counted", "Reason"])
    for entry in entries():
        values = [
            entry.day,
            entry.account,
            entry.vendor,
            entry.memo,
            entry.amount,
            entry.pool,
            f"=E{row}" if entry.counted == entry.amount else entry.counted,
            entry.reason,
        ]
        if 0 < entry.counted < entry.amount:
            values[6] = f"=E{row}/5"
        row = sheet.put(page, row, values, formats={0: sheet.DATE, 4: sheet.MONEY, 6: sheet.MONEY})
    sheet.put(
        page,
        row,
        ["Total", None, None, None, f"=SUM(E5:E{row - 1})", None, f"=SUM(G5:G{row - 1})", None],
        formats={4: sheet.MONEY, 6: sheet.MONEY},
    )
    sheet.total(page, row, last=8)
    sheet.lay_out(page, [12, 21, 24, 38, 13, 19, 13, 46], freeze="A5")
    page.print_title_rows = "4:4"
    return row - 1


def _fill_pools(page: Any, last: int) -> dict[str, str]:
    row = sheet.title(page, "From the ledger to the pools", "US dollars")
    first = row = sheet.header(page, row, ["Pool", "Booked", "Counted", "Left out this year"])
    cells = {}
    for name in (*POOLS, "Excluded"):
        cells[name] = f"Pools!$C${row}"
        sums = [f"=SUMIF(Ledger!$F$5:$F${last},$A{row},Ledger!{column}$5:{column}${last})" for column in "EG"]
        row = sheet.put(page, row, [name, *sums, f"=B{row}-C{row}"], formats=dict.fromkeys(range(1, 4), sheet.MONEY))
    sheet.put(
        page,
        row,
        ["Total", *(f"=SUM({column}{first}:{column}{row - 1})" for column in "BCD")],
        formats=dict.fromkeys(range(1, 4), sheet.MONEY),
    )
    sheet.total(page, row, last=4)
    sheet.put(page, row + 1, ["Agrees with the ledger", f'=IF(ROUND(B{row}-SUM(Ledger!E5:E{last}),2)=0,"yes","NO")'])
    sheet.note(
        page,
        row + 3,
        "Left out within Controllable: four fifths of the reseal of May 6, 2025 (7.3). Carry 1,840.00 into each of 2026"
        " to 2029.",
        merge_to=4,
        height=28,
    )
    sheet.lay_out(page, [34, 16, 16, 18], landscape=False)
    return cells


def _fill_tenants(page: Any, pools: dict[str, str]) -> None:
    row = sheet.title(
        page,
        f"{CENTER}: common expense reconciliation 2025",
        f"Prepared by {MANAGER}; US dollars; clause numbers as in the lease abstracts",
    )
    row = sheet.header(page, row, ["Line", *(tenant.name for tenant in TENANTS), "Basis"])
    columns = "BCD"

    def add(label: str, values: list[Any], basis: str, shape: str = sheet.MONEY, *, total: bool = False) -> int:
        nonlocal row
        sheet.put(page, row, [label, *values, basis], formats=dict.fromkeys((1, 2, 3), shape))
        if total:
            sheet.total(page, row, last=5)
        row += 1
        return row - 1

    area = add("Area, sq ft", [tenant.area_sf for tenant in TENANTS], "Lease", sheet.WHOLE)
    days = add(
        "Days in 2025", [round(tenant.share_of_year * 365) for tenant in TENANTS], "Luna from April 1", sheet.WHOLE
    )
    share = add("Share of the center", [f"={c}{area}/60000*{c}{days}/365" for c in columns], "7.1", "0.0000%")
    trash_share = add(
        "Share of trash",
        [
            f"={c}{area}/36000*{c}{days}/365" if tenant.pays_trash else 0
            for c, tenant in zip(columns, TENANTS, strict=True)
        ],
        "7.5",
        '0.0000%;;"-"',
    )
    control = add(
        "Controllable expenses", [f"={c}{share}*{pools['Controllable']}" for c in columns], "Ledger; 7.2, 7.3"
    )
    fee = add(
        "Management fee",
        [
            f"={c}{share}*{pools['Management fee']}" if tenant.pays_management else 0
            for c, tenant in zip(columns, TENANTS, strict=True)
        ],
        "Not Brightleaf",
    )
    limits = [f"={tenant.controllable_2024}*(1+5%)" if tenant.controllable_2024 else "none" for tenant in TENANTS]
    limit = add("Limit on the two lines above", limits, "Corner Vet: 5,600.00 plus 5%")
    capped = [f"=ROUND(MIN({c}{control}+{c}{fee},IF(ISNUMBER({c}{limit}),{c}{limit},10^9)),2)" for c in columns]
    used = add("Controllable, after the limit", capped, "", total=True)
    other = add(
        "Snow removal and utilities", [f"=ROUND({c}{share}*{pools['Snow and utilities']},2)" for c in columns], ""
    )
    trash = add("Trash", [f"=ROUND({c}{trash_share}*{pools['Trash']},2)" for c in columns], "7.5")
    add(
        "Administrative fee, 10%",
        [
            f"=ROUND(10%*({c}{used}+{c}{other}+{c}{trash}),2)" if tenant.pays_admin else 0
            for c, tenant in zip(columns, TENANTS, strict=True)
        ],
        "7.4; after the limit; not Brightleaf",
    )
    add("Insurance", [f"=ROUND({c}{share}*{pools['Insurance']},2)" for c in columns], "")
    tax = add(
        "Real estate tax",
        [f"=ROUND({c}{share}*{pools['Real estate tax']},2)" for c in columns],
        "Without the late penalty",
    )
    owed = add("Owed for 2025", [f"=SUM({c}{used}:{c}{tax})" for c in columns], "", total=True)
    paid = add("Estimates received", [-tenant.estimates for tenant in TENANTS], "Estimates workbook")
    add(
        "Balance due (credit)",
        [f"={c}{owed}+{c}{paid}" for c in columns],
        "Due 30 days after the statement",
        total=True,
    )
    row += 1
    add("Given up to the limit", [f"=ROUND({c}{control}+{c}{fee}-{c}{used},2)" for c in columns], "Landlord's cost")
    monthly = [f"=ROUND({c}{owed}/{c}{days}*365/12,2)" for c in columns]
    add("Suggested monthly estimate for 2026", monthly, "2025 cost over a full year, before any increase")
    sheet.lay_out(page, [34, 19, 15, 15, 38])
