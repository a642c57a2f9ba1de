"""The memorandum: the breach first, then what was wrong, headroom, and what to do this week."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_bank import word
from sample_bank.covenant_compliance.figures import BORROWER, LENDER
from sample_bank.covenant_compliance.reference import save_as_pdf


def write(path: Path) -> None:
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
    _errors(document)
    _outlook_and_actions(document)
    word.footer(document, f"{LENDER}, internal  |  sample data, invented")
    save_as_pdf(document, path, title="Covenant memorandum, Q3 2025", author=LENDER)


def _errors(document: Any) -> None:
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


def _outlook_and_actions(document: Any) -> None:
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
