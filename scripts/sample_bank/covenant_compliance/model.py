"""The lender's model: each covenant line by line, a summary, a bridge to the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet
from sample_bank.covenant_compliance.figures import BORROWER, LENDER
from sample_bank.covenant_compliance.reference import fill_balances, fill_quarters

TENTHS, RATIO = "#,##0.0", '0.00"x"'


def write(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Summary"
    calculation = book.create_sheet("Calculation")
    bridge = book.create_sheet("Bridge")
    lines = fill_quarters(book.create_sheet("Quarterly"))
    balances = fill_balances(book.create_sheet("Balances"))
    cells = _fill_calculation(calculation, Source(lines, balances))
    _fill_summary(summary, cells)
    _fill_bridge(bridge, cells)
    finish.save_workbook(book, path, title="Covenant model Q3 2025", author=LENDER)


@dataclass(frozen=True)
class Source:
    """Where the borrower's figures sit: rows of the quarterly sheet and of the balances."""

    lines: dict[str, int]
    balances: dict[str, int]

    def year(self, label: str) -> str:
        """The four quarters to the test date."""
        return f"SUM(Quarterly!D{self.lines[label]}:G{self.lines[label]})"

    def at(self, label: str) -> str:
        return f"Balances!B{self.balances[label]}"


def _fill_calculation(page: Any, source: Source) -> dict[str, str]:
    """The covenants, line by line; gives the cells other sheets refer to."""
    row = sheet.title(
        page,
        "Covenant calculation, four quarters ended September 30, 2025",
        "USD thousands; Q4 2024 to Q3 2025; section numbers refer to the Credit Agreement",
    )
    calculation = sheet.Calculation(page, row)
    for part in (_earnings, _leverage, _coverage, _liquidity, _cure):
        part(calculation, source)
        calculation.gap()
    sheet.lay_out(page, [48, 14, 44], landscape=False, one_page=True)
    return {name: f"Calculation!{cell}" for name, cell in calculation.cells.items()}


def _earnings(to: sheet.Calculation, source: Source) -> None:
    year = source.year
    to.head("Consolidated EBITDA")
    to.line("ni", "Net income", f"={year('Net income')}", "Definition")
    to.line("int", "Interest expense", f"={year('Interest expense (incl. fee amortization)')}", "(a)")
    to.line("tax", "Income taxes", f"={year('Income tax expense')}", "(b)")
    to.line("da", "Depreciation and amortization", f"={year('Depreciation and amortization')}", "(c)")
    to.line("sbc", "Non-cash stock compensation", f"={year('Non-cash stock compensation (within SG&A)')}", "(d)")
    gain = f"=-{year('Gain on sale of building')}"
    to.line("gain", "Less: gain on sale of building (Q2 2025)", gain, "Outside the ordinary course")
    to.close("base", "EBITDA before clause (e)", "=SUM({ni}:{gain})")
    charges = f"={year('Restructuring charges (cash)')}"
    to.line("charges", "Restructuring charges incurred", charges, "(e), before the limit")
    to.line("cap", "Limit: 10% of EBITDA before clause (e)", "=10%*{base}", "(e), proviso", TENTHS)
    to.line("allowed", "Restructuring added back", "=MIN({charges},{cap})", "(e)", TENTHS)
    to.close("ebitda", "Consolidated EBITDA", "={base}+{allowed}", "", TENTHS)


def _leverage(to: sheet.Calculation, source: Source) -> None:
    at = source.at
    to.head("6.1 Total Leverage Ratio")
    term = f"={at('Term loan, current portion')}+{at('Term loan, long-term portion')}"
    to.line("term", "Term loan", term, "Current and long-term")
    to.line("rev", "Revolving loans", f"={at('Revolving loans outstanding')}")
    to.line("lease", "Finance leases", f"={at('Finance lease obligations')}", "Included by definition")
    to.line("seller", "Seller note", f"={at('Seller note (subordinated)')}", "Subordinated Debt is included")
    to.close("debt", "Funded Debt", "=SUM({term}:{seller})", "Operating leases and undrawn LCs excluded")
    cash = f"={at('Cash: operating accounts (control agreement in place)')}"
    to.line("ucash", "Unrestricted Cash", cash, "Control agreement accounts only")
    to.line("netted", "Netted, at most 2,000", "=-MIN(2000,{ucash})", "Limit in the ratio")
    ratio = "=ROUNDUP(({debt}+{netted})/{ebitda},2)"
    to.close("lev", "Total Leverage Ratio", ratio, "Limit 3.50x from 09/30/2025", RATIO)


