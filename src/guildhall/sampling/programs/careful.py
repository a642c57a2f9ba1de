"""A careful worker: reads every reference file, answers every numbered point, and makes tidy office files.

Run inside the sandbox as  python3 careful.py '{"title": ..., "points": [...], "wanted": ["a.xlsx", ...]}'
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OUT = Path("deliverables")
REFERENCES = Path("reference_files")
INK, PALE = "1F3864", "DCE6F1"


@dataclass
class Source:
    """One reference file as it was read: tables by name, and lines of text."""

    name: str
    tables: dict[str, list[list[Any]]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def read(path: Path) -> Source:
    found = Source(path.name)
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as stream:
            found.tables[path.stem] = [[_number(cell) for cell in row] for row in csv.reader(stream)]
    elif path.suffix == ".xlsx":
        from openpyxl import load_workbook

        for sheet in load_workbook(path, data_only=True):
            rows = [list(row) for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            found.tables[sheet.title] = rows
    elif path.suffix == ".docx":
        from docx import Document

        found.lines = [paragraph.text for paragraph in Document(str(path)).paragraphs if paragraph.text.strip()]
    elif path.suffix == ".pdf":
        import pypdfium2

        for page in pypdfium2.PdfDocument(path):
            found.lines += [line for line in page.get_textpage().get_text_range().splitlines() if line.strip()]
    found.tables = {title: headed(table) for title, table in found.tables.items() if table}
    found.lines = ["".join(char for char in line if char.isprintable()) for line in found.lines]
    return found


def headed(table: list[list[Any]]) -> list[list[Any]]:
    """The table from its heading on: the first row of words that is about as wide as the widest."""
    filled = [sum(cell is not None and cell != "" for cell in row) for row in table]
    for number, row in enumerate(table):
        words = [cell for cell in row if isinstance(cell, str) and cell]
        if filled[number] * 4 >= max(filled) * 3 and len(words) == filled[number]:
            return table[number:]
    return table


def _number(cell: str) -> Any:
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell


def numeric_columns(table: list[list[Any]]) -> list[tuple[int, str]]:
    """Columns that are mostly figures, with their headings."""
    if len(table) < 3:
        return []
    width = min(len(row) for row in table)
    columns = []
    for column in range(width):
        figures = sum(isinstance(row[column], int | float) for row in table[1:])
        if figures * 2 > len(table) - 1:
            columns.append((column, str(table[0][column] or f"column {column + 1}")))
    return columns


def counted_columns(table: list[list[Any]]) -> list[tuple[str, Counter[str]]]:
    """Columns that sort the rows into a few kinds, with how many rows each kind has."""
    found = []
    for column in range(min(len(row) for row in table)) if len(table) > 3 else ():
        kinds = Counter(str(row[column]) for row in table[1:] if isinstance(row[column], str) and row[column])
        if 2 <= len(kinds) <= 12 and sum(kinds.values()) * 2 > len(table):
            found.append((str(table[0][column]), kinds))
    return found


def heading_of(point: str) -> str:
    """The first clause of a point, cut at a word."""
    clause = re.split(r"[:;,.(]", point)[0].strip() or point
    return clause if len(clause) <= 60 else clause[:60].rsplit(" ", 1)[0]


def make_workbook(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    summary: Any = book.active
    summary.title = "Summary"
    _head_summary(summary, path)
    row = 3
    for source in sources:
        for title, table in source.tables.items():
            row = _add_source(book, summary, row, source.name, title, table)
    for letter, width in zip("ABCDEF", (34, 22, 8, 30, 16, 14), strict=True):
        summary.column_dimensions[letter].width = width
    _add_notes(book, job["points"])
    for sheet in book:
        page: Any = sheet
        page.page_setup.orientation, page.page_setup.fitToWidth, page.page_setup.fitToHeight = "landscape", 1, 0
        page.sheet_properties.pageSetUpPr.fitToPage = True
    book.save(path)


def _head_summary(summary: Any, path: Path) -> None:
    from openpyxl.styles import Font, PatternFill

    summary["A1"] = path.stem.replace("_", " ").capitalize()
    summary["A1"].font = Font(bold=True, size=14, color=INK)
    for column, words in enumerate(("Source", "Sheet", "Rows", "Column", "Total", "Mean"), 1):
        cell = summary.cell(3, column, words)
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor=INK)


def _add_source(book: Any, summary: Any, row: int, name: str, title: str, table: list[list[Any]]) -> int:
    """A sheet with the source's rows, and live totals of its numeric columns on the summary."""
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(f"{name.split('.')[0]} {title}"[:31])
    for cells in table:
        sheet.append([cell if cell is None or isinstance(cell, int | float | str) else str(cell) for cell in cells])
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor=PALE)
    sheet.freeze_panes = "A2"
    for column in range(1, len(table[0]) + 1):
        sheet.column_dimensions[get_column_letter(column)].width = 18
    for index, words in numeric_columns(table):
        row += 1
        area = f"'{sheet.title}'!{get_column_letter(index + 1)}2:{get_column_letter(index + 1)}{len(table)}"
        values = [name, title, len(table) - 1, words, f"=SUM({area})", f"=AVERAGE({area})"]
        for column, value in enumerate(values, 1):
            summary.cell(row, column, value)
        summary.cell(row, 5).number_format = summary.cell(row, 6).number_format = "#,##0.00"
    return row


