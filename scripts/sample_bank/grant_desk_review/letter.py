"""The determination letter the subrecipient receives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_bank import finish, word
from sample_bank.grant_desk_review.claim import AWARD, COUNTY, GRANTEE, PROGRAM, outcome

FINDINGS = [
    (
        "F1",
        (
            "Line 13: Schoolhouse invoice 90417 is dated August 26, 2025, before the period began on September 1. That"
            " it was paid in October does not help: section 2 looks to when the cost was incurred."
        ),
        "684.20",
    ),
    (
        "F2",
        (
            "Lines 23 and 25: BrightPath invoice 2231 is claimed twice. Line 25 is supported by a copy of the same"
            " invoice (section 8)."
        ),
        "1,850.00",
    ),
    (
        "F3",
        (
            "Line 17: gift cards for volunteers, 400.00, with no approval on file; line 22: late payment charge, 45.00"
            " (section 7)."
        ),
        "445.00",
    ),
    ("F4", "Line 20: mileage claimed at $0.80; the agreement allows $0.70. 1,240 miles x $0.10 (section 6).", "124.00"),
    (
        "F5",
        (
            "Line 9: K. Whitaker's December record shows 54 hours, 60 were claimed. 6 hours x $24.00 = 144.00, and"
            " fringe of 33.12 (sections 3, 5)."
        ),
        "177.12",
    ),
    (
        "F6",
        (
            "Indirect was taken on all direct costs. The base excludes equipment (6,200.00, so 620.00) and the costs"
            " above (328.03) (section 3)."
        ),
        "948.03",
    ),
]


def write(path: Path) -> None:
    result = outcome()
    document = word.new_document(font="Calibri", size=10.5)
    word.paragraph(document, f"**{COUNTY}**\n400 Courthouse Square, Tamarack")
    word.paragraph(document, f"February 9, 2026\n\nP. Okonjo, finance manager\n{GRANTEE}")
    word.paragraph(document, f"**Re: Award {AWARD}, {PROGRAM}. Desk review of claim 2 (October to December 2025)**")
    word.paragraph(document, "Dear P. Okonjo:")
    word.paragraph(
        document,
        f"We have completed our desk review of claim 2, received on time on January 26, 2026. Of ${result.claimed:,.2f}"
        f" claimed, we **approve ${result.approved:,.2f} for payment now**, **disallow ${result.disallowed:,.2f}**, and"
        f" **question ${result.questioned:,.2f}** until you send us a missing time record. Two things are needed from"
        " you: that record by **February 24, 2026**, and a corrective action plan by **March 11, 2026**.",
    )
    _summary_table(document)
    document.add_heading("Disallowed costs", 2)
    word.table(
        document,
        ["No.", "Finding", "Amount ($)"],
        [*FINDINGS, ("", "Total disallowed", f"{result.disallowed:,.2f}")],
        widths_in=[0.5, 4.9, 1.1],
        right=(2,),
        bold_rows=(len(FINDINGS),),
    )
    document.add_heading("Questioned cost", 2)
    word.paragraph(
        document,
        "**F7.** Line 5: no time record was provided for D. Salcedo for November (62 hours at $24.00 = 1,488.00;"
        " fringe 342.24; indirect 183.02). Under section 10 you have 15 calendar days to send the record, signed by"
        f" the employee and a supervisor. If it supports 62 hours we will pay ${result.questioned:,.2f} with claim 3."
        " If not, the cost will be disallowed. Please do not send a record prepared after the fact as if it had been"
        " made at the time.",
    )
    _rest(document)
    word.footer(document, f"{COUNTY} (invented)  |  sample data")
    finish.save_word(document, path, title=f"Determination on claim 2, {AWARD}", author=COUNTY)


def _summary_table(document: Any) -> None:
    rows = [
        ["Personnel", "24,796.00", "144.00", "1,488.00", "23,164.00"],
        ["Fringe, 23%", "5,703.08", "33.12", "342.24", "5,327.72"],
        ["Supplies", "7,971.53", "1,084.20", "0.00", "6,887.33"],
        ["Equipment", "6,200.00", "0.00", "0.00", "6,200.00"],
        ["Travel", "1,347.00", "169.00", "0.00", "1,178.00"],
        ["Contractual", "10,900.00", "1,850.00", "0.00", "9,050.00"],
        ["Indirect, 10%", "5,691.76", "948.03", "183.02", "4,560.71"],
    ]
    sums = [sum(float(row[column].replace(",", "")) for row in rows) for column in range(1, 5)]
    result = outcome()
    for made, meant in zip(sums, (result.claimed, result.disallowed, result.questioned, result.approved), strict=True):
        if round(made - meant, 2):
            raise ValueError(f"the letter's table gives {made:.2f}, the review {meant:.2f}")
    rows.append(["Total", *(f"{value:,.2f}" for value in sums)])
    header = ["Category ($)", "Claimed", "Disallowed", "Questioned", "Approved now"]
    word.table(document, header, rows, widths_in=[1.7, 1.2, 1.2, 1.2, 1.2], right=(1, 2, 3, 4), bold_rows=(7,))


def _rest(document: Any) -> None:
    document.add_heading("Corrective action plan", 2)
    word.paragraph(
        document,
        "Disallowed costs are 6.8% of the claim. Section 11 requires a plan above 5%. Please address, with a person and"
        " a date for each:",
    )
    word.bullets(
        document,
        [
            "a check for repeated invoice numbers before a claim is submitted (F2);",
            "a review of period, mileage rate and unallowable items by someone other than the preparer (F1, F3, F4);",
            "agreement of claimed hours to signed time records each month (F5, F7);",
            "the indirect base in your claim workbook (F6).",
        ],
    )
    word.paragraph(
        document,
        "**Please also recheck claim 1** for the mileage rate, repeated invoices and time records, and tell us what you"
        " find. It held no equipment, so F6 does not affect it. This letter does not reopen it.",
    )
    document.add_heading("What we looked at and accepted", 2)
    word.paragraph(
        document,
        "The six laptops (line 15) cost $780 each and are supplies, not equipment; quotes are on file. The court system"
        " (line 19) was approved on October 14, 2025. The LearnWell contract is below $25,000 and stays wholly in the"
        " indirect base. No category exceeds its budget. We relied on the records submitted and did not visit; M."
        " Ferro's effort will be checked against the next semi-annual certification.",
    )
    word.paragraph(
        document,
        "If you disagree with a finding, write to us with your reasons and support within the same 15 days. I am glad"
        " to go through the workpaper with you by phone.",
    )
    word.paragraph(document, f"Sincerely,\n\n\nCompliance officer\n{COUNTY}\n\nEnclosure: desk_review_workpaper.xlsx")
