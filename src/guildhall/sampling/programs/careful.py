"""A careful worker: reads every reference file, answers every numbered point, and makes tidy office files.

Run inside the sandbox as  python3 careful.py '{"title": ..., "points": [...], "wanted": ["a.xlsx", ...]}'
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
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
    return found


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


def make_workbook(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    book = Workbook()
    summary = book.active
    summary.title = "Summary"
    summary["A1"] = job["title"]
    summary["A1"].font = Font(bold=True, size=14, color=INK)
    heading = ["Source", "Sheet", "Rows", "Column", "Total", "Mean"]
    row_number = 3
    for column, words in enumerate(heading, 1):
        cell = summary.cell(row_number, column, words)
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor=INK)
    for source in sources:
        for title, table in source.tables.items():
            sheet = book.create_sheet(f"{source.name.split('.')[0]} {title}"[:31])
            for row in table:
                sheet.append([cell if cell is None or isinstance(cell, int | float | str) else str(cell) for cell in row])
            for cell in sheet[1]:
                cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor=PALE)
            sheet.freeze_panes = "A2"
            for column in range(1, len(table[0]) + 1):
                sheet.column_dimensions[get_column_letter(column)].width = 18
            for index, words in numeric_columns(table):
                row_number += 1
                area = f"'{sheet.title}'!{get_column_letter(index + 1)}2:{get_column_letter(index + 1)}{len(table)}"
                values = [source.name, title, len(table) - 1, words, f"=SUM({area})", f"=AVERAGE({area})"]
                for column, value in enumerate(values, 1):
                    summary.cell(row_number, column, value)
                summary.cell(row_number, 5).number_format = summary.cell(row_number, 6).number_format = "#,##0.00"
    for letter, width in zip("ABCDEF", (34, 22, 8, 30, 16, 14), strict=True):
        summary.column_dimensions[letter].width = width
    notes = book.create_sheet("Notes")
    notes.append(["What was asked", "Where it is answered"])
    for point in job["points"]:
        notes.append([point, "Summary, and the sheet named after each source"])
    notes.column_dimensions["A"].width, notes.column_dimensions["B"].width = 90, 40
    for row in notes.iter_rows():
        for cell in row:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for sheet in book:
        sheet.page_setup.orientation, sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = "landscape", 1, 0
        sheet.sheet_properties.pageSetUpPr.fitToPage = True
    book.save(path)


def make_document(path: Path, job: dict[str, Any], sources: list[Source]) -> None:
    from docx import Document
    from docx.shared import Pt

    document = Document()
    style = document.styles["Normal"]
    style.font.name, style.font.size = "Noto Sans", Pt(10)
    document.add_heading(job["title"], level=1)
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
        document.add_heading(f"{number}. {point[:80]}", level=2)
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
    from pptx.util import Inches, Pt

    deck = Presentation()
    opening = deck.slides.add_slide(deck.slide_layouts[1])
    opening.shapes.title.text = job["title"][:60]
    opening.placeholders[1].text = "\n".join(point[:90] for point in job["points"][:4])
    for source in sources:
        for title, table in source.tables.items():
            columns = numeric_columns(table)
            if not columns or len(deck.slides) >= job.get("slides", 5):
                continue
            slide = deck.slides.add_slide(deck.slide_layouts[5])
            slide.shapes.title.text = f"{columns[0][1]} in {title}"[:50]
            data = CategoryChartData()
            data.categories = [str(row[0])[:12] for row in table[1:13]]
            values = [row[columns[0][0]] for row in table[1:13]]
            data.add_series(columns[0][1], [value if isinstance(value, int | float) else 0 for value in values])
            slide.shapes.add_chart(
                XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(0.7), Inches(1.7), Inches(8.6), Inches(4.6), data
            )
    while len(deck.slides) < job.get("slides", 3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = "What follows"
        slide.placeholders[1].text = "\n".join(point[:80] for point in job["points"][-3:])
    for slide in deck.slides:
        for shape in slide.placeholders:
            for paragraph in shape.text_frame.paragraphs:
                paragraph.font.size = Pt(24 if shape == slide.shapes.title else 16)
    deck.save(str(path))


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
