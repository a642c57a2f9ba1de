"""The worksheet that prices the order and the acknowledgement that goes to the buyer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from sample_bank import finish, sheet, word
from sample_bank.order_acknowledgement.order import (
    BUYER,
    ITEMS,
    LINES,
    PO,
    SELLER,
    TAX,
    Item,
    Line,
    goods,
    later_goods,
    tax,
)

LABELS = [
    "Line",
    "Item",
    "Ordered",
    "UM",
    "Cases",
    "PO price per case",
    "List",
    "Rule",
    "Net price",
    "Available",
    "Ship",
    "Back order",
    "Amount",
    "Price difference to PO",
    "Remark",
]


def write(folder: Path) -> None:
    _write_worksheet(folder / "order_worksheet_7751.xlsx")
    _write_acknowledgement(folder / "order_acknowledgement_7751.pdf")


def _write_worksheet(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Order"
    row = sheet.title(
        page,
        f"Order worksheet: {BUYER}, PO {PO}",
        "Internal. Prices from the list of February 1, 2026; stock of March 5, 2026",
    )
    first = row = sheet.header(page, row, LABELS)
    money = dict.fromkeys((5, 6, 8, 12, 13), '#,##0.00;-#,##0.00;"-"')
    items = {item.sku: item for item in ITEMS}
    for line in LINES:
        values = _line_values(line, items[line.sku], row)
        row = sheet.put(page, row, values, formats={**money, 2: sheet.WHOLE, 4: "0.0"})
    _fill_totals(page, row, first)
    sheet.lay_out(page, [5, 10, 9, 5, 7, 10, 9, 20, 9, 9, 7, 8, 11, 11, 46], one_page=True)
    finish.save_workbook(book, path, title=f"Order worksheet PO {PO}", author=SELLER)


def _line_values(line: Line, item: Item, row: int) -> list[Any]:
    """One row: quantities in cases, our price by the rule that applies, what ships and what waits."""
    in_case = {"BW-1121": 1000, "BW-3300": 4}.get(line.sku, 1)
    cases = f"=C{row}/{in_case}" if line.unit == "EA" else f"=C{row}"
    price = f"={line.price}*{in_case}" if line.unit == "EA" else line.price
    net: str | float = f"=ROUND(G{row}*(1-3%),2)" if line.basis.endswith("3%") else f"=G{row}"
    if item.break_price is not None:
        net = f"=MIN(ROUND(G{row}*(1-3%),2),IF(E{row}>={item.break_at},{item.break_price},G{row}))"
    if item.status != "active":
        net = 0
    ship = f"=MIN(ROUNDDOWN(E{row},0),J{row})"
    back = f"=ROUNDDOWN(E{row},0)-K{row}" if item.status == "active" else 0
    return [
        line.number,
        line.sku,
        line.quantity,
        line.unit,
        cases,
        price,
        item.list_price,
        line.basis,
        net,
        item.on_hand - item.allocated,
        ship,
        back,
        f"=K{row}*I{row}",
        f"=IF(I{row}=0,0,I{row}-F{row})",
        line.remark,
    ]


def _fill_totals(page: Any, row: int, first: int) -> None:
    last = row - 1
    totals: list[tuple[str, str]] = [
        ("Goods shipped", f"=SUM(M{first}:M{last})"),
        ("Freight (free from 1,500)", f"=IF(M{row}>=1500,0,85)"),
        ("Sales tax 6.5% (certificate expired)", f"=ROUND(6.5%*M{row},2)"),
        ("Total now", f"=SUM(M{row}:M{row + 2})"),
        ("Back order, goods", f"=SUMPRODUCT(L{first}:L{last},I{first}:I{last})"),
        ("Open balance", "=6215.4"),
        ("Credit used after this order", f"=M{row + 3}+M{row + 5}+ROUND(M{row + 4}*(1+6.5%),2)"),
        ("Within limit of 10,000", f'=IF(M{row + 6}<=10000,"yes","NO: credit hold")'),
    ]
    for offset, (label, formula) in enumerate(totals):
        page.merge_cells(start_row=row + offset, start_column=9, end_row=row + offset, end_column=12)
        page.row_dimensions[row + offset].height = 15
        sheet.put(page, row + offset, [label], column=9)
        sheet.put(page, row + offset, [formula], column=13, formats={0: '#,##0.00;-#,##0.00;"0.00"'})
    sheet.total(page, row + 3, first=9, last=13)


def _write_acknowledgement(path: Path) -> None:
    document = word.new_document(font="Liberation Sans", size=10, margin_in=0.75)
    document.add_heading("Order acknowledgement", 0)
    word.paragraph(
        document, f"**{SELLER}**\nMarch 5, 2026   |   Your PO {PO} of March 4, 2026   |   Account 20418   |   Net 30"
    )
    word.paragraph(document, f"{BUYER}, attention L. Achterberg")
    word.paragraph(
        document,
        "Thank you for your order. We confirm delivery on **Tuesday, March 10, 2026, 6 to 10 a.m., rear door**, as set"
        " out below. **Four questions need your answer by noon on Monday, March 9**: the first decides where the truck"
        " goes, the others do not delay it.",
    )
    _questions(document)
    rows = []
    for line in LINES:
        amount = f"{line.ship * line.net:,.2f}"
        unit = "RL" if line.unit == "RL" else "CS"
        rows.append(
            [
                str(line.number),
                line.sku,
                line.text,
                f"{line.quantity:,} {line.unit}",
                f"{line.ship} {unit}",
                str(line.back_order) if line.back_order else "-",
                f"{line.net:.2f}" if line.net else "-",
                amount,
                line.remark,
            ]
        )
    header = ["Ln", "Item", "Description", "Ordered", "Ship 3/10", "Back", "Net price", "Amount", "Remark"]
    word.table(
        document,
        header,
        rows,
        widths_in=[0.3, 0.75, 1.15, 0.7, 0.6, 0.45, 0.6, 0.7, 1.85],
        right=(3, 4, 5, 6, 7),
        size=8,
    )
    totals = [
        ["Goods shipped March 10", f"{goods():,.2f}"],
        ["Freight (free from $1,500)", "0.00"],
        [f"Sales tax {TAX:.1%} (see question 2)", f"{tax():,.2f}"],
        ["Total, March 10", f"{goods() + tax():,.2f}"],
        ["To follow March 20: 3 CS BW-4150, before tax", f"{later_goods():,.2f}"],
    ]
    word.table(document, ["Totals", "US dollars"], totals, widths_in=[3.6, 1.2], right=(1,), bold_rows=(3,))
    word.paragraph(
        document,
        "Your PO came to a different total because line 2 is priced by the case at the current list, line 7 has earned"
        " the quantity price, line 3 is held, and lines 4 and 5 ship in part. Prices are those of February 1, 2026.",
    )
    word.footer(document, f"{SELLER} (invented)  |  sample data")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "acknowledgement.docx"
        finish.save_word(document, source, title="Order acknowledgement", author=SELLER)
        finish.save_pdf(source, path, title=f"Order acknowledgement, PO {PO}", author=SELLER)


def _questions(document: Any) -> None:
    word.bullets(
        document,
        [
            (
                "**Ship-to:** your PO says Store 6, **1180** Larch Avenue; our file says **1108** Larch Avenue. Which"
                " is right? We cannot route the truck until you confirm."
            ),
            (
                "**Sales tax:** your resale certificate 88-1043 expired on February 28, 2026. Please send the new one;"
                " until then we must charge 6.5%."
            ),
            "**Line 3:** BW-2210 is discontinued. May we ship BW-2212, recycled, same pack, 10 CS at $39.40?",
            (
                "**Line 4:** ten gallons is two and a half cases. We confirm two cases (8). Would you like a third (12"
                " in all)?"
            ),
        ],
        style="List Number",
    )