def _coverage(to: sheet.Calculation, source: Source) -> None:
    year = source.year
    to.head("6.2 Fixed Charge Coverage Ratio")
    to.line("e2", "Consolidated EBITDA", "={ebitda}", "", TENTHS)
    capex = f"=-({year('Capital expenditures, total')}-{year('of which financed by finance leases')})"
    to.line("capex", "Less: unfinanced capital expenditures", capex, "Leased equipment excluded")
    to.line("ctax", "Less: income taxes paid in cash", f"=-{year('Income taxes paid in cash')}")
    to.line("dist", "Less: distributions", f"=-{year('Distributions to shareholders')}", "Q2 2025")
    to.close("num", "Cash available for fixed charges", "=SUM({e2}:{dist})", "", TENTHS)
    interest = f"={{int}}-{year('Amortization of financing fees (within interest)')}"
    to.line("cint", "Interest paid in cash", interest, "Fee amortization is not cash")
    to.line("p1", "Scheduled principal, term loan", f"={year('Scheduled principal: term loan')}")
    to.line("p2", "Scheduled principal, finance leases", f"={year('Scheduled principal: finance leases')}")
    to.close("fixed", "Fixed charges", "=SUM({cint}:{p2})")
    to.close("fccr", "Fixed Charge Coverage Ratio", "=ROUNDDOWN({num}/{fixed},2)", "Minimum 1.10x", RATIO)


def _liquidity(to: sheet.Calculation, source: Source) -> None:
    used = (source.at("Revolving loans outstanding"), source.at("Letters of credit issued and undrawn"))
    to.head("6.3 Liquidity")
    to.line("l1", "Unrestricted Cash", "={ucash}", "Without the 2,000 limit")
    unused = f"={source.at('Revolving commitment')}-{used[0]}-{used[1]}"
    to.line("l2", "Unused commitment after letters of credit", unused)
    to.close("liq", "Liquidity", "={l1}+{l2}", "Minimum 4,000")


def _cure(to: sheet.Calculation, _: Source) -> None:
    to.head("6.5 Equity cure for 6.1")
    to.line("need", "EBITDA needed at 3.50x", "=({debt}+{netted})/3.5", "Cure is not netted against debt", TENTHS)
    to.close("cure", "Cure amount", "=MAX(0,{need}-{ebitda})", "Limit under (e) unchanged by the cure", TENTHS)


def _fill_summary(page: Any, cells: dict[str, str]) -> None:
    at = sheet.title(
        page,
        f"{BORROWER}: covenant compliance",
        f"Test date September 30, 2025; USD thousands; prepared by {LENDER} credit analysis",
    )
    row = sheet.header(
        page, at, ["Covenant", "Required", "Borrower", "Recalculated", "Result", "EBITDA cushion (shortfall)"]
    )
    rows = [
        ("6.1 Total Leverage Ratio (maximum)", 3.50, 2.42, "lev", f"={cells['ebitda']}-{cells['need']}", RATIO, "<="),
        (
            "6.2 Fixed Charge Coverage (minimum)",
            1.10,
            1.52,
            "fccr",
            f"={cells['num']}-1.1*{cells['fixed']}",
            RATIO,
            ">=",
        ),
        ("6.3 Liquidity (minimum)", 4000, 6910, "liq", None, sheet.WHOLE, ">="),
    ]
    for label, limit, stated, name, cushion, shape, sign in rows:
        verdict = f'=IF(D{row}{sign}B{row},"Complies","BREACH")'
        values = [label, limit, stated, f"={cells[name]}", verdict, cushion or "n/a (cash test)"]
        row = sheet.put(page, row, values, formats={1: shape, 2: shape, 3: shape, 5: "#,##0.0;(#,##0.0)"})
    row = sheet.put(
        page, row + 1, ["Equity cure needed for 6.1", None, None, f"={cells['cure']}"], formats={3: "#,##0.0"}
    )
    row = sheet.put(page, row, ["Certificate due (45 days after quarter end)", None, None, "Nov 14, 2025"])
    row = sheet.put(
        page, row, ["Cure must be received by (10 Business Days; Nov 27 is a holiday)", None, None, "Dec 1, 2025"]
    )
    _fill_sensitivity(page, row + 1, cells)
    sheet.lay_out(page, [52, 12, 12, 14, 12, 18])


