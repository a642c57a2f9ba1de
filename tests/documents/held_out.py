"""A second set of files for the format checks, drawn at random and made by other programs than the first.

Pages come from a browser, workbooks from another library, and words, sizes, colours and places from a seed. Whether a
file is broken follows from how it was made; nothing here looks at how the checks decide.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path
from random import Random

from guildhall.documents.checks.checking import CheckLimits
from guildhall.documents.kinds import Kind
from guildhall.documents.render.web import browser, printed
from tests.documents.broken_and_sound import Case, Maker

EACH = 5
"""Broken and sound files for each rule."""

_VOCABULARY = (
    "account annual average balance branch budget capital client contract cost customer daily delivery demand district "
    "estimate figure forecast growth income index inventory invoice labour ledger loan margin market monthly network "
    "office order output partner payment period plan price product project quarter rate region report result revenue "
    "risk sale season service share site staff statement supply target team total trade value vendor volume wage yield"
)
_SIZES = ((595, 842), (612, 792), (842, 595), (960, 540), (420, 595))


def sentence(rng: Random, words: int = 9) -> str:
    return " ".join(rng.choices(_VOCABULARY.split(), k=words)).capitalize() + "."


def paragraphs(rng: Random, count: int = 3) -> str:
    return "".join(f"<p>{' '.join(sentence(rng) for _ in range(rng.randint(2, 4)))}</p>" for _ in range(count))


def noise(rng: Random, width: int = 240, height: int = 160) -> bytes:
    """A picture nobody has seen before, as PNG."""
    from PIL import Image

    small = Image.frombytes("RGB", (12, 8), rng.randbytes(288))
    out = io.BytesIO()
    small.resize((width, height), Image.Resampling.BICUBIC).save(out, "PNG")
    return out.getvalue()


class Sheet:
    """A page of a random size on which things are placed by shares of its width and height."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.width, self.height = rng.choice(_SIZES)
        self.face = rng.choice(("Liberation Serif", "DejaVu Sans", "Noto Serif", "Liberation Sans", "Carlito"))
        self.size = rng.randint(9, 13)

    def text(self, left: float, top: float, content: str, *, style: str = "") -> str:
        place = f"left:{left * self.width:.1f}pt;top:{top * self.height:.1f}pt"
        return f'<div style="position:absolute;white-space:nowrap;{place};{style}">{content}</div>'

    def picture(self, left: float, top: float, width: float, *, height: float | None = None) -> str:
        data = base64.b64encode(noise(self.rng)).decode()
        tall = height * self.height if height else width * self.width * 0.6
        place = f"left:{left * self.width:.1f}pt;top:{top * self.height:.1f}pt"
        size = f"width:{width * self.width:.1f}pt;height:{tall:.1f}pt"
        return f'<img style="position:absolute;{place};{size}" src="data:image/png;base64,{data}">'

    def block(self, left: float, top: float, width: float, height: float, colour: str, inside: str = "") -> str:
        place = f"left:{left * self.width:.1f}pt;top:{top * self.height:.1f}pt"
        size = f"width:{width * self.width:.1f}pt;height:{height * self.height:.1f}pt"
        return f'<div style="position:absolute;overflow:hidden;{place};{size};background:{colour}">{inside}</div>'

    def body(self, *, share: float = 0.3) -> str:
        """Ordinary paragraphs in the upper part of the page."""
        style = f"margin:{0.05 * self.height:.0f}pt {0.1 * self.width:.0f}pt;max-height:{share * self.height:.0f}pt"
        return f'<div style="{style}">{sentence(self.rng)}<br>{sentence(self.rng)}</div>'

    def pdf(self, *pages: str) -> Maker:
        style = (
            f"@page{{size:{self.width}pt {self.height}pt;margin:0}}body{{margin:0;font:{self.size}pt '{self.face}'}}"
            f".page{{position:relative;overflow:hidden;width:{self.width}pt;height:{self.height - 0.5}pt}}"
            ".page+.page{break-before:page}"
        )
        inside = "".join(f'<div class="page">{page}</div>' for page in pages)
        return web_pdf(f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>{inside}')


def web_pdf(page: str) -> Maker:
    def make(path: Path) -> None:
        program = browser()
        assert program is not None, "a browser makes these pages"
        path.write_bytes(printed(path, page, program=program))

    return make


def page_cases(seed: int) -> list[Case]:
    """PDF pages, as many broken as sound for each rule that is about what a page looks like."""
    makers: dict[str, tuple[Callable[[Sheet, int], str], Callable[[Sheet, int], str]]] = {
        "cut-off": (_cut, _whole),
        "overlap": (_overlapping, _apart),
        "low-contrast": (_pale, _clear),
        "small-figure": (_small, _large),
        "missing-glyph": (_unshown, _squares),
    }
    cases = []
    for rule, (broken, sound) in makers.items():
        for number in range(EACH):
            for how, is_broken in ((broken, True), (sound, False)):
                sheet = Sheet(Random(f"{seed} {rule} {number} {is_broken}"))
                make = sheet.pdf(how(sheet, number))
                cases.append(Case(rule, f"page-{number}-{how.__name__.strip('_')}", Kind.PDF, make, is_broken))
    return [*cases, *_blank_cases(seed), *_limit_cases(seed)]


def _cut(sheet: Sheet, number: int) -> str:
    rng = sheet.rng
    match number:
        case 0:  # a line that ends beyond the right edge
            return sheet.body() + sheet.text(rng.uniform(0.5, 0.7), 0.6, sentence(rng, 16))
        case 1:  # a box too narrow for its line
            line = f'<div style="white-space:nowrap;padding:2pt">{sentence(rng, 12)}</div>'
            return sheet.body() + sheet.block(0.1, 0.5, rng.uniform(0.25, 0.4), 0.08, "#eef", line)
        case 2:  # a box that ends in the middle of a line
            lines = "".join(f"<div>{sentence(rng, 5)}</div>" for _ in range(6))
            inside = f'<div style="line-height:{1.2 * sheet.size}pt">{lines}</div>'
            height = (rng.randint(2, 4) + 0.5) * 1.2 * sheet.size / sheet.height
            return sheet.body() + sheet.block(0.1, 0.5, 0.7, height, "#ffe", inside)
        case 3:  # a picture that leaves the page
            return sheet.body() + sheet.picture(rng.uniform(0.55, 0.7), 0.4, 0.6)
        case _:  # a last line half under the lower edge
            return sheet.body() + sheet.text(0.1, 1 - 0.5 * sheet.size / sheet.height, sentence(rng))


def _whole(sheet: Sheet, number: int) -> str:
    rng = sheet.rng
    match number:
        case 0:  # words close to all edges
            return sheet.text(0.01, 0.01, sentence(rng, 3)) + sheet.text(0.02, 0.95, sentence(rng, 3))
        case 1:  # a box that fits its words
            inside = f'<div style="padding:3pt">{sentence(rng, 5)}</div>'
            return sheet.body() + sheet.block(0.1, 0.5, 0.8, 0.2, "#eef", inside)
        case 2:  # a picture from edge to edge behind a title
            return sheet.picture(-0.02, -0.02, 1.04, height=1.04) + sheet.block(0.2, 0.4, 0.6, 0.2, "#fff")
        case 3:
            return sheet.body() + sheet.picture(0.1, 0.4, 0.7)
        case _:  # a table with rules
            row = f"<tr><td>{sentence(rng, 3)}</td><td>{rng.randint(10, 9999)}</td></tr>"
            return f'<table border="1" style="margin:8%;border-collapse:collapse">{row * 6}</table>'


def _overlapping(sheet: Sheet, number: int) -> str:
    rng = sheet.rng
    first = sentence(rng, 6)
    match number:
        case 0:  # two lines nearly at the same place
            shift = rng.uniform(0.2, 0.5) * sheet.size / sheet.height
            return sheet.text(0.1, 0.3, first) + sheet.text(0.11, 0.3 + shift, sentence(rng, 6))
        case 1:  # a picture pasted over words
            return sheet.text(0.1, 0.45, sentence(rng, 6)) + sheet.picture(0.15, 0.35, 0.6)
        case 2:  # two pictures that cross
            return sheet.body() + sheet.picture(0.05, 0.35, 0.55) + sheet.picture(0.4, 0.5, 0.55)
        case 3:  # a filled box over the middle of a line
            return sheet.text(0.1, 0.4, first) + sheet.block(
                0.2, 0.38, 0.25, 0.08, rng.choice(("#c33", "#36c", "#fff8e1"))
            )
        case _:  # a long title that runs into the number beside it
            style = f"font-size:{sheet.size * 2}pt"
            return sheet.text(0.08, 0.2, sentence(rng, 7), style=style) + sheet.text(
                0.4, 0.205, "42 percent", style=style
            )


def _apart(sheet: Sheet, number: int) -> str:
    rng = sheet.rng
    match number:
        case 0:  # tight lines
            lines = "".join(f"{sentence(rng, 7)}<br>" for _ in range(8))
            return f'<div style="margin:10%;line-height:1.05">{lines}</div>'
        case 1:  # a title on a picture
            title = sheet.text(0.2, 0.45, sentence(rng, 3), style="color:#fff;background:#223;padding:4pt")
            return sheet.body() + sheet.picture(0.1, 0.35, 0.8) + title
        case 2:  # raised figures, struck and underlined words
            raised, under, struck = f"<sup>{rng.randint(1, 9)}</sup>", first_words(rng), first_words(rng)
            return f'<p style="margin:10%">{first_words(rng)}{raised} <u>{under}</u> <s>{struck}</s></p>'
        case 3:  # labels inside bars
            bars = (sheet.block(0.1, 0.4 + 0.1 * row, rng.uniform(0.4, 0.8), 0.06, "#246") for row in range(4))
            labels = (
                sheet.text(0.12, 0.415 + 0.1 * row, str(rng.randint(10, 99)), style="color:#fff") for row in range(4)
            )
            return sheet.body() + "".join(bars) + "".join(labels)
        case _:  # two pictures side by side
            return sheet.body() + sheet.picture(0.06, 0.4, 0.42) + sheet.picture(0.52, 0.4, 0.42)


def first_words(rng: Random) -> str:
    return sentence(rng, 3).rstrip(".")


def luminance(colour: tuple[int, int, int]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def two_colours(rng: Random, *, least: float, most: float) -> tuple[str, str]:
    """Colours for ground and letters whose contrast, as the web's accessibility rules reckon it, is in this range."""
    while True:
        ground, letters = (tuple(rng.randrange(256) for _ in range(3)) for _ in range(2))
        low, high = sorted((luminance(ground), luminance(letters)))  # type: ignore[arg-type]
        if least <= (high + 0.05) / (low + 0.05) <= most:
            return "#" + bytes(ground).hex(), "#" + bytes(letters).hex()


def _coloured(sheet: Sheet, ground: str, letters: str) -> str:
    words = f'<div style="padding:6pt;color:{letters};white-space:nowrap">{sentence(sheet.rng, 4)}</div>'
    return sheet.body() + sheet.block(0.1, 0.5, 0.8, 0.15, ground, words)


def _pale(sheet: Sheet, number: int) -> str:
    if number == 0:  # on the white of the page
        grey = "#" + f"{sheet.rng.randint(0xE0, 0xF2):02x}" * 3
        return sheet.body() + sheet.text(0.1, 0.5, sentence(sheet.rng, 5), style=f"color:{grey}")
    return _coloured(sheet, *two_colours(sheet.rng, least=1.05, most=1.7))


def _clear(sheet: Sheet, number: int) -> str:
    if number == 0:  # a grey footer
        return sheet.body() + sheet.text(0.1, 0.93, "Page 1 of 4", style="font-size:8pt;color:#808080")
    return _coloured(sheet, *two_colours(sheet.rng, least=4.5, most=12))


def _small(sheet: Sheet, number: int) -> str:
    return sheet.body() + sheet.picture(sheet.rng.uniform(0.1, 0.5), 0.45, sheet.rng.uniform(0.2, 0.42))


def _large(sheet: Sheet, number: int) -> str:
    rng = sheet.rng
    match number:
        case 0:  # a logo in the corner
            return sheet.picture(0.88, 0.02, 0.08) + sheet.body()
        case 1:  # three in a row
            return sheet.body() + "".join(sheet.picture(0.05 + 0.31 * place, 0.45, 0.28) for place in range(3))
        case _:
            return sheet.body() + sheet.picture(0.1, 0.4, rng.uniform(0.56, 0.85))


def _unshown(sheet: Sheet, number: int) -> str:
    sign = ("\U0001f9ff\u0378", "\u0378", "\ufffd", "\u0380", "\u2fe0")[number]
    return sheet.body() + sheet.text(0.1, 0.5, f"{first_words(sheet.rng)} ca{sign}e {first_words(sheet.rng)}")


def _squares(sheet: Sheet, number: int) -> str:
    words = first_words(sheet.rng)
    content = (
        f"\u25a1 Yes &nbsp; \u25a1 No &nbsp; {words}",
        f"\u25a0 {words}",
        f"\u03a9 = 12, \u4e2d\u6587, \u0416 {words}",
        f'<span style="border:1pt solid #000;padding:2pt">{words}</span>',
        f"[ ] {words} [x] {words}",
    )[number]
    return sheet.body() + sheet.text(0.1, 0.5, content)


def _blank_cases(seed: int) -> list[Case]:
    cases = []
    for number in range(EACH):
        rng = Random(f"{seed} blank {number}")
        sheet = Sheet(rng)
        nothing = (
            "",
            "&nbsp;<br>&nbsp;",
            sheet.block(0, 0, 1, 1, "#fdfdf5"),
            sheet.text(0.48, 0.96, str(rng.randint(2, 30))),
            sheet.block(0.05, 0.05, 0.9, 0.9, "#fff"),
        )[number]
        little = (
            sheet.text(0.3, 0.45, first_words(rng), style="font-size:20pt"),
            sheet.picture(0.1, 0.2, 0.7),
            f'<table border="1" style="margin:10%"><tr><td>{first_words(rng)}</td></tr></table>',
            "".join(sheet.block(0.1, 0.2 + 0.1 * row, rng.uniform(0.2, 0.8), 0.05, "#369") for row in range(5)),
            sheet.text(0.1, 0.1, first_words(rng)) + sheet.block(0.1, 0.2, 0.8, 0.001, "#000"),
        )[number]
        text = paragraphs(rng)
        cases += [
            Case("blank-page", f"page-{number}-blank", Kind.PDF, sheet.pdf(text, nothing, text), True),
            Case("blank-page", f"page-{number}-little", Kind.PDF, sheet.pdf(text, little), False),
        ]
    return cases


def _limit_cases(seed: int) -> list[Case]:
    cases = []
    for number in range(3):
        rng = Random(f"{seed} limit {number}")
        allowed = rng.randint(1, 5)
        for broken in (True, False):
            pages = allowed + rng.randint(1, 3) if broken else rng.randint(1, allowed)
            make = Sheet(rng).pdf(*(paragraphs(rng) for _ in range(pages)))
            cases.append(
                Case("page-limit", f"{pages}-of-{allowed}", Kind.PDF, make, broken, CheckLimits(pages=allowed))
            )
    return cases
