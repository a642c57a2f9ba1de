"""What the clerk is given: the scan, the price list, the stock and the customer's file."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from typing import Any

from openpyxl import Workbook
from PIL import Image, ImageDraw, ImageFont

from sample_bank import finish, sheet, word
from sample_bank.order_acknowledgement.order import BUYER, ITEMS, LINES, PO, SELLER


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _draw_scan(folder / "po_7751_scan.png")
    _write_prices(folder / "price_list_2026_02.xlsx")
    with (folder / "stock_2026_03_05.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["sku", "description", "unit", "on_hand", "allocated", "next_receipt"])
        rows.writerows(
            [item.sku, item.text, item.pack.split("/")[-1].split()[-1], item.on_hand, item.allocated, item.next_receipt]
            for item in ITEMS
        )
    _write_customer(folder / "customer_file_marigold.docx")


def _draw_scan(path: Path) -> None:
    """A purchase order as the fax server delivers it: grey, a little crooked, with specks."""
    picture = Image.new("L", (1275, 1500), 255)
    pen = ImageDraw.Draw(picture)

    def write(x: int, y: int, text: str, size: int = 24, *, bold: bool = False, right: bool = False) -> None:
        name = "DejaVuSansMono-Bold.ttf" if bold else "DejaVuSansMono.ttf"
        pen.text((x, y), text, fill=30, font=ImageFont.truetype(name, size), anchor="ra" if right else None)

    write(90, 90, BUYER.upper(), 36, bold=True)
    write(90, 145, "22 Quarry Road, Ashford Falls")
    write(1180, 95, "PURCHASE ORDER", 32, bold=True, right=True)
    write(1180, 145, f"No. {PO}    Date 03/04/2026", right=True)
    pen.line([90, 195, 1180, 195], fill=30, width=3)
    for number, text in enumerate(
        (
            f"To:       {SELLER}   Account 20418",
            "Ship to:  Store 6, 1180 Larch Avenue, Ashford Falls",
            "Deliver:  Tuesday 03/10/2026, 6 to 10 a.m., rear door",
            "Terms:    Net 30, resale certificate on file",
        )
    ):
        write(90, 225 + 40 * number, text)
    columns = (
        (90, "LN"),
        (150, "ITEM"),
        (310, "DESCRIPTION"),
        (760, "QTY"),
        (800, "UM"),
        (985, "PRICE"),
        (1180, "AMOUNT"),
    )
    top = 430
    for x, label in columns:
        write(x, top, label, 22, bold=True, right=label in {"QTY", "PRICE", "AMOUNT"})
    pen.line([90, top + 36, 1180, top + 36], fill=30, width=2)
    for number, line in enumerate(LINES):
        y = top + 58 + 58 * number
        write(90, y, str(line.number))
        write(150, y, line.sku)
        write(310, y, line.text)
        write(760, y, f"{line.quantity:,}", right=True)
        write(800, y, line.unit)
        write(985, y, f"{line.price:.4f}" if line.price < 1 else f"{line.price:.2f}", right=True)
        write(1180, y, f"{line.quantity * line.price:,.2f}", right=True)
    end = top + 58 + 58 * len(LINES)
    pen.line([90, end, 1180, end], fill=30, width=2)
    write(1180, end + 20, f"TOTAL  {sum(line.quantity * line.price for line in LINES):,.2f}", 26, bold=True, right=True)
    write(90, end + 120, "No substitutions without our OK. Partial shipment is fine.")
    write(90, end + 165, "Please send an acknowledgement by end of day.   - L. Achterberg, buyer")
    write(90, 1430, "SAMPLE DATA, INVENTED", 18)
    picture = picture.rotate(0.7, resample=Image.Resampling.BICUBIC, fillcolor=255)
    specks, rng = ImageDraw.Draw(picture), Random(7751)
    for _ in range(350):
        x, y = rng.randrange(1275), rng.randrange(1500)
        specks.point([(x, y), (x + 1, y)], fill=rng.randrange(90, 200))
    picture.quantize(16).save(path, optimize=True)


def _write_prices(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Prices"
    row = sheet.title(
        page,
        f"{SELLER}: price list, valid from February 1, 2026",
        "US dollars per selling unit. Cases are not broken. Prices are those in force on the date of the purchase"
        " order.",
    )
    row = sheet.header(
        page, row, ["Item", "Description", "Pack", "List price", "Quantity price from", "Quantity price", "Status"]
    )
    for item in ITEMS:
        values = [item.sku, item.text, item.pack, item.list_price, item.break_at, item.break_price, item.status]
        row = sheet.put(page, row, values, formats={3: sheet.MONEY, 4: "0", 5: sheet.MONEY})
    sheet.lay_out(page, [12, 32, 11, 12, 14, 12, 44], freeze="A5")
    finish.save_workbook(book, path, title="Price list February 2026", author=SELLER)


def _write_customer(path: Path) -> None:
    document = word.new_document()
    document.add_heading(f"Customer file: {BUYER} (account 20418)", 1)
    rows = [
        [
            "Discount",
            "3% off list on items BW-1xxx. Not combined with quantity prices: the customer gets the lower of the two.",
        ],
        ["Freight", "Free when the goods shipped come to $1,500 or more, otherwise $85. Back orders travel free."],
        ["Delivery", "Route days Tuesday and Friday. Goods received are available to ship the next working day."],
        ["Short stock", "Ship what is available (on hand less allocated), back-order the rest."],
        ["Packs", "Cases are not broken. Confirm the full cases within the quantity and ask about the rest."],
        ["Substitution", "Only with the buyer's approval in writing."],
        ["Credit", "Limit $10,000. Open balance on March 5, 2026: $6,215.40. Net 30."],
        [
            "Sales tax",
            "6.5% unless a valid resale certificate is on file. Certificate 88-1043 expired on February 28, 2026.",
        ],
        ["Ship-to on file", "Store 2, 75 Canal Street; Store 4, 310 Beacon Road; Store 6, 1108 Larch Avenue"],
        ["Contact", "L. Achterberg, buyer"],
    ]
    word.table(document, ["Subject", "Rule or fact"], rows, widths_in=[1.4, 5.0], size=10)
    word.footer(document, "Sample data, invented")
    finish.save_word(document, path, title=f"Customer file {BUYER}", author=SELLER)
