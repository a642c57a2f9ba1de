"""What the engineer is given: the time study sheet and the precedence diagram as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook
from PIL import Image, ImageDraw, ImageFont

from sample_bank import finish, sheet
from sample_bank.line_balance.study import ELEMENTS, NOW, OUTLIER, PLANT, PRODUCT, observations

SPOTS = {
    "A": (0, 1), "B": (1, 0), "C": (1, 2), "D": (1, 1), "E": (2, 0), "F": (3, 1), "G": (4, 1), "H": (5, 1),
    "I": (6, 0), "J": (7, 0), "K": (8, 0), "L": (7, 2), "M": (9, 0), "N": (10, 1), "O": (11, 1),
}  # fmt: skip
RULES = [
    (
        "Shift 7:00 to 15:30 with 30 minutes of unpaid lunch, two paid breaks of 10 minutes and a start-up meeting of"
        " 10 minutes."
    ),
    (
        "Personal, fatigue and delay allowance: 12% of normal time, for manual elements. Automatic machine cycles are"
        " neither rated nor given an allowance."
    ),
    "Rating is the observer's for the element: normal time = mean reading x rating.",
    "Readings with a foreign element (see remarks) are struck from the mean.",
    (
        "The bearing press (B) is bolted down at station 1. Leak test and electrical test share one bench and must be"
        " at the same station or next to each other."
    ),
    "The leak rig runs its cycle by itself with one pump on the bench. Count the whole cycle as station time.",
    (
        "One operator per station. Demand from July: 250 pumps a day, one shift. Loaded labor rate: $31.00 an hour. 245"
        " working days a year."
    ),
]


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_study(folder / "time_study_p40.xlsx")
    _draw_precedence(folder / "precedence_p40.png")


def _write_study(path: Path) -> None:
    book = Workbook()
    page: Any = book.active
    page.title = "Readings"
    row = sheet.title(
        page,
        f"{PLANT}: time study, {PRODUCT}",
        "Seconds per pump; six cycles per element, May 2026; stations as the line runs today",
    )
    row = sheet.header(
        page,
        row,
        ["Element", "Description", "Station today", "1", "2", "3", "4", "5", "6", "Rating", "Type", "Remarks"],
    )
    today = {key: number for number, station in enumerate(NOW, start=1) for key in station}
    for element in ELEMENTS:
        kind = "machine" if element.machine else "manual"
        remark = f"Reading {OUTLIER[1] + 1}: {OUTLIER[3]}" if element.key == OUTLIER[0] else ""
        values = [
            element.key,
            element.text,
            today[element.key],
            *observations()[element.key],
            element.rating,
            kind,
            remark,
        ]
        row = sheet.put(page, row, values, formats={**dict.fromkeys(range(3, 9), "0.0"), 9: "0%"})
    sheet.lay_out(page, [9, 30, 10, 8, 8, 8, 8, 8, 8, 8, 10, 44], freeze="C5")
    rules = book.create_sheet("Rules")
    row = sheet.title(rules, "Line rules and data")
    for number, text in enumerate(RULES, start=1):
        row = sheet.note(rules, row, f"{number}. {text}", merge_to=6, height=32)
    sheet.lay_out(rules, [18] * 6)
    finish.save_workbook(book, path, title=f"Time study, {PRODUCT}", author=PLANT)


def _draw_precedence(path: Path) -> None:
    step, radius = 112, 32
    picture = Image.new("RGB", (12 * step + 60, 470), "white")
    pen = ImageDraw.Draw(picture)
    bold, plain = (
        ImageFont.truetype(name, size) for name, size in (("DejaVuSans-Bold.ttf", 26), ("DejaVuSans.ttf", 18))
    )
    pen.text((24, 16), f"{PRODUCT}: precedence of assembly elements", fill="#1F2A44", font=bold)

    def middle(key: str) -> tuple[int, int]:
        column, line = SPOTS[key]
        return 60 + column * step, 120 + line * 120

    for element in ELEMENTS:
        for before in element.after:
            _arrow(pen, middle(before), middle(element.key), radius)
    for element in ELEMENTS:
        x, y = middle(element.key)
        pen.ellipse(
            [x - radius, y - radius, x + radius, y + radius],
            fill="#FFF3E0" if element.machine else "#E8F2F1",
            outline="#1F2A44",
            width=3,
        )
        pen.text((x, y), element.key, fill="#1F2A44", font=bold, anchor="mm")
    pen.text(
        (24, 430),
        "An arrow means: must be finished first.  Orange: automatic cycle.  Sample data, invented.",
        fill="#5B6472",
        font=plain,
    )
    picture.save(path, optimize=True)


def _arrow(pen: Any, start: tuple[int, int], end: tuple[int, int], radius: int) -> None:
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    tip = (x1 - ux * (radius + 2), y1 - uy * (radius + 2))
    pen.line([(x0 + ux * radius, y0 + uy * radius), tip], fill="#1F2A44", width=3)
    back = (tip[0] - ux * 14, tip[1] - uy * 14)
    pen.polygon([tip, (back[0] - uy * 7, back[1] + ux * 7), (back[0] + uy * 7, back[1] - ux * 7)], fill="#1F2A44")
