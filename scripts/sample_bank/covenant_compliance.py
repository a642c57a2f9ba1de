"""Financial and Investment Analysts: a lender's check of a borrower's quarterly covenant certificate."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word

BORROWER, LENDER = "Lakeshore Packaging Holdings, Inc.", "Meridian Commercial Bank"
QUARTERS = ["Q2 2024", "Q3 2024", "Q4 2024", "Q1 2025", "Q2 2025", "Q3 2025"]
REVENUE = [24310, 25020, 23870, 22940, 24105, 23650]
COGS = [16980, 17440, 16790, 16290, 17020, 16845]
SGA = [4420, 4480, 4465, 4390, 4440, 4475]
DEPRECIATION = [1150, 1160, 1175, 1180, 1190, 1205]
RESTRUCTURING = [0, 0, 410, 620, 585, 640]
GAIN = [0, 0, 0, 0, 925, 0]
INTEREST = [820, 815, 805, 798, 812, 826]
TAX = [235, 281, 56, -85, 246, -85]
STOCK = [80, 80, 85, 90, 90, 95]
FEES = [40, 40, 40, 40, 40, 40]
CAPEX = [690, 610, 640, 580, 720, 610]
LEASED_CAPEX = [0, 0, 150, 0, 300, 0]
CASH_TAX = [180, 150, 60, 40, 110, 85]
DISTRIBUTIONS = [0, 0, 0, 0, 300, 0]
TERM_PRINCIPAL = [500] * 6
LEASE_PRINCIPAL = [85, 88, 92, 94, 96, 98]
BALANCES = [
    ("Cash: operating accounts (control agreement in place)", 2290),
    ("Cash: Halifax account (no control agreement)", 520),
    ("Cash: building-sale escrow (restricted)", 450),
    ("Term loan, current portion", 2000),
    ("Term loan, long-term portion", 22500),
    ("Revolving loans outstanding", 5750),
    ("Finance lease obligations", 1480),
    ("Operating lease liabilities", 3900),
    ("Seller note (subordinated)", 1500),
    ("Letters of credit issued and undrawn", 600),
    ("Revolving commitment", 10000),
]
INCOME: list[tuple[str, Sequence[int]]] = [
    ("Revenue", REVENUE),
    ("Cost of goods sold (excl. depreciation)", COGS),
    ("Selling, general and administrative (incl. stock compensation)", SGA),
    ("Depreciation and amortization", DEPRECIATION),
    ("Restructuring charges (cash)", RESTRUCTURING),
    ("Gain on sale of building", GAIN),
    ("Interest expense (incl. fee amortization)", INTEREST),
]
SUPPLEMENT: list[tuple[str, Sequence[int]]] = [
    ("Non-cash stock compensation (within SG&A)", STOCK),
    ("Amortization of financing fees (within interest)", FEES),
    ("Capital expenditures, total", CAPEX),
    ("  of which financed by finance leases", LEASED_CAPEX),
    ("Income taxes paid in cash", CASH_TAX),
    ("Distributions to shareholders", DISTRIBUTIONS),
    ("Scheduled principal: term loan", TERM_PRINCIPAL),
    ("Scheduled principal: finance leases", LEASE_PRINCIPAL),
]
DEFINITIONS = [
    (
        "“Consolidated EBITDA”",
        (
            "means, for any period of four consecutive fiscal quarters, Consolidated Net Income plus, to the extent"
            " deducted in determining it, (a) interest expense, (b) income taxes, (c) depreciation and amortization,"
            " (d) non-cash stock compensation and (e) cash restructuring charges, provided that the amount added back"
            " under clause (e) shall not exceed 10% of Consolidated EBITDA for such period calculated before giving"
            " effect to clause (e); minus, to the extent included in Consolidated Net Income, gains on the sale of"
            " assets outside the ordinary course."
        ),
    ),
    (
        "“Funded Debt”",
        (
            "means all obligations for borrowed money, including revolving loans, term loans, seller notes and other"
            " Subordinated Debt, and all finance lease obligations. Funded Debt excludes operating lease liabilities"
            " and the undrawn amount of letters of credit."
        ),
    ),
    (
        "“Unrestricted Cash”",
        (
            "means cash held in deposit accounts subject to a control agreement in favor of the Lender and not"
            " otherwise restricted."
        ),
    ),
    (
        "“Total Leverage Ratio”",
        (
            "means, at any date, (x) Funded Debt less Unrestricted Cash in an amount not to exceed $2,000,000, to (y)"
            " Consolidated EBITDA for the four fiscal quarters then ended."
        ),
    ),
    (
        "“Fixed Charge Coverage Ratio”",
        (
            "means, for four fiscal quarters, (x) Consolidated EBITDA less capital expenditures not financed by Funded"
            " Debt (other than revolving loans), less income taxes paid in cash, less distributions, to (y) interest"
            " expense paid in cash plus scheduled principal payments of Funded Debt."
        ),
    ),
    (
        "“Business Day”",
        "means a day other than a Saturday, a Sunday or a day on which banks are closed for a federal holiday.",
    ),
]
COVENANTS = [
    (
        "6.1 Total Leverage Ratio.",
        (
            "The Borrower shall not permit the Total Leverage Ratio as of the last day of any fiscal quarter to exceed:"
            " 3.75 to 1.00 through June 30, 2025; 3.50 to 1.00 from September 30, 2025 through December 31, 2025; and"
            " 3.25 to 1.00 thereafter."
        ),
    ),
    ("6.2 Fixed Charge Coverage Ratio.", "Not less than 1.10 to 1.00 as of the last day of any fiscal quarter."),
    (
        "6.3 Liquidity.",
        (
            "Unrestricted Cash (without the limit in the Total Leverage Ratio) plus the unused Revolving Commitment,"
            " after deducting letters of credit, shall not be less than $4,000,000 at any quarter end."
        ),
    ),
    (
        "6.4 Reporting.",
        (
            "Compliance certificates are due 45 days after the end of each of the first three fiscal quarters. The"
            " fiscal year is the calendar year. Ratios are carried to two decimals and not rounded in the Borrower's"
            " favor."
        ),
    ),
    (
        "6.5 Equity Cure.",
        (
            "A breach of 6.1 or 6.2 may be cured by a cash equity contribution received within ten Business Days after"
            " the date the certificate is due. The contribution is deemed an increase of Consolidated EBITDA for that"
            " quarter and for any four-quarter period that contains it, in no greater amount than is needed to comply;"
            " it is disregarded for the limit in clause (e) and is not netted against Funded Debt. No more than two"
            " cures in four quarters."
        ),
    ),
]


def build(folder: Path) -> None:
    reference, expert = folder / "reference", folder / "expert"
    _write_agreement(reference / "credit_agreement_excerpt.pdf")
    _write_financials(reference / "quarterly_financials.xlsx")
    _write_certificate(reference / "compliance_certificate_q3_2025.docx")
    _write_model(expert / "covenant_model_q3_2025.xlsx")
    _write_memo(expert / "covenant_memo_q3_2025.pdf")


def _as_pdf(document: Any, path: Path, *, title: str, author: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source.docx"
        finish.save_word(document, source, title=title, author=author)
        finish.save_pdf(source, path, title=title, author=author)


def _write_agreement(path: Path) -> None:
    document = word.new_document(font="Liberation Serif", size=10.5)
    document.add_heading("Credit Agreement (excerpt)", 1)
    word.paragraph(
        document,
        f"dated as of May 17, 2023, between {BORROWER}, as Borrower, and {LENDER}, as Lender, as amended by "
        "the First Amendment of March 28, 2025",
    )
    document.add_heading("Section 1. Certain definitions", 2)
    for term, meaning in DEFINITIONS:
        word.paragraph(document, f"**{term}** {meaning}", align="justify")
    document.add_heading("Section 6. Financial covenants", 2)
    for name, text in COVENANTS:
        word.paragraph(document, f"**{name}** {text}", align="justify")
    word.footer(document, "Credit Agreement excerpt  |  sample data, invented")
    _as_pdf(document, path, title="Credit Agreement (excerpt)", author=LENDER)


def _write_financials(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Quarterly"
    _fill_quarters(page)
    balances = book.create_sheet("Balance sheet items")
    _fill_balances(balances)
    finish.save_workbook(book, path, title="Quarterly financials", author=BORROWER)


def _fill_quarters(page: Any) -> dict[str, int]:
    """Six quarters of the borrower's figures; gives the row of each line, by label."""
    at = sheet.title(page, f"{BORROWER}: quarterly figures", "USD thousands, unaudited, fiscal year = calendar year")
    row = sheet.header(page, at, ["Line", *QUARTERS])
    formats = dict.fromkeys(range(1, 7), sheet.WHOLE)
    rows: dict[str, int] = {}
    for label, values in INCOME:
        rows[label] = row
        row = sheet.put(page, row, [label, *values], formats=formats)
    first = row - len(INCOME)
    signs = ["+", "-", "-", "-", "-", "+", "-"]
    columns = "BCDEFG"
    pretax = ["=" + "".join(f"{sign}{column}{first + n}" for n, sign in enumerate(signs)) for column in columns]
    rows["Income before tax"] = row
    row = sheet.put(page, row, ["Income before tax", *pretax], formats=formats)
    rows["Income tax expense"] = row
    row = sheet.put(page, row, ["Income tax expense (benefit)", *TAX], formats=formats)
    rows["Net income"] = row
    row = sheet.put(page, row, ["Net income", *(f"={c}{row - 2}-{c}{row - 1}" for c in columns)], formats=formats)
    sheet.total(page, row - 1, last=7)
    row = sheet.section(page, row + 1, "Supplementary")
    for label, values in SUPPLEMENT:
        rows[label.strip()] = row
        row = sheet.put(page, row, [label, *values], formats=formats)
    sheet.lay_out(page, [58, *[12] * 6], freeze="B5", one_page=True)
    return rows