def _add_notes(book: Any, points: list[str]) -> None:
    from openpyxl.styles import Alignment

    notes = book.create_sheet("Notes")
    notes.append(["What was asked", "Where it is answered"])
    for point in points:
        notes.append([point, "Summary, and the sheet named after each source"])
    notes.column_dimensions["A"].width, notes.column_dimensions["B"].width = 90, 40
    for row in notes.iter_rows():
        for cell in row:
            cell.alignment = Alignment(wrap_text=True, vertical="top")


def make_document(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    from docx import Document
    from docx.shared import Pt

    document = Document()
    style = document.styles["Normal"]
    style.font.name, style.font.size = "Noto Sans", Pt(10)
    document.add_heading(path.stem.replace("_", " ").capitalize(), level=1)
    document.add_paragraph(f"This answers {len(job['points'])} points and rests on {len(sources)} files.")
    table = document.add_table(rows=1, cols=4, style="Light Grid Accent 1")
    for cell, words in zip(table.rows[0].cells, ("Source", "Column", "Rows", "Total"), strict=True):
        cell.text = words
    for source in sources:
        for rows in source.tables.values():
            for index, words in numeric_columns(rows)[:3]:
                total = sum(row[index] for row in rows[1:] if isinstance(row[index], int | float))
                figures = (source.name, words, str(len(rows) - 1), f"{total:,.2f}")
                for cell, figure in zip(table.add_row().cells, figures, strict=True):
                    cell.text = figure
    for number, point in enumerate(job["points"], 1):
        document.add_heading(f"{number}. {heading_of(point)}", level=2)
        document.add_paragraph(point)
        for line in _evidence(point, sources):
            document.add_paragraph(line, style="List Bullet")
    document.save(str(path))


def _evidence(point: str, sources: list[Source]) -> list[str]:
    """Lines of the references that share the most words with a point, each with its source."""
    wanted = {word.lower().strip(".,;:") for word in point.split() if len(word) > 4}
    scored = [
        (len(wanted & {word.lower().strip(".,;:") for word in line.split()}), f"{line.strip()[:160]} ({source.name})")
        for source in sources
        for line in source.lines
    ]
    best = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: -entry[0])
    return [words for _, words in best[:3]]


def make_slides(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    made: Any = CategoryChartData  # the library has no types for it
    deck, wanted = Presentation(), job.get("slides", 5)
    add_bullets(deck, job["title"], [heading_of(point) for point in job["points"]])
    for title, words, values in charts(sources)[: wanted - 2]:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        data: Any = made()
        data.categories = words
        data.add_series(title, values)
        frame = (Inches(0.7), Inches(1.7), Inches(8.6), Inches(5.0))
        chart = slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, *frame, data).chart
        chart.has_legend, chart.value_axis.minimum_scale = False, 0
    while len(deck.slides) < wanted:
        add_bullets(deck, "What follows from it", [point[:140] for point in job["points"]])
    for slide in deck.slides:
        slide.shapes.title.text_frame.paragraphs[0].runs[0].font.size = points(28)
    deck.save(str(path))


def points(size: int) -> Any:
    from pptx.util import Pt

    return Pt(size)


def add_bullets(deck: Any, title: str, lines: list[str]) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = "\n".join(lines[:6])
    for paragraph in slide.placeholders[1].text_frame.paragraphs:
        paragraph.font.size = points(20)


def charts(sources: list[Source]) -> list[tuple[str, list[str], list[float]]]:
    """What can be drawn: rows by kind first, then columns of figures."""
    found = []
    for source in sources:
        for table in source.tables.values():
            for heading, kinds in counted_columns(table):
                words = [word[:24] for word, _ in kinds.most_common()]
                found.append((f"Rows by {heading}", words, [float(count) for _, count in kinds.most_common()]))
            for column, heading in numeric_columns(table)[:1]:
                rows = [row for row in table[1:] if isinstance(row[column], int | float)][:12]
                found.append((heading, [str(row[0])[:24] for row in rows], [float(row[column]) for row in rows]))
    return found


def make_pdf(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    Path("build").mkdir(exist_ok=True)
    draft = Path("build") / f"{path.stem}.docx"
    make_document(draft, job, sources)
    command = ["soffice", "-env:UserInstallation=file:///tmp/office", "--headless", "--convert-to", "pdf", "--outdir"]
    subprocess.run([*command, str(path.parent), str(draft)], check=True, capture_output=True, timeout=120)


def make_text(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    lines = [job["title"], "", *job["points"], "", *(source.name for source in sources)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


MAKERS = {".xlsx": make_workbook, ".docx": make_document, ".pptx": make_slides, ".pdf": make_pdf}


def main() -> None:
    job = json.loads(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    sources = [read(path) for path in sorted(REFERENCES.rglob("*")) if path.is_file()] if REFERENCES.exists() else []
    for name in job["wanted"]:
        path = OUT / name
        MAKERS.get(path.suffix, make_text)(path, job, sources)
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
