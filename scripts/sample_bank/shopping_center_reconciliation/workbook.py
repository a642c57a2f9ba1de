"""The reconciliation: ledger classified line by line, pools, one column per tenant, all by formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet
from sample_bank.shopping_center_reconciliation.center import CENTER, MANAGER, POOLS, TENANTS, entries

COLUMNS = "BCD"


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


@dataclass
class TenantTable:
    """One column per tenant, growing downward; a formula names its column `{c}` and earlier rows by number."""

    page: Any
    row: int

    def add(self, label: str, values: Sequence[Any], basis: str = "", shape: str = sheet.MONEY) -> int:
        sheet.put(self.page, self.row, [label, *values, basis], formats=dict.fromkeys((1, 2, 3), shape))
        self.row += 1
        return self.row - 1

    def close(self, label: str, values: Sequence[Any], basis: str = "") -> int:
        """Add a line that reads as a total."""
        number = self.add(label, values, basis)
        sheet.total(self.page, number, last=5)
        return number


def each(formula: str) -> list[str]:
    return [formula.replace("{c}", column) for column in COLUMNS]


def where(pays: Sequence[bool], formula: str) -> list[Any]:
    """The formula for tenants who pay the item, nothing for the others."""
    return [one if paid else 0 for one, paid in zip(each(formula), pays, strict=True)]


def _fill_tenants(page: Any, pools: dict[str, str]) -> None:
    row = sheet.title(
        page,
        f"{CENTER}: common expense reconciliation 2025",
        f"Prepared by {MANAGER}; US dollars; clause numbers as in the lease abstracts",
    )
    table = TenantTable(page, sheet.header(page, row, ["Line", *(tenant.name for tenant in TENANTS), "Basis"]))
    area = table.add("Area, sq ft", [tenant.area_sf for tenant in TENANTS], "Lease", sheet.WHOLE)
    in_days = [round(tenant.share_of_year * 365) for tenant in TENANTS]
    days = table.add("Days in 2025", in_days, "Luna from April 1", sheet.WHOLE)
    share = table.add("Share of the center", each(f"={{c}}{area}/60000*{{c}}{days}/365"), "7.1", "0.0000%")
    trash_share = where([tenant.pays_trash for tenant in TENANTS], f"={{c}}{area}/36000*{{c}}{days}/365")
    trash = table.add("Share of trash", trash_share, "7.5", '0.0000%;;"-"')
    given_up, owed = _fill_charges(table, pools, share=share, trash_share=trash)
    paid = table.add("Estimates received", [-tenant.estimates for tenant in TENANTS], "Estimates workbook")
    table.close("Balance due (credit)", each(f"={{c}}{owed}+{{c}}{paid}"), "Due 30 days after the statement")
    table.row += 1
    table.add("Given up to the limit", each(given_up), "Landlord's cost")
    monthly = each(f"=ROUND({{c}}{owed}/{{c}}{days}*365/12,2)")
    table.add("Suggested monthly estimate for 2026", monthly, "2025 cost over a full year, before any increase")
    sheet.lay_out(page, [34, 19, 15, 15, 38])


def _fill_charges(table: TenantTable, pools: dict[str, str], *, share: int, trash_share: int) -> tuple[str, int]:
    """The charges by pool; gives the formula of what a limit saves, and the row of the total."""
    control = table.add("Controllable expenses", each(f"={{c}}{share}*{pools['Controllable']}"), "Ledger; 7.2, 7.3")
    fees = where([tenant.pays_management for tenant in TENANTS], f"={{c}}{share}*{pools['Management fee']}")
    fee = table.add("Management fee", fees, "Not Brightleaf")
    limits = [f"={tenant.controllable_2024}*(1+5%)" if tenant.controllable_2024 else "none" for tenant in TENANTS]
    limit = table.add("Limit on the two lines above", limits, "Corner Vet: 5,600.00 plus 5%")
    capped = f"=ROUND(MIN({{c}}{control}+{{c}}{fee},IF(ISNUMBER({{c}}{limit}),{{c}}{limit},10^9)),2)"
    used = table.close("Controllable, after the limit", each(capped))
    other = table.add("Snow removal and utilities", each(f"=ROUND({{c}}{share}*{pools['Snow and utilities']},2)"))
    trash = table.add("Trash", each(f"=ROUND({{c}}{trash_share}*{pools['Trash']},2)"), "7.5")
    fees = where([tenant.pays_admin for tenant in TENANTS], f"=ROUND(10%*({{c}}{used}+{{c}}{other}+{{c}}{trash}),2)")
    table.add("Administrative fee, 10%", fees, "7.4; after the limit; not Brightleaf")
    table.add("Insurance", each(f"=ROUND({{c}}{share}*{pools['Insurance']},2)"))
    taxes = each(f"=ROUND({{c}}{share}*{pools['Real estate tax']},2)")
    tax = table.add("Real estate tax", taxes, "Without the late penalty")
    owed = table.close("Owed for 2025", each(f"=SUM({{c}}{used}:{{c}}{tax})"))
    return f"=ROUND({{c}}{control}+{{c}}{fee}-{{c}}{used},2)", owed