def _fill_balances(page: Any) -> dict[str, int]:
    at = sheet.title(page, "Selected balances, September 30, 2025", "USD thousands, unaudited")
    row = sheet.header(page, at, ["Item", "09/30/2025"])
    rows = {}
    for label, amount in BALANCES:
        rows[label] = row
        row = sheet.put(page, row, [label, amount], formats={1: sheet.WHOLE})
    sheet.lay_out(page, [58, 14], landscape=False)
    return rows


def _write_certificate(path: Path) -> None:
    document = word.new_document()
    document.add_heading("Compliance Certificate", 1)
    word.paragraph(
        document, f"{BORROWER}\nFiscal quarter ended September 30, 2025 (USD thousands)\nDelivered November 12, 2025"
    )
    word.paragraph(
        document,
        "The undersigned certifies that the Borrower is in compliance with Section 6 of the Credit Agreement, "
        "calculated as follows:",
    )
    rows = [
        ["Consolidated EBITDA (four quarters)", "11,135"],
        ["Funded Debt (term loan and revolver)", "30,250"],
        ["Less cash", "(3,260)"],
        ["Total Leverage Ratio (limit 3.75x)", "2.42x"],
        ["Fixed Charge Coverage Ratio (minimum 1.10x)", "1.52x"],
        ["Liquidity (minimum 4,000)", "6,910"],
    ]
    word.table(document, ["Measure", "Borrower"], rows, widths_in=[4.4, 1.4], right=(1,), bold_rows=(3, 4, 5))
    word.paragraph(
        document,
        "EBITDA is net income plus interest, taxes, depreciation, stock compensation and all restructuring "
        "charges. No Default or Event of Default has occurred.",
    )
    word.paragraph(document, "T. Bergqvist\nChief Financial Officer")
    word.footer(document, "Sample data, invented")
    finish.save_word(document, path, title="Compliance certificate Q3 2025", author=BORROWER)


