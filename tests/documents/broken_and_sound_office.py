"""More made files for the format checks: Office files, broken and sound, as people and programs make them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guildhall.documents.checks.checking import CheckLimits
from guildhall.documents.kinds import Kind
from tests.documents.broken_and_sound import Case, Maker


def office_cases() -> list[Case]:
    return [*_document_cases(), *_deck_cases(), *_book_cases()]


def document(fill: Callable[[Any], None]) -> Maker:
    def make(path: Path) -> None:
        from docx import Document

        made = Document()
        fill(made)
        made.save(str(path))

    return make


def deck(fill: Callable[[Any, Any], None], *, slides: int = 1, layout: int = 6) -> Maker:
    def make(path: Path) -> None:
        from pptx import Presentation

        made = Presentation()
        for _ in range(slides):
            fill(made, made.slides.add_slide(made.slide_layouts[layout]))
        made.save(str(path))

    return make


def book(fill: Callable[[Any], None]) -> Maker:
    def make(path: Path) -> None:
        import openpyxl

        made = openpyxl.Workbook()
        fill(made.active)
        made.save(path)

    return make


def _image(width: int = 300, height: int = 200) -> io.BytesIO:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((width, height), 80).convert("RGB").save(out, "PNG")
    out.seek(0)
    return out


def _document_cases() -> list[Case]:
    def case(
        rule: str, name: str, broken: bool, fill: Callable[[Any], None], limits: CheckLimits | None = None
    ) -> Case:
        return Case(rule, f"docx-{name}", Kind.DOCX, document(fill), broken, limits or CheckLimits())

    return [
        case("blank-page", "two-breaks", True, _page_breaks(2)),
        case("blank-page", "one-break", False, _page_breaks(1)),
        case("low-contrast", "yellow", True, lambda made: _run(made, "Pale yellow words", colour="FFFFB0")),
        case("low-contrast", "grey", False, lambda made: _run(made, "Grey words", colour="707070")),
        case("low-contrast", "blue", False, lambda made: _run(made, "Blue words", colour="1F4E9E")),
        case("small-figure", "small", True, lambda made: _figures(made, 2.2)),
        case("small-figure", "large", False, lambda made: _figures(made, 6)),
        case("small-figure", "side-by-side", False, lambda made: _figures(made, 2.4, number=2)),
        case("cut-off", "wide-picture", True, lambda made: _figures(made, 11)),
        case("cut-off", "table", False, _table),
        case("overlap", "table", False, _table),
        case("link", "local", True, lambda made: _hyperlink(made, "file:///C:/figures/data.xlsx")),
        case("link", "relative", True, lambda made: _hyperlink(made, "data.xlsx")),
        case("link", "web", False, lambda made: _hyperlink(made, "https://example.org/a")),
        case("risky-character", "no-break-element", True, _no_break_hyphen),
        case("risky-character", "list", False, lambda made: made.add_paragraph("point", style="List Bullet")),
        case("odd-bullet", "list", False, _list),
        case("page-limit", "long", True, _page_breaks(1), CheckLimits(pages=1)),
        case("page-limit", "short", False, _page_breaks(1), CheckLimits(pages=2)),
    ]  # fmt: skip


def _list(made: Any) -> None:
    for point in ("one", "two", "three"):
        made.add_paragraph(point, style="List Bullet")


def _page_breaks(number: int) -> Callable[[Any], None]:
    def fill(made: Any) -> None:
        made.add_paragraph("First words")
        for _ in range(number):
            made.add_page_break()
        made.add_paragraph("Last words, which end this small report.")

    return fill


def _run(made: Any, content: str, *, colour: str) -> None:
    from docx.shared import RGBColor

    made.add_paragraph("Ordinary words before")
    made.add_paragraph().add_run(content).font.color.rgb = RGBColor.from_string(colour)


def _figures(made: Any, inches: float, *, number: int = 1) -> None:
    from docx.shared import Inches

    made.add_paragraph("The figure shows the growth of the last years.\n\n\n")
    run = made.add_paragraph().add_run()
    for _ in range(number):
        run.add_picture(_image(), width=Inches(inches))


def _table(made: Any) -> None:
    table = made.add_table(rows=4, cols=3, style="Table Grid")
    for row in table.rows:
        for cell in row.cells:
            cell.text = "Some words in a cell that wrap over lines"


def _hyperlink(made: Any, target: str) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
    identifier = made.part.relate_to(target, kind, is_external=True)
    link = f'<w:hyperlink {nsdecls("w", "r")} r:id="{identifier}"><w:r><w:t>the file</w:t></w:r></w:hyperlink>'
    made.add_paragraph("See ")._p.append(parse_xml(link))


def _no_break_hyphen(made: Any) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    words = f"<w:r {nsdecls('w')}><w:t>long</w:t><w:noBreakHyphen/><w:t>term</w:t></w:r>"
    made.add_paragraph()._p.append(parse_xml(words))


def _deck_cases() -> list[Case]:
    def case(rule: str, name: str, broken: bool, make: Maker, limits: CheckLimits | None = None) -> Case:
        return Case(rule, f"pptx-{name}", Kind.PPTX, make, broken, limits or CheckLimits())

    def says(content: str, **look: Any) -> Maker:
        return deck(lambda _, slide: _say(slide, content, **look))

    return [
        case("blank-page", "empty-slide", True, deck(lambda _made, _slide: None)),
        case("blank-page", "title", False, says("A title")),
        case("cut-off", "picture", True, deck(lambda _, slide: _place(slide, 7, 2, 5))),
        case("cut-off", "picture-inside", False, deck(lambda _, slide: _place(slide, 2, 2, 6))),
        case("overlap", "picture-over-text", True, deck(_picture_over_text)),
        case("overlap", "pictures", True, deck(_crossing_pictures)),
        case("overlap", "text-in-shape", False, says("Words in a box", ground="1F3864", colour="FFFFFF")),
        case("low-contrast", "white", True, says("White words", colour="FFFFFF")),
        case("low-contrast", "navy-on-black", True, says("Navy words", ground="000000", colour="000050")),
        case("low-contrast", "white-on-navy", False, says("White words", ground="1F3864", colour="FFFFFF")),
        case("small-figure", "small", True, deck(lambda _, slide: _place(slide, 3, 3, 3))),
        case("small-figure", "large", False, deck(lambda _, slide: _place(slide, 1, 1, 7))),
        case("font", "fancy", True, says("Words", face="Montserrat")),
        case("font", "common", False, says("Words", face="Arial")),
        case("emoji", "party", True, says("Well done \U0001f389")),
        case("emoji", "marks", False, says("Brand\u2122 and \u00ae, 5 \u20ac")),
        case("risky-character", "hyphen", True, says("A long\u2011term plan")),
        case("risky-character", "plain", False, says("A long-term plan")),
        case("odd-bullet", "drawn", True, deck(lambda _, slide: _bullets(slide, "\u27a4"))),
        case("odd-bullet", "usual", False, deck(lambda _, slide: _bullets(slide, "\u2022"))),
        case("page-limit", "three", True, deck(lambda _, s: _say(s, "Words"), slides=3), CheckLimits(pages=2)),
        case("page-limit", "two", False, deck(lambda _, s: _say(s, "Words"), slides=2), CheckLimits(pages=2)),
        case("unreadable", "sound", False, says("Words")),
        case("missing-glyph", "unassigned", True, says("A letter \u0378 here")),
        case("missing-glyph", "sound", False, says("All letters are here: ABCDO08")),
    ]


def _say(
    slide: Any, content: str, *, ground: str | None = None, colour: str | None = None, face: str | None = None
) -> None:
    from pptx.dml.color import RGBColor
    from pptx.util import Inches, Pt

    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(7), Inches(1))
    box.text_frame.text = content
    if ground:
        box.fill.solid()
        box.fill.fore_color.rgb = RGBColor(*bytes.fromhex(ground))  # type: ignore[no-untyped-call]
    font = box.text_frame.paragraphs[0].runs[0].font
    font.size = Pt(24)
    if colour:
        font.color.rgb = RGBColor(*bytes.fromhex(colour))  # type: ignore[no-untyped-call]
    if face:
        font.name = face


def _place(slide: Any, left: float, top: float, width: float) -> None:
    from pptx.util import Inches

    slide.shapes.add_picture(_image(), Inches(left), Inches(top), Inches(width))


def _picture_over_text(_: Any, slide: Any) -> None:
    _say(slide, "Words that a picture hides from every reader")
    _place(slide, 0.5, 1.5, 6)


def _crossing_pictures(_: Any, slide: Any) -> None:
    _place(slide, 0.5, 0.5, 5)
    _place(slide, 3, 2, 5)


def _bullets(slide: Any, char: str) -> None:
    from pptx.oxml import parse_xml
    from pptx.util import Inches

    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(6), Inches(3)).text_frame
    frame.text = "First point\nSecond point\nThird point"
    namespace = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    for paragraph in frame.paragraphs:
        properties = paragraph._p.get_or_add_pPr()
        properties.set("marL", "285750")
        properties.set("indent", "-285750")
        properties.append(parse_xml(f'<a:buChar {namespace} char="{char}"/>'))


def _book_cases() -> list[Case]:
    def case(rule: str, name: str, broken: bool, fill: Callable[[Any], None]) -> Case:
        return Case(rule, f"xlsx-{name}", Kind.XLSX, book(fill), broken)

    return [
        case("emoji", "chart", True, lambda grid: _cell(grid, "Growth \U0001f4c8")),
        case("emoji", "words", False, lambda grid: _cell(grid, "Growth")),
        case("risky-character", "zero-width", True, lambda grid: _cell(grid, "Total\u200b")),
        case("risky-character", "plain", False, lambda grid: _cell(grid, "Total")),
        case("low-contrast", "white", True, lambda grid: _cell(grid, "Hidden words", colour="FFFFFF")),
        case("low-contrast", "header", False, lambda grid: _cell(grid, "Header", colour="FFFFFF", ground="1F4E9E")),
        case("font", "fancy", True, lambda grid: _cell(grid, "Words", face="Futura")),
        case("font", "common", False, lambda grid: _cell(grid, "Words", face="Calibri")),
        case("cut-off", "wrapped-in-low-row", True, _low_rows),
        case("overlap", "grid", False, _grid),
    ]  # fmt: skip


def _cell(grid: Any, content: str, *, colour: str = "000000", ground: str | None = None, face: str = "Arial") -> None:
    from openpyxl.styles import Font, PatternFill

    grid["A1"] = content
    grid["A1"].font = Font(name=face, color=colour)
    grid.column_dimensions["A"].width = 30
    if ground:
        grid["A1"].fill = PatternFill("solid", fgColor=ground)


def _grid(grid: Any) -> None:
    for _ in range(5):
        grid.append(["Rent", 1200, "monthly"])


def _low_rows(grid: Any) -> None:
    """Wrapped text in rows too low for it, centred: the first and last lines are cut off."""
    from openpyxl.styles import Alignment

    for row in (1, 2, 3):
        grid.cell(row, 1, "Words that wrap over three lines because the column is narrow")
        grid.cell(row, 1).alignment = Alignment(wrap_text=True, vertical="center")
        grid.row_dimensions[row].height = 14
    grid.column_dimensions["A"].width = 22
