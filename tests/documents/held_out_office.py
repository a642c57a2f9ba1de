"""The second set for the format checks, continued: how Word files, decks and workbooks look."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from guildhall.documents.checks.checking import CheckLimits
from guildhall.documents.kinds import Kind
from tests.documents.broken_and_sound import Case, Maker
from tests.documents.held_out import EACH, first_words, noise, paragraphs, sentence, two_colours, web_pdf

_RARE_FONTS = ("Proxima Nova", "Avenir Next", "Poppins", "Bebas Neue", "Frutiger")
_COMMON_FONTS = ("Verdana", "Georgia", "Tahoma", "Courier New", "Cambria")


def office_cases(seed: int) -> list[Case]:
    return [*_slide_cases(seed), *_book_cases(seed), *_letter_cases(seed), *_font_cases(seed)]


def deck(fill: Callable[[Any], None]) -> Maker:
    def make(path: Path) -> None:
        from pptx import Presentation
        from pptx.util import Inches

        made = Presentation()
        made.slide_width, made.slide_height = Inches(13.333), Inches(7.5)
        fill(made.slides.add_slide(made.slide_layouts[6]))
        made.save(str(path))

    return make


def box(slide: Any, left: float, top: float, width: float, height: float, content: str, **look: Any) -> None:
    from pptx.dml.color import RGBColor
    from pptx.util import Inches, Pt

    shape = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height))
    shape.text_frame.word_wrap = True
    shape.text_frame.text = content
    for paragraph in shape.text_frame.paragraphs:
        for run in paragraph.runs:
            run.font.size = Pt(look.get("size", 18))
            if "letters" in look:
                run.font.color.rgb = RGBColor.from_string(look["letters"].lstrip("#").upper())  # type: ignore[no-untyped-call]
    if "ground" in look:
        shape.fill.solid()
        shape.fill.fore_color.rgb = RGBColor.from_string(look["ground"].lstrip("#").upper())  # type: ignore[no-untyped-call]


def photo(slide: Any, rng: Random, left: float, top: float, width: float) -> None:
    from pptx.util import Inches

    slide.shapes.add_picture(io.BytesIO(noise(rng)), Inches(left), Inches(top), Inches(width))


def in_turn(*steps: Callable[[Any], object]) -> Callable[[Any], None]:
    """One after the other: what comes later lies on top."""

    def fill(at: Any) -> None:
        for step in steps:
            step(at)

    return fill


def _slide_cases(seed: int) -> list[Case]:
    rng = Random(f"{seed} slides")
    long, short, other = " ".join(sentence(rng) for _ in range(40)), sentence(rng, 5), sentence(rng, 5)
    pale, clear = two_colours(rng, least=1.05, most=1.7), two_colours(rng, least=4.5, most=12)

    def words(
        left: float, top: float, width: float, height: float, content: str = short, **look: Any
    ) -> Callable[[Any], None]:
        return lambda at: box(at, left, top, width, height, content, **look)

    def shown(left: float, top: float, width: float) -> Callable[[Any], None]:
        return lambda at: photo(at, rng, left, top, width)

    def slide(rule: str, name: str, broken: bool, *steps: Callable[[Any], object]) -> Case:
        return Case(rule, f"deck-{name}", Kind.PPTX, deck(in_turn(*steps)), broken)

    title = words(1, 0.3, 9, 1)
    on_dark = words(2, 3, 5, 1, ground="#101030", letters="#ffffff")
    return [
        slide("cut-off", "runs-off", True, words(1, 2, 11, 5, content=long)),
        slide("cut-off", "fits", False, words(1, 2, 11, 4, content=long[:400])),
        slide("cut-off", "photo-off", True, shown(9, 3, 6)),
        slide("cut-off", "table-tall", True, lambda at: _table(at, rng, rows=24)),
        slide("cut-off", "table-fits", False, lambda at: _table(at, rng, rows=5)),
        slide("overlap", "boxes-cross", True, words(1, 2, 6, 1), words(1.6, 2.1, 6, 1, content=other)),
        slide("overlap", "boxes-apart", False, words(1, 2, 6, 1), words(1, 4, 6, 1, content=other)),
        slide("overlap", "photo-on-words", True, words(2, 3, 8, 1), shown(1, 2, 7)),
        slide("overlap", "words-on-photo", False, shown(1, 1, 9), on_dark),
        slide("low-contrast", "pale", True, words(1, 2, 8, 1, ground=pale[0], letters=pale[1])),
        slide("low-contrast", "clear", False, words(1, 2, 8, 1, ground=clear[0], letters=clear[1])),
        slide("small-figure", "small", True, title, shown(4, 3, 4)),
        slide("small-figure", "large", False, title, shown(2, 1.6, 8)),
        Case("page-limit", "deck-over", Kind.PPTX, _slides(rng, 4), True, CheckLimits(pages=3)),
        Case("page-limit", "deck-within", Kind.PPTX, _slides(rng, 3), False, CheckLimits(pages=3)),
    ]


def _book_cases(seed: int) -> list[Case]:
    rng = Random(f"{seed} books")
    short, large = sentence(rng, 5), rng.randint(10**8, 10**9)
    pale, clear = two_colours(rng, least=1.05, most=1.7), two_colours(rng, least=4.5, most=12)

    def narrow(to: Any, _made: Any) -> None:
        to.set_column(0, 1, 4)
        to.write_row(0, 0, [large, large])

    def spilling(to: Any, _made: Any) -> None:
        to.write_string(0, 0, short)
        to.write_number(2, 0, 7)

    return [
        Case("cut-off", "book-hashes", Kind.XLSX, book(narrow), True),
        Case("cut-off", "book-spills", Kind.XLSX, book(spilling), False),
        Case("cut-off", "book-covered", Kind.XLSX, book(lambda to, _: to.write_row(0, 0, [short * 2, "next"])), True),
        Case("low-contrast", "book-pale", Kind.XLSX, book(lambda *to: _coloured(to, short, pale)), True),
        Case("low-contrast", "book-clear", Kind.XLSX, book(lambda *to: _coloured(to, short, clear)), False),
    ]


def _letter_cases(seed: int) -> list[Case]:
    rng = Random(f"{seed} letters")
    long, short = " ".join(sentence(rng) for _ in range(40)), sentence(rng, 5)

    def says(words: str) -> Callable[[Any], object]:
        return lambda to: to.add_paragraph(words)

    def turned(to: Any) -> None:
        to.add_page_break()

    def figure(least: float, most: float) -> Callable[[Any], None]:
        return lambda to: _figure(to, rng, rng.uniform(least, most))

    def letter(rule: str, name: str, broken: bool, *steps: Callable[[Any], object]) -> Case:
        return Case(rule, f"letter-{name}", Kind.DOCX, _letter(in_turn(*steps)), broken)

    return [
        letter("blank-page", "breaks", True, says(short), turned, turned, says(short)),
        letter("blank-page", "full", False, says(short), turned, says(long)),
        letter("small-figure", "small", True, figure(1.5, 3)),
        letter("small-figure", "large", False, figure(4.8, 6)),
        letter("cut-off", "wide-figure", True, figure(9, 12)),
        letter("missing-glyph", "unassigned", True, says(f"{short} re\u0379t {short}")),
        letter("missing-glyph", "sound", False, says(f"\u2610 {short} \u2612 {short}")),
    ]


def book(fill: Callable[[Any, Any], None]) -> Maker:
    def make(path: Path) -> None:
        import xlsxwriter

        with xlsxwriter.Workbook(path) as made:
            fill(made.add_worksheet("Data"), made)

    return make


def _letter(fill: Callable[[Any], None]) -> Maker:
    def make(path: Path) -> None:
        from docx import Document

        made = Document()
        fill(made)
        made.save(str(path))

    return make


def _coloured(to: tuple[Any, Any], content: str, colours: tuple[str, str]) -> None:
    sheet, made = to
    sheet.set_column(0, 0, 50)
    sheet.write_string(1, 0, content, made.add_format({"bg_color": colours[0], "font_color": colours[1]}))


def _figure(to: Any, rng: Random, inches: float) -> None:
    from docx.shared import Inches

    to.add_paragraph(" ".join(sentence(rng) for _ in range(12)))
    to.add_picture(io.BytesIO(noise(rng)), width=Inches(inches))
    to.add_paragraph(sentence(rng))


def _table(slide: Any, rng: Random, *, rows: int) -> None:
    from pptx.util import Inches

    table = slide.shapes.add_table(rows, 3, Inches(1), Inches(1), Inches(10), Inches(3)).table
    for row in range(rows):
        for column in range(3):
            table.cell(row, column).text = first_words(rng)


def _slides(rng: Random, count: int) -> Maker:
    def make(path: Path) -> None:
        from pptx import Presentation

        made = Presentation()
        for _ in range(count):
            box(made.slides.add_slide(made.slide_layouts[6]), 1, 1, 7, 1, sentence(rng))
        made.save(str(path))

    return make


def _font_cases(seed: int) -> list[Case]:
    cases = []
    for number in range(EACH):
        rng = Random(f"{seed} fonts {number}")
        for faces, broken in ((_RARE_FONTS, True), (_COMMON_FONTS, False)):
            face = faces[(number + seed) % EACH]
            kind, make = _in_face(number, face, sentence(rng))
            cases.append(Case("font", f"{kind.value}-{face}", kind, make, broken))
    embedded = web_pdf("<style>body{font-family:'Noto Serif Display'}</style>" + paragraphs(Random(seed)))
    return [*cases, Case("font", "embedded", Kind.PDF, embedded, False)]


def _in_face(number: int, face: str, words: str) -> tuple[Kind, Maker]:
    def letter(made: Any) -> None:
        made.styles["Normal"].font.name = face
        made.add_paragraph(words)

    def slide(at: Any) -> None:
        box(at, 1, 1, 8, 1, words)
        at.shapes[0].text_frame.paragraphs[0].runs[0].font.name = face

    def sheet(to: Any, made: Any) -> None:
        to.write_string(0, 0, words, made.add_format({"font_name": face}))

    return ((Kind.DOCX, _letter(letter)), (Kind.PPTX, deck(slide)), (Kind.XLSX, book(sheet)))[number % 3]
