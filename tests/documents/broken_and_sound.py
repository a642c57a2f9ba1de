"""Small made files for each format check: some broken in just that way, some sound though they come near it.

Office files are made in batches and converted by LibreOffice once; PDFs are drawn by hand, a page at a time.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guildhall.documents.checks.checking import CheckLimits
from guildhall.documents.kinds import Kind

Maker = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """A made file: the rule it is about, and whether that rule should speak."""

    rule: str
    name: str
    kind: Kind
    make: Maker
    broken: bool
    limits: CheckLimits = field(default_factory=CheckLimits)

    @property
    def office(self) -> bool:
        return self.kind in (Kind.DOCX, Kind.XLSX, Kind.PPTX)


def all_cases() -> list[Case]:
    return [*_character_cases(), *_layout_cases(), *_slide_cases(), *_legibility_cases(), *_other_cases()]


# --- small makers ---------------------------------------------------------------------------------------------


def words(text: str) -> Maker:
    """A document whose paragraphs are the lines of a text."""

    def make(path: Path) -> None:
        from docx import Document

        document = Document()
        for line in text.split("\n"):
            document.add_paragraph(line)
        document.save(str(path))

    return make


def plain(content: str) -> Maker:
    """A file that is just these words."""

    def make(path: Path) -> None:
        path.write_text(content, encoding="utf-8")

    return make


def drawn(*pages: str, fonts: str = "", **options: Any) -> Maker:
    """A PDF whose pages are these drawing instructions on 600 x 800 points; /F1 is Helvetica, /Im a picture."""

    def make(path: Path) -> None:
        import pikepdf
        from pikepdf import Dictionary, Name

        pdf = pikepdf.new()
        picture = _picture_object(pdf)
        for content in pages:
            page = pdf.add_blank_page(page_size=(600, 800))
            base = Name(f"/{fonts}") if fonts else Name.Helvetica
            font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=base)
            if options.get("encoding"):
                font.Encoding = Dictionary(Type=Name.Encoding, Differences=[97, Name(f"/{options['encoding']}")])
            square = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.ZapfDingbats)
            page.Resources = Dictionary(Font=Dictionary(F1=font, F2=square), XObject=Dictionary(Im=picture))
            page.Contents = pdf.make_stream(content.encode("latin-1"))
            if "link" in options:
                link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[50, 700, 200, 720], Border=[0, 0, 0])
                link.A = Dictionary(S=Name.URI, URI=pikepdf.String(options["link"]))
                page.Annots = pikepdf.Array([pdf.make_indirect(link)])
        pdf.save(path)

    return make


def _picture_object(pdf: Any) -> Any:
    from pikepdf import Name

    pixels = bytes((x * y) % 256 for y in range(60) for x in range(90) for _ in range(3))
    picture = pdf.make_stream(pixels, Type=Name.XObject, Subtype=Name.Image, Width=90, Height=60)
    picture.ColorSpace, picture.BitsPerComponent = Name.DeviceRGB, 8
    return picture


def text(x: float, y: float, line: str, *, size: float = 12, colour: str = "0 0 0") -> str:
    return f"{colour} rg BT /F1 {size} Tf {x} {y} Td ({line}) Tj ET\n"


def picture(x: float, y: float, width: float, height: float) -> str:
    return f"q {width} 0 0 {height} {x} {y} cm /Im Do Q\n"


def block(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f"{colour} rg {x} {y} {width} {height} re f\n"


BODY = "".join(text(60, 740 - 18 * row, "Ordinary words of a report fill this line.") for row in range(12))


# --- the cases ------------------------------------------------------------------------------------------------


def _character_cases() -> list[Case]:
    def case(rule: str, name: str, content: str, broken: bool) -> Case:
        return Case(rule, name, Kind.DOCX, words(content), broken)

    def bare(rule: str, name: str, content: str, broken: bool) -> Case:
        return Case(rule, name, Kind.TEXT, plain(content), broken)

    return [
        case("risky-character", "hyphen", "A non\u2011breaking hyphen stands here", True),
        case("risky-character", "zero-width", "Words with a zero\u200bwidth space", True),
        bare("risky-character", "private", "A private sign \ue0a1 in a log", True),
        bare("risky-character", "direction", "Turned \u202eround words", True),
        case(
            "risky-character", "plain", "A plain-hyphen word and caf\u00e9, na\u00efve, \u00a35 \u2013 \u20ac7", False
        ),
        case(
            "risky-character",
            "languages",
            "\u4f60\u597d, \u041f\u0440\u0438\u0432\u0435\u0442, \u03b1\u03b2\u03b3",
            False,
        ),
        bare("risky-character", "quotes", "\u201cQuoted\u201d words \u2014 and a dash\u2026", False),
        case("emoji", "rocket", "Launch \U0001f680 in spring", True),
        case("emoji", "sun", "Weather \u2600 today", True),
        bare("emoji", "tick", "Done \u2705 and \u274c", True),
        case("emoji", "none", "No pictures, only words :-)", False),
        case("emoji", "signs", "5 \u00d7 3 \u2264 16, \u00a9 2021, 20 \u00b0C, \u2192 next", False),
        bare("emoji", "boxes", "\u2610 open\n\u2611 closed", False),
        case("odd-bullet", "arrows", "\u27a2 one\n\u27a2 two\n\u27a2 three", True),
        case("odd-bullet", "stars", "\u2605 first\n\u2605 second", True),
        bare("odd-bullet", "ticks", "\u2713 done\n\u2713 also", True),
        case("odd-bullet", "dots", "\u2022 one\n\u2022 two\n- three", False),
        case("odd-bullet", "dashes", "- one\n- two\n* three", False),
        bare("odd-bullet", "once", "\u2192 a single arrow\nand a line", False),
    ]


def _layout_cases() -> list[Case]:
    def case(rule: str, name: str, broken: bool, *pages: str, **options: Any) -> Case:
        return Case(rule, name, Kind.PDF, drawn(*pages, **options), broken)

    dark_banner = block(0, 700, 600, 100, "0.1 0.2 0.5")
    long_line = "Words that run on and on over the right edge of the page without any end in sight at all"
    return [
        case("blank-page", "second", True, BODY, ""),
        case("blank-page", "number-only", True, BODY, text(300, 20, "2")),
        case("blank-page", "coloured", True, BODY, block(0, 0, 600, 800, "0.9 0.9 1")),
        case("blank-page", "full", False, BODY, BODY),
        case("blank-page", "picture", False, BODY, picture(100, 300, 400, 300)),
        case("blank-page", "meant", False, BODY, text(180, 400, "This page is left blank on purpose.")),
        case("cut-off", "right", True, text(250, 500, long_line)),
        case("cut-off", "bottom", True, BODY + text(60, -4, "Below the edge")),
        case("cut-off", "picture", True, BODY + picture(450, 300, 300, 200)),
        case("cut-off", "margins", False, BODY),
        case("cut-off", "near-edge", False, text(10, 10, "Near the corner") + text(430, 780, "Near the other corner")),
        case("cut-off", "full-bleed", False, picture(-20, -20, 640, 840) + BODY),
        case("overlap", "lines", True, text(60, 500, "First line of words") + text(63, 503, "Second line of words")),
        case("overlap", "picture-over", True, BODY + picture(50, 600, 400, 160)),
        case("overlap", "two-pictures", True, picture(60, 300, 300, 200) + picture(250, 380, 300, 200)),
        case("overlap", "shape-over", True, text(100, 500, "Hidden words") + block(90, 490, 200, 30, "0.8 0.2 0.2")),
        case("overlap", "apart", False, BODY + picture(60, 100, 400, 300)),
        case("overlap", "caption-on", False, picture(60, 300, 400, 300) + text(100, 320, "A title on the picture")),
        case("overlap", "fake-bold", False, text(60, 500, "Bold words") + text(60.4, 500, "Bold words")),
        case("overlap", "banner", False, dark_banner + text(60, 740, "Title", colour="1 1 1")),
        case("small-figure", "third", True, BODY + picture(60, 250, 190, 140)),
        case("small-figure", "quarter", True, BODY + picture(200, 200, 150, 110)),
        case("small-figure", "tall", True, BODY + picture(60, 150, 200, 260)),
        case("small-figure", "wide", False, BODY + picture(60, 150, 480, 300)),
        case("small-figure", "pair", False, BODY + picture(40, 200, 250, 200) + picture(310, 200, 250, 200)),
        case("small-figure", "logo", False, picture(500, 760, 60, 30) + BODY),
    ]  # fmt: skip


def _slide_cases() -> list[Case]:
    def slide(name: str, rule: str, broken: bool, fill: Callable[[Any], None]) -> Case:
        def make(path: Path) -> None:
            from pptx import Presentation

            deck = Presentation()
            fill(deck)
            deck.save(str(path))

        return Case(rule, name, Kind.PPTX, make, broken)

    return [
        slide("slide-overflow", "cut-off", True, lambda deck: _box(deck, "\n".join(f"Line {n}" for n in range(30)))),
        slide("slide-wide", "cut-off", True, lambda deck: _box(deck, "A line without end " * 8, wrap=False)),
        slide("slide-fits", "cut-off", False, lambda deck: _box(deck, "Three\nshort\nlines")),
        slide("slide-boxes", "overlap", True, _two_boxes),
        slide("slide-one-box", "overlap", False, lambda deck: _box(deck, "Some words here")),
        slide("slide-chart-small", "small-figure", True, lambda deck: _chart(deck, 3.0)),
        slide("slide-chart-wide", "small-figure", False, lambda deck: _chart(deck, 8.0)),
        *_sheet_cases(),
    ]  # fmt: skip


def _box(deck: Any, content: str, *, wrap: bool = True, again: bool = False) -> None:
    from pptx.util import Inches

    slide = deck.slides[0] if again else deck.slides.add_slide(deck.slide_layouts[6])
    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(6), Inches(1)).text_frame
    frame.word_wrap = wrap
    frame.text = content


def _two_boxes(deck: Any) -> None:
    _box(deck, "Some words here")
    _box(deck, "Other words", again=True)


def _chart(deck: Any, width: float) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["a", "b", "c"]
    data.add_series("Sales", (1, 2, 3))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(width), Inches(4), data)


def _sheet_cases() -> list[Case]:
    def sheet(name: str, broken: bool, width: float, cells: list[str | float], number: str = "General") -> Case:
        def make(path: Path) -> None:
            import openpyxl

            book = openpyxl.Workbook()
            grid = book.active
            assert grid is not None
            for column, content in enumerate(cells, start=1):
                cell = grid.cell(1, column, content)
                cell.number_format = number
                grid.column_dimensions[cell.column_letter].width = width
            book.save(path)

        return Case("cut-off", name, Kind.XLSX, make, broken)

    return [
        sheet("sheet-hashes", True, 5, [1234567890.12, 7654321.5], "#,##0.00"),
        sheet("sheet-clipped", True, 8, ["A label much longer than its column", "next"]),
        sheet("sheet-fits", False, 40, ["A label shorter than its column", "next"]),
        sheet("sheet-numbers", False, 20, [1234567890.12, 7654321.5], "#,##0.00"),
    ]


def _legibility_cases() -> list[Case]:
    def case(rule: str, name: str, broken: bool, *pages: str, **options: Any) -> Case:
        return Case(rule, name, Kind.PDF, drawn(*pages, **options), broken)

    yellow = block(50, 290, 300, 30, "1 1 0.4")
    pale = text(60, 300, "Hardly visible words", colour="0.93 0.93 0.9")
    dark = block(0, 0, 600, 800, "0.1 0.1 0.15")
    return [
        case("low-contrast", "pale-on-white", True, BODY + pale),
        case("low-contrast", "dark-on-dark", True, dark + text(60, 300, "Dark words", colour="0.2 0.2 0.2")),
        case("low-contrast", "white-on-white", True, BODY + text(60, 300, "Invisible words", colour="1 1 1")),
        case("low-contrast", "white-on-yellow", True, yellow + text(60, 300, "Title", colour="1 1 1")),
        case("low-contrast", "black", False, BODY),
        case("low-contrast", "white-on-dark", False, dark + text(60, 300, "White words", colour="1 1 1")),
        case("low-contrast", "grey-footer", False, BODY + text(60, 30, "Page 1 of 2", size=9, colour="0.5 0.5 0.5")),
        case("low-contrast", "heavy", False, text(60, 300, "HEAVY", size=40, colour="0.6 0 0")),
        case("missing-glyph", "stand-in", True, _with_square("Smith", "Jones")),
        case("missing-glyph", "in-number", True, BODY + _with_square("2021", "22")),
        Case("missing-glyph", "replacement", Kind.DOCX, words("An unknown \ufffd sign"), True),
        Case("missing-glyph", "unassigned", Kind.DOCX, words("A letter \u0378 no font has"), True),
        case("missing-glyph", "squares", False, BODY + "BT /F2 12 Tf 60 300 Td (n) Tj /F1 12 Tf ( a list item) Tj ET"),
        case("missing-glyph", "round", False, text(60, 300, "O 0 D o Q 8 B", size=14)),
        Case("missing-glyph", "words", Kind.DOCX, words("Plain words, 100 % sound: O0D8B"), False),
    ]  # fmt: skip


def _with_square(before: str, after: str) -> str:
    """What a PDF library draws for a letter its font lacks: a black square inside the word."""
    return f"BT /F1 12 Tf 60 300 Td ({before}) Tj /F2 12 Tf (n) Tj /F1 12 Tf ({after}) Tj ET\n"


def _other_cases() -> list[Case]:
    def pdf(rule: str, name: str, broken: bool, *pages: str, limits: CheckLimits | None = None, **options: Any) -> Case:
        return Case(rule, name, Kind.PDF, drawn(*pages, **options), broken, limits or CheckLimits())

    def font(name: str, broken: bool, face: str) -> Case:
        def make(path: Path) -> None:
            from docx import Document

            document = Document()
            document.add_paragraph().add_run("Words in a font").font.name = face
            document.save(str(path))

        return Case("font", name, Kind.DOCX, make, broken)

    two = CheckLimits(pages=2)
    return [
        font("fancy", True, "Brandon Grotesque"),
        font("mac-only", True, "Helvetica Neue"),
        pdf("font", "pdf-fancy", True, BODY, fonts="Gotham-Book"),
        font("common", False, "Times New Roman"),
        font("noto", False, "Noto Sans"),
        pdf("font", "pdf-standard", False, BODY, fonts="Courier-Bold"),
        pdf("page-limit", "three-of-two", True, BODY, BODY, BODY, limits=two),
        pdf("page-limit", "four-of-two", True, BODY, BODY, BODY, BODY, limits=two),
        pdf("page-limit", "two-of-one", True, BODY, BODY, limits=CheckLimits(pages=1)),
        pdf("page-limit", "one-of-two", False, BODY, limits=two),
        pdf("page-limit", "two-of-two", False, BODY, BODY, limits=two),
        pdf("page-limit", "no-limit", False, BODY, BODY, BODY),
        Case("unreadable", "cut-pdf", Kind.PDF, _cut(drawn(BODY), 0.5), True),
        Case("unreadable", "cut-docx", Kind.DOCX, _cut(words("Some words"), 0.6), True),
        Case("unreadable", "cut-png", Kind.PNG, _cut(_png, 0.7), True),
        Case("unreadable", "empty", Kind.EMPTY, plain(""), True),
        Case("unreadable", "broken-json", Kind.JSON, plain('{"a": 1,'), True),
        pdf("unreadable", "sound-pdf", False, BODY),
        Case("unreadable", "sound-docx", Kind.DOCX, words("Some words"), False),
        Case("unreadable", "sound-png", Kind.PNG, _png, False),
        Case("unreadable", "sound-json", Kind.JSON, plain('{"a": 1}'), False),
        Case("link", "sandbox", Kind.TEXT, plain("See sandbox:/mnt/data/report.pdf"), True),
        Case("link", "markdown", Kind.MARKDOWN, plain("Open [the file](report.xlsx)."), True),
        pdf("link", "pdf-local", True, BODY, link="file:///home/jane/report.pdf"),
        Case("link", "none", Kind.TEXT, plain("The report is attached."), False),
        Case("link", "web", Kind.MARKDOWN, plain("See [the law](https://example.org/law)."), False),
        pdf("link", "pdf-web", False, BODY, link="https://example.org/source"),
    ]  # fmt: skip


def _cut(make: Maker, share: float) -> Maker:
    def cut(path: Path) -> None:
        make(path)
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])

    return cut


def _png(path: Path) -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((80, 80), 50).save(out, "PNG")
    path.write_bytes(out.getvalue())
