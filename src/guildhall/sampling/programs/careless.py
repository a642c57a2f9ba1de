"""A careless worker: one file of several, values without formulas, no look at the result, things left lying about.

Run inside the sandbox as  python3 careless.py '{"title": ..., "points": [...], "wanted": ["a.xlsx", ...]}'
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

OUT = Path("deliverables")
REFERENCES = Path("reference_files")


def make_workbook(path: Path, job: dict[str, Any]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet: Any = book.active
    for number, point in enumerate(job["points"], 1):
        sheet.append([number, point, number * 1000])
    sheet.append(["TOTAL", "", 999])
    book.save(path)


def make_document(path: Path, job: dict[str, Any]) -> None:
    from docx import Document

    document = Document()
    wall = " ".join(f"\u2705 {point}" for point in job["points"])
    document.add_paragraph(f"Sure! Here is the {job['title']} you asked for. {wall} Let me know if you need more!")
    document.save(str(path))


def make_slides(path: Path, job: dict[str, Any]) -> None:
    from pptx import Presentation
    from pptx.util import Pt

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = job["title"] * 3
    slide.placeholders[1].text = "\n".join(job["points"] * 3)
    for paragraph in slide.placeholders[1].text_frame.paragraphs:
        paragraph.font.size = Pt(28)
    deck.save(str(path))


def make_pdf(path: Path, job: dict[str, Any]) -> None:
    draft = path.with_suffix(".docx")
    make_document(draft, job)
    command = ["soffice", "-env:UserInstallation=file:///tmp/office", "--headless", "--convert-to", "pdf", "--outdir"]
    subprocess.run([*command, str(path.parent), str(draft)], check=True, capture_output=True, timeout=120)


MAKERS = {".xlsx": make_workbook, ".docx": make_document, ".pptx": make_slides, ".pdf": make_pdf}


def main() -> None:
    job = json.loads(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    path = OUT / job["wanted"][0]
    if path.suffix in MAKERS:
        MAKERS[path.suffix](path, job)
    else:
        path.write_text(job["title"], encoding="utf-8")
    for reference in sorted(REFERENCES.glob("*"))[:1]:
        shutil.copy(reference, OUT / f"copy of {reference.name}")
    Path("scratch.txt").write_text("notes to self\n", encoding="utf-8")


if __name__ == "__main__":
    main()