def _fill_sensitivity(page: Any, row: int, cells: dict[str, str]) -> None:
    """What the ratio would be under the readings the borrower may argue for."""
    row = sheet.section(page, row, "Sensitivity: Total Leverage Ratio")
    row = sheet.header(page, row, ["If the reading were ...", "EBITDA", "Net debt", "Ratio", "At 3.50x", ""])
    debt = f"({cells['debt']}+{cells['netted']})"
    cases = [
        ("As recalculated", f"={cells['ebitda']}", f"={debt}"),
        ("Restructuring without the 10% limit", f"={cells['base']}+{cells['charges']}", f"={debt}"),
        ("Building gain left in", f"={cells['ebitda']}-{cells['gain']}*1.1", f"={debt}"),
        ("Seller note left out", f"={cells['ebitda']}", f"={debt}-{cells['seller']}"),
    ]
    for label, earned, owed in cases:
        verdict = f'=IF(D{row}<=3.5,"Complies","BREACH")'
        values = [label, earned, owed, f"=ROUNDUP(C{row}/B{row},2)", verdict, None]
        row = sheet.put(page, row, values, formats={1: "#,##0.0", 2: sheet.WHOLE, 3: RATIO})
    sheet.note(
        page,
        row + 1,
        "Any one of the three readings would bring the ratio under 3.50x, so expect the Borrower to argue one. Under"
        " the text of the agreement none is available.",
        merge_to=6,
        height=30,
    )


def _fill_bridge(page: Any, cells: dict[str, str]) -> None:
    at = sheet.title(page, "From the Borrower's certificate to our figures", "USD thousands")
    row = first = sheet.header(page, at, ["Consolidated EBITDA", "Amount", "Why"])
    row = sheet.put(
        page, row, ["Per certificate", 11135, "Certificate, November 12, 2025"], formats={1: "#,##0.0;(#,##0.0)"}
    )
    row = sheet.put(
        page,
        row,
        ["Gain on sale of building", f"={cells['gain']}", "Must be deducted: outside the ordinary course"],
        formats={1: "#,##0.0;(#,##0.0)"},
    )
    row = sheet.put(
        page,
        row,
        [
            "Restructuring above the limit",
            f"={cells['allowed']}-{cells['charges']}",
            "Clause (e) allows 10% of EBITDA before the add-back",
        ],
        formats={1: "#,##0.0;(#,##0.0)"},
    )
    row = sheet.put(
        page,
        row,
        [
            "Recalculated",
            f"=SUM(B{first}:B{row - 1})",
            f'=IF(ROUND(B{row}-{cells["ebitda"]},1)=0,"agrees with Calculation","DIFFERS")',
        ],
        formats={1: "#,##0.0;(#,##0.0)"},
    )
    sheet.total(page, row - 1, last=3)
    row = start = sheet.header(page, row + 1, ["Net Funded Debt", "Amount", "Why"])
    items = [
        ("Per certificate (30,250 less cash 3,260)", 26990, "Certificate"),
        ("Finance leases", f"={cells['lease']}", "Included in Funded Debt"),
        ("Seller note", f"={cells['seller']}", "Subordinated Debt is included"),
        ("Restricted escrow cash", 450, "Not Unrestricted Cash"),
        ("Halifax account", 520, "No control agreement"),
        ("Cash above the 2,000 limit", f"={cells['ucash']}+{cells['netted']}", "Limit in the Total Leverage Ratio"),
    ]
    for item in items:
        row = sheet.put(page, row, item, formats={1: sheet.WHOLE})
    sheet.put(
        page,
        row,
        [
            "Recalculated",
            f"=SUM(B{start}:B{row - 1})",
            f'=IF(B{row}={cells["debt"]}+{cells["netted"]},"agrees with Calculation","DIFFERS")',
        ],
        formats={1: sheet.WHOLE},
    )
    sheet.total(page, row, last=3)
    sheet.lay_out(page, [46, 14, 54])
