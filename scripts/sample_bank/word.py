"""Word documents in one plain house look: headings, paragraphs, tables that print well."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from docx import Document
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Inches, Pt, RGBColor

INK = RGBColor(0x1F, 0x2A, 0x44)


def new_document(*, font: str = "Calibri", size: float = 10.5, margin_in: float = 1.0) -> Any:
    document = Document()
    for section in document.sections:
        section.page_width, section.page_height = Inches(8.5), Inches(11)
        section.left_margin = section.right_margin = Inches(margin_in)
        section.top_margin = section.bottom_margin = Inches(min(margin_in, 0.9))
    normal = document.styles["Normal"]
    _set_font(normal, font, size)
    normal.paragraph_format.space_after = Pt(6)
    normal.paragraph_format.line_spacing = 1.08
    for name, points, before in (("Title", 20, 0), ("Heading 1", 14, 14), ("Heading 2", 11.5, 10)):
        style = document.styles[name]
        _set_font(style, font, points)
        style.font.bold, style.font.color.rgb = True, INK
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(before), Pt(4)
        style.paragraph_format.keep_with_next = True
    return document


def _set_font(style: Any, font: str, size: float) -> None:
    style.font.name, style.font.size = font, Pt(size)
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for attribute in list(fonts.attrib):
        if attribute.endswith("Theme"):
            del fonts.attrib[attribute]
    for kind in ("w:ascii", "w:hAnsi", "w:cs", "w:eastAsia"):
        fonts.set(qn(kind), font)


def paragraph(document: Any, text: str, *, style: str | None = None, align: str | None = None) -> Any:
    """A paragraph in which **stars** mark bold."""
    made = document.add_paragraph(style=style)
    for number, part in enumerate(text.split("**")):
        if part:
            made.add_run(part).bold = True if number % 2 else None
    if align:
        made.alignment = getattr(WD_ALIGN_PARAGRAPH, align.upper())
    return made


def bullets(document: Any, items: Sequence[str], *, style: str = "List Bullet") -> None:
    for item in items:
        paragraph(document, item, style=style).paragraph_format.space_after = Pt(3)


def table(
    document: Any,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    widths_in: Sequence[float],
    right: Collection[int] = (),
    bold_rows: Collection[int] = (),
    size: float = 9.0,
) -> Any:
    """A ruled table with a shaded header that repeats on each page; `right` columns hold figures."""
    made = document.add_table(rows=0, cols=len(header))
    made.style, made.alignment, made.autofit = "Table Grid", WD_TABLE_ALIGNMENT.CENTER, False
    for column, width in zip(made.columns, widths_in, strict=True):
        column.width = Inches(width)
    for number, values in enumerate([header, *rows]):
        row = made.add_row()
        _keep_whole(row)
        for column, (cell, value) in enumerate(zip(row.cells, values, strict=True)):
            cell.width = Inches(widths_in[column])
            _fill_cell(cell, value, size=size, right=column in right, bold=number == 0 or number - 1 in bold_rows)
            if number == 0:
                shade(cell, "1F2A44")
                cell.paragraphs[0].runs[0].font.color.rgb = RGBColor(0xFF, 0xFF, 0xFF)
            elif number - 1 in bold_rows:
                shade(cell, "E8ECF4")
    repeat = OxmlElement("w:tblHeader")
    made.rows[0]._tr.get_or_add_trPr().append(repeat)  # noqa: SLF001  python-docx has no public way
    document.add_paragraph().paragraph_format.space_after = Pt(2)
    return made


def _keep_whole(row: Any) -> None:
    row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))  # noqa: SLF001


def _fill_cell(cell: Any, value: str, *, size: float, right: bool, bold: bool) -> None:
    spot = cell.paragraphs[0]
    spot.paragraph_format.space_after = spot.paragraph_format.space_before = Pt(1.5)
    spot.paragraph_format.line_spacing = 1.0
    run = spot.add_run(value)
    run.font.size, run.bold = Pt(size), bold
    if right:
        spot.alignment = WD_ALIGN_PARAGRAPH.RIGHT


def shade(cell: Any, fill: str) -> None:
    shading = OxmlElement("w:shd")
    shading.set(qn("w:val"), "clear")
    shading.set(qn("w:color"), "auto")
    shading.set(qn("w:fill"), fill)
    cell._tc.get_or_add_tcPr().append(shading)  # noqa: SLF001


def footer(document: Any, text: str) -> None:
    """A grey footer line with the page number."""
    _set_font(document.styles["Footer"], document.styles["Normal"].font.name, 8)
    spot = document.sections[0].footer.paragraphs[0]
    run = spot.add_run(f"{text}   |   page ")
    number = spot.add_run()
    for kind, content in (("begin", None), (None, "PAGE"), ("end", None)):
        element = OxmlElement("w:fldChar" if kind else "w:instrText")
        if kind:
            element.set(qn("w:fldCharType"), kind)
        element.text = content
        number._r.append(element)  # noqa: SLF001
    for part in (run, number):
        part.font.size, part.font.color.rgb = Pt(8), RGBColor(0x77, 0x77, 0x77)
