"""Extraction: structure survives, formulas stand beside values, nothing is cut in silence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.documents.extract.reading import extract_file
from guildhall.documents.extract.writing import TextBudget, Writer
from guildhall.documents.kinds import Kind
from guildhall.documents.packages import read_members, write_members
from tests.documents import sound
from tests.documents.canary_files import made


def test_a_document_gives_headings_lists_tables_comments_and_changes(tmp_path: Path) -> None:
    text = extract_file(made(Kind.DOCX, tmp_path), kind=Kind.DOCX).text
    for expected in (
        "# Quarterly review",
        "- First point",
        "| Region |  |",
        "{--12--}{++24++}{>>Author 1: Please check this number.<<}",
        "Printed on 3 February 2021",
    ):
        assert expected in text


def test_a_workbook_gives_formulas_and_values_and_counts_them(tmp_path: Path) -> None:
    extracted = extract_file(made(Kind.XLSX, tmp_path), kind=Kind.XLSX)
    assert "B: =SUM(B2:B3) -> 1500" in extracted.text
    assert "Comment at A2: Author 1: Too high?" in extracted.text
    assert extracted.facts["formulas"] == 3
    assert extracted.facts["sheets"] == 1


def test_every_row_of_every_sheet_is_read_also_hidden_ones(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    grid = book.active
    assert grid is not None
    for row in range(500):
        grid.append([row, f"name {row}"])
    book.create_sheet("Secret").sheet_state = "hidden"
    book["Secret"]["C9"] = "=1/4"
    book.save(tmp_path / "long.xlsx")
    extracted = extract_file(tmp_path / "long.xlsx", kind=Kind.XLSX)
    assert "B: name 499" in extracted.text
    assert "## Sheet: Secret (hidden)" in extracted.text
    assert "| row 9 | C: =1/4 -> (no stored value) |" in extracted.text
    assert extracted.facts["rows"] == 501
    assert extracted.omitted == ()


def test_slides_give_titles_notes_charts_and_comments(tmp_path: Path) -> None:
    extracted = extract_file(made(Kind.PPTX, tmp_path), kind=Kind.PPTX)
    for expected in ("# Slide 1", "Plan for spring", "Note: Speak slowly.", "Comment: Author 1: Bigger, please."):
        assert expected in extracted.text
    assert "series s: a = 1" in extracted.text
    assert extracted.pages == 1


def test_what_the_budget_leaves_out_is_counted_in_its_own_unit(tmp_path: Path) -> None:
    path = sound.xlsx(tmp_path / "book.xlsx", columns=20)
    extracted = extract_file(path, kind=Kind.XLSX, budget=TextBudget(chars=200))
    assert len(extracted.text) <= 200
    assert {(one.what, one.count) for one in extracted.omitted if one.what == "rows"} == {("rows", 4)}


@given(lines=st.lists(st.text(alphabet="ab ", max_size=30), max_size=30), chars=st.integers(0, 200))
def test_written_and_omitted_lines_together_are_all_lines(lines: list[str], chars: int) -> None:
    writer = Writer(TextBudget(chars=chars))
    for line in lines:
        writer.add(line)
    written = writer.text().split("\n") if writer.text() or lines else []
    left_out = sum(one.count for one in writer.omitted() if one.what == "lines")
    lost = sum(one.count for one in writer.omitted() if one.what == "characters")
    kept = lines[: len(lines) - left_out]
    assert sum(map(len, written)) + lost == sum(map(len, kept))


_DIAGRAM = (
    b'<dgm:dataModel xmlns:dgm="urn:dgm" xmlns:a="urn:a"><dgm:ptLst>'
    b"<dgm:pt><dgm:t><a:p><a:r><a:t>Collect</a:t></a:r></a:p></dgm:t></dgm:pt>"
    b"<dgm:pt><dgm:t><a:p><a:r><a:t>Decide</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
)
_TEXT_BOX = b'<d:wsDr xmlns:d="urn:d"><d:sp><d:txBody><d:p><d:t>Draft only</d:t></d:p></d:txBody></d:sp></d:wsDr>'


def _changed(kind: Kind, folder: Path, change: Callable[[dict[str, bytes]], None]) -> str:
    """What is read of a file of this kind after its parts were changed."""
    parts = read_members(made(kind, folder))
    change(parts)
    path = folder / f"changed.{kind.value}"
    path.write_bytes(write_members(parts))
    return extract_file(path, kind=kind).text


def test_words_in_diagrams_and_text_boxes_are_read(tmp_path: Path) -> None:
    def add_to_slide(parts: dict[str, bytes]) -> None:
        slide, rels = "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"
        link = b'<Relationship Id="rIdD" Type="diagramData" Target="../diagrams/data1.xml"/></Relationships>'
        parts[rels] = parts[rels].replace(b"</Relationships>", link)
        frame = b'<p:graphicFrame><g:relIds xmlns:g="urn:dgm" r:dm="rIdD"/></p:graphicFrame></p:spTree>'
        parts[slide] = parts[slide].replace(b"</p:spTree>", frame)
        parts["ppt/diagrams/data1.xml"] = _DIAGRAM

    words = "Diagram:\n  Collect\n  Decide"
    assert words in _changed(Kind.PPTX, tmp_path, add_to_slide)
    assert words in _changed(Kind.DOCX, tmp_path, lambda parts: parts.update({"word/diagrams/data1.xml": _DIAGRAM}))
    boxed = _changed(Kind.XLSX, tmp_path, lambda parts: parts.update({"xl/drawings/drawing9.xml": _TEXT_BOX}))
    assert "Text box: Draft only" in boxed


def test_tracked_changes_of_an_open_document_are_told_where_they_were_made(tmp_path: Path) -> None:
    def change(parts: dict[str, bytes]) -> None:
        tracked = (
            b'<text:tracked-changes><text:changed-region text:id="d"><text:deletion><text:p>12</text:p></text:deletion>'
            b'</text:changed-region><text:changed-region text:id="i"><text:insertion/></text:changed-region>'
            b'</text:tracked-changes><text:p>The fee is <text:change text:change-id="d"/>'
            b'<text:change-start text:change-id="i"/>24<text:change-end text:change-id="i"/>.</text:p>'
        )
        parts["content.xml"] = parts["content.xml"].replace(b"<office:text>", b"<office:text>" + tracked)

    text = _changed(Kind.ODT, tmp_path, change)
    assert "The fee is {--12--}{++24++}." in text.splitlines()
    assert text.count("12") == 1


def test_a_cell_in_a_content_control_and_a_symbol_are_read(tmp_path: Path) -> None:
    row = (
        b"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Agreed</w:t></w:r></w:p></w:tc><w:sdt><w:sdtContent><w:tc><w:p><w:r>"
        b'<w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p></w:tc></w:sdtContent></w:sdt></w:tr></w:tbl><w:sectPr'
    )

    def add_row(parts: dict[str, bytes]) -> None:
        before, _, after = parts["word/document.xml"].rpartition(b"<w:sectPr")
        parts["word/document.xml"] = before + row + after

    assert "| Agreed | [Wingdings F0FE] |" in _changed(Kind.DOCX, tmp_path, add_row)


def test_a_notebook_an_archive_and_a_page_of_the_web_are_read(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    cell = {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": [{"output_type": "stream", "text": ["1\n"]}]}
    notebook.write_text(json.dumps({"nbformat": 4, "cells": [cell]}))
    assert "a = 1\na\nOutput (stream):\n1" in extract_file(notebook, kind=Kind.IPYNB).text
    archive = sound.archive(tmp_path / "a.zip", deep__notes_dot_txt=b"hello there")
    text = extract_file(archive, kind=Kind.ZIP).text
    assert "deep/notes.txt (txt)" in text
    assert "hello there" in text
    page = tmp_path / "p.html"
    page.write_text("<h2>Plan</h2><script>x</script><ul><li>one</ul><table><tr><td>a<td>b</td></tr></table>")
    assert extract_file(page, kind=Kind.HTML).text.splitlines()[:2] == ["## Plan", "- one"]


def test_sound_has_a_length_and_a_loudness(tmp_path: Path) -> None:
    extracted = extract_file(sound.wav(tmp_path / "tone.wav", seconds=1.0), kind=Kind.WAV)
    assert extracted.facts["duration_s"] == pytest.approx(1.0)
    assert extracted.facts["audio streams"] == 1
    assert isinstance(extracted.facts["peak_db"], float)
    assert extracted.text.startswith("duration: 1.00 s\n")
    assert "audio, pcm_s16le, 8000 Hz, 1 channels" in extracted.text
    assert re.search(r"^loudness: -\d.* LUFS .* peak -?\d", extracted.text, re.MULTILINE)


def test_words_in_a_picture_are_read_where_tesseract_is_at_hand(tmp_path: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (500, 120), "white")
    ImageDraw.Draw(picture).text((20, 30), "INVOICE 2041", fill="black", font=ImageFont.load_default(48))
    picture.save(tmp_path / "scan.png")
    extracted = extract_file(tmp_path / "scan.png", kind=Kind.PNG)
    if any("tesseract" in one.reason for one in extracted.omitted):
        pytest.skip("tesseract is not here")
    assert extracted.text.startswith("picture: 500 x 120 pixels\n")
    assert "INVOICE" in extracted.text


def test_a_file_that_cannot_be_read_is_an_omission_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "broken.docx"
    path.write_bytes(b"PK\x03\x04 nothing")
    extracted = extract_file(path, kind=Kind.DOCX)
    assert extracted.text == ""
    assert "damaged zip" in extracted.omitted[0].reason


def test_the_words_of_real_expert_files_are_read(realdata: Path) -> None:
    from guildhall.documents.detection import detect

    files = sorted((realdata / "gdpval" / "authentic_files" / "reference_files").rglob("*.xlsx"))
    for file in files:
        assert len(extract_file(file, kind=detect(file).kind).text) > 500


def test_a_comment_in_rtf_is_read_where_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    note = rb"{\*\atnid JD}{\*\atnauthor Jane}{\*\annotation{\*\atndate 5}\pard Is this so?}"
    path.write_bytes(rb"{\rtf1{\info{\author Jane}}Hello " + note + rb" world\par}")
    assert extract_file(path, kind=Kind.RTF).text == "Hello {>>Is this so?<<} world"