def _write_model(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Summary"
    calculation = book.create_sheet("Calculation")
    bridge = book.create_sheet("Bridge")
    lines = _fill_quarters(book.create_sheet("Quarterly"))
    balances = _fill_balances(book.create_sheet("Balances"))
    cells = _fill_calculation(calculation, lines, balances)
    _fill_summary(summary, cells)
    _fill_bridge(bridge, cells)
    finish.save_workbook(book, path, title="Covenant model Q3 2025", author=LENDER)


def _fill_calculation(page: Any, lines: dict[str, int], balances: dict[str, int]) -> dict[str, str]:
    """The three covenants, line by line; gives the cells other sheets refer to."""
    row = sheet.title(
        page,
        "Covenant calculation, four quarters ended September 30, 2025",
        "USD thousands; Q4 2024 to Q3 2025; section numbers refer to the Credit Agreement",
    )
    cells: dict[str, str] = {}

    def add(name: str, label: str, formula: str, source: str, shape: str = sheet.WHOLE) -> None:
        nonlocal row
        cells[name] = f"B{row}"
        row = sheet.put(page, row, [label, formula, source], formats={1: shape})

    def year(label: str) -> str:
        number = lines[label]
        return f"SUM(Quarterly!D{number}:G{number})"

    def at(label: str) -> str:
        return f"Balances!B{balances[label]}"

    def close(name: str, label: str, formula: str, source: str, shape: str = sheet.WHOLE) -> None:
        add(name, label, formula, source, shape)
        sheet.total(page, row - 1, last=3)

    row = sheet.header(page, row, ["Consolidated EBITDA", "Amount", "Basis"])
    add("ni", "Net income", f"={year('Net income')}", "Definition")
    add("int", "Interest expense", f"={year('Interest expense (incl. fee amortization)')}", "(a)")
    add("tax", "Income taxes", f"={year('Income tax expense')}", "(b)")
    add("da", "Depreciation and amortization", f"={year('Depreciation and amortization')}", "(c)")
    add("sbc", "Non-cash stock compensation", f"={year('Non-cash stock compensation (within SG&A)')}", "(d)")
    add(
        "gain",
        "Less: gain on sale of building (Q2 2025)",
        f"=-{year('Gain on sale of building')}",
        "Outside the ordinary course",
    )
    close("base", "EBITDA before clause (e)", f"=SUM({cells['ni']}:{cells['gain']})", "")
    add(
        "charges", "Restructuring charges incurred", f"={year('Restructuring charges (cash)')}", "(e), before the limit"
    )
    add("cap", "Limit: 10% of EBITDA before clause (e)", f"=10%*{cells['base']}", "(e), proviso", "#,##0.0")
    add("allowed", "Restructuring added back", f"=MIN({cells['charges']},{cells['cap']})", "(e)", "#,##0.0")
    close("ebitda", "Consolidated EBITDA", f"={cells['base']}+{cells['allowed']}", "", "#,##0.0")
    row = sheet.header(page, row + 1, ["6.1 Total Leverage Ratio", "Amount", "Basis"])
    add(
        "term",
        "Term loan",
        f"={at('Term loan, current portion')}+{at('Term loan, long-term portion')}",
        "Current and long-term",
    )
    add("rev", "Revolving loans", f"={at('Revolving loans outstanding')}", "")
    add("lease", "Finance leases", f"={at('Finance lease obligations')}", "Included by definition")
    add("seller", "Seller note", f"={at('Seller note (subordinated)')}", "Subordinated Debt is included")
    close(
        "debt", "Funded Debt", f"=SUM({cells['term']}:{cells['seller']})", "Operating leases and undrawn LCs excluded"
    )
    add(
        "ucash",
        "Unrestricted Cash",
        f"={at('Cash: operating accounts (control agreement in place)')}",
        "Control agreement accounts only",
    )
    add("netted", "Netted, at most 2,000", f"=-MIN(2000,{cells['ucash']})", "Limit in the ratio")
    close(
        "lev",
        "Total Leverage Ratio",
        f"=ROUNDUP(({cells['debt']}+{cells['netted']})/{cells['ebitda']},2)",
        "Limit 3.50x from 09/30/2025",
        '0.00"x"',
    )
    row = sheet.header(page, row + 1, ["6.2 Fixed Charge Coverage Ratio", "Amount", "Basis"])
    capex = f"=-({year('Capital expenditures, total')}-{year('of which financed by finance leases')})"
    add("e2", "Consolidated EBITDA", f"={cells['ebitda']}", "", "#,##0.0")
    add("capex", "Less: unfinanced capital expenditures", capex, "Leased equipment excluded")
    add("ctax", "Less: income taxes paid in cash", f"=-{year('Income taxes paid in cash')}", "")
    add("dist", "Less: distributions", f"=-{year('Distributions to shareholders')}", "Q2 2025")
    close("num", "Cash available for fixed charges", f"=SUM({cells['e2']}:{cells['dist']})", "", "#,##0.0")
    add(
        "cint",
        "Interest paid in cash",
        f"={cells['int']}-{year('Amortization of financing fees (within interest)')}",
        "Fee amortization is not cash",
    )
    add("p1", "Scheduled principal, term loan", f"={year('Scheduled principal: term loan')}", "")
    add("p2", "Scheduled principal, finance leases", f"={year('Scheduled principal: finance leases')}", "")
    close("fixed", "Fixed charges", f"=SUM({cells['cint']}:{cells['p2']})", "")
    close(
        "fccr",
        "Fixed Charge Coverage Ratio",
        f"=ROUNDDOWN({cells['num']}/{cells['fixed']},2)",
        "Minimum 1.10x",
        '0.00"x"',
    )
    row = sheet.header(page, row + 1, ["6.3 Liquidity", "Amount", "Basis"])
    add("l1", "Unrestricted Cash", f"={cells['ucash']}", "Without the 2,000 limit")
    unused = f"={at('Revolving commitment')}-{at('Revolving loans outstanding')}-{at('Letters of credit issued and undrawn')}"
    add("l2", "Unused commitment after letters of credit", unused, "")
    close("liq", "Liquidity", f"={cells['l1']}+{cells['l2']}", "Minimum 4,000")
    row = sheet.header(page, row + 1, ["6.5 Equity cure for 6.1", "Amount", "Basis"])
    add(
        "need",
        "EBITDA needed at 3.50x",
        f"=({cells['debt']}+{cells['netted']})/3.5",
        "Cure is not netted against debt",
        "#,##0.0",
    )
    close(
        "cure",
        "Cure amount",
        f"=MAX(0,{cells['need']}-{cells['ebitda']})",
        "Limit under (e) unchanged by the cure",
        "#,##0.0",
    )
    sheet.lay_out(page, [48, 14, 44], landscape=False, one_page=True)
    return {name: f"Calculation!{cell}" for name, cell in cells.items()}


def _fill_summary(page: Any, cells: dict[str, str]) -> None:
    at = sheet.title(
        page,
        f"{BORROWER}: covenant compliance",
        f"Test date September 30, 2025; USD thousands; prepared by {LENDER} credit analysis",
    )
    row = sheet.header(
        page, at, ["Covenant", "Required", "Borrower", "Recalculated", "Result", "EBITDA cushion (shortfall)"]
    )
    ratio = '0.00"x"'
    rows = [
        ("6.1 Total Leverage Ratio (maximum)", 3.50, 2.42, "lev", f"={cells['ebitda']}-{cells['need']}", ratio, "<="),
        (
            "6.2 Fixed Charge Coverage (minimum)",
            1.10,
            1.52,
            "fccr",
            f"={cells['num']}-1.1*{cells['fixed']}",
            ratio,
            ">=",
        ),
        ("6.3 Liquidity (minimum)", 4000, 6910, "liq", None, sheet.WHOLE, ">="),
    ]
    for label, limit, stated, name, cushion, shape, sign in rows:
        verdict = f'=IF(D{row}{sign}B{row},"Complies","BREACH")'
        values = [label, limit, stated, f"={cells[name]}", verdict, cushion if cushion else "n/a (cash test)"]
        row = sheet.put(page, row, values, formats={1: shape, 2: shape, 3: shape, 5: "#,##0.0;(#,##0.0)"})
    row = sheet.put(
        page, row + 1, ["Equity cure needed for 6.1", None, None, f"={cells['cure']}"], formats={3: "#,##0.0"}
    )
    row = sheet.put(page, row, ["Certificate due (45 days after quarter end)", None, None, "Nov 14, 2025"])
    row = sheet.put(
        page, row, ["Cure must be received by (10 Business Days; Nov 27 is a holiday)", None, None, "Dec 1, 2025"]
    )
    row = sheet.section(page, row + 1, "Sensitivity: Total Leverage Ratio")
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
        row = sheet.put(page, row, values, formats={1: "#,##0.0", 2: sheet.WHOLE, 3: ratio})
    sheet.note(
        page,
        row + 1,
        "Any one of the three readings would bring the ratio under 3.50x, so expect the Borrower to argue one. Under"
        " the text of the agreement none is available.",
        merge_to=6,
        height=30,
    )
    sheet.lay_out(page, [52, 12, 12, 14, 12, 18])


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


def _write_memo(path: Path) -> None:
    document = word.new_document(size=10.5)
    document.add_heading("Memorandum: covenant breach at September 30, 2025", 1)
    word.paragraph(
        document,
        f"To: Portfolio Manager, Middle Market\nFrom: Credit Analysis, {LENDER}\nRe: {BORROWER}, Q3 2025 compliance"
        " certificate\nDate: November 17, 2025",
    )
    word.paragraph(
        document,
        "**Conclusion.** The Borrower certified compliance. On the agreement's definitions it **breached the Total"
        " Leverage Ratio: 3.57x against a maximum of 3.50x**. It passes Fixed Charge Coverage at 1.10x, barely (1.108"
        " before rounding down), and Liquidity comfortably. The certificate is materially wrong in three places and"
        " should be returned.",
    )
    rows = [
        ["6.1 Total Leverage Ratio", "max 3.50x", "2.42x", "3.57x", "Breach"],
        ["6.2 Fixed Charge Coverage", "min 1.10x", "1.52x", "1.10x", "Complies"],
        ["6.3 Liquidity ($000)", "min 4,000", "6,910", "5,940", "Complies"],
    ]
    word.table(
        document,
        ["Covenant", "Required", "Borrower", "Recalculated", "Result"],
        rows,
        widths_in=[2.3, 1.05, 1.05, 1.15, 0.95],
        right=(1, 2, 3),
    )
    document.add_heading("What the certificate got wrong", 2)
    word.bullets(
        document,
        [
            (
                "**EBITDA is 8,750.5, not 11,135.** The building gain of 925 (Q2 2025) must come out, and restructuring"
                " of 2,255 is limited to 10% of EBITDA before the add-back (7,955), that is 795.5."
            ),
            (
                "**Net Funded Debt is 31,230, not 26,990.** Finance leases (1,480) and the seller note (1,500) count;"
                " cash may be netted only up to 2,000 and only from accounts under a control agreement, so the escrow"
                " (450) and the Halifax account (520) do not count at all."
            ),
            (
                "**The limit is 3.50x, not 3.75x.** It stepped down on this test date. The error would not matter if it"
                " passed; at 3.57x it does."
            ),
        ],
    )
    document.add_heading("Headroom and outlook", 2)
    word.paragraph(
        document,
        "Leverage is short by $172 thousand of EBITDA. Fixed charge coverage passes by about $48 thousand of EBITDA;"
        " one more weak quarter fails it. The leverage limit falls again to 3.25x on March 31, 2026: with net debt"
        " unchanged that needs EBITDA of about $9.6 million, some 10% above today's. A second breach is likely without"
        " paydown or earnings recovery.",
    )
    document.add_heading("Recommended actions", 2)
    word.bullets(
        document,
        [
            (
                "Return the certificate and request a corrected one; reserve all rights in writing now. Counsel to"
                " confirm the Event of Default and whether a wrong certification is a separate one."
            ),
            (
                "Suspend discretionary revolver draws (4,250 undrawn less 600 of letters of credit) until reserved"
                " rights are acknowledged."
            ),
            (
                "Equity cure is open: **$172,358, received by December 1, 2025** (ten Business Days after the November"
                " 14 due date; November 27 is a holiday). It adds to EBITDA, is not netted against debt and does not"
                " raise the 10% limit. Confirm that no more than one cure was used in the last four quarters."
            ),
            (
                "If no cure: propose a waiver and amendment at a fee, with a 13-week cash flow, a control agreement for"
                " the Halifax account and no further distributions (300 were paid in Q2) until leverage is under 3.25x."
            ),
            "Move the credit to watch and review the risk rating.",
        ],
        style="List Number",
    )
    word.paragraph(
        document,
        "Figures in USD thousands unless stated; four quarters Q4 2024 to Q3 2025, unaudited. Support:"
        " covenant_model_q3_2025.xlsx. Open point: we took the scheduled principal of finance leases from the"
        " Borrower's schedule and have not seen the leases.",
    )
    word.footer(document, f"{LENDER}, internal  |  sample data, invented")
    _as_pdf(document, path, title="Covenant memorandum, Q3 2025", author=LENDER)
