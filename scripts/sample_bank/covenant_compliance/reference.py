"""What the analyst is given: the agreement, the quarterly figures, the certificate."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.covenant_compliance.figures import BALANCES, BORROWER, INCOME, LENDER, QUARTERS, SUPPLEMENT, TAX

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


def write(folder: Path) -> None:
    _write_agreement(folder / "credit_agreement_excerpt.pdf")
    _write_financials(folder / "quarterly_financials.xlsx")
    _write_certificate(folder / "compliance_certificate_q3_2025.docx")


def save_as_pdf(document: Any, path: Path, *, title: str, author: str) -> None:
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
    save_as_pdf(document, path, title="Credit Agreement (excerpt)", author=LENDER)


def _write_financials(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Quarterly"
    fill_quarters(page)
    balances = book.create_sheet("Balance sheet items")
    fill_balances(balances)
    finish.save_workbook(book, path, title="Quarterly financials", author=BORROWER)


def fill_quarters(page: Any) -> dict[str, int]:
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


def fill_balances(page: Any) -> dict[str, int]:
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
