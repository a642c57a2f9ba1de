"""Files are known by their content."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.documents.detection import detect, detect_bytes
from guildhall.documents.kinds import Family, Kind, claimed_kind
from guildhall.documents.packages import ZipEntry, entries
from guildhall.errors import UnreadableFile
from tests.documents import sound


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (sound.docx, Kind.DOCX),
        (sound.xlsx, Kind.XLSX),
        (sound.pptx, Kind.PPTX),
        (sound.pdf, Kind.PDF),
        (sound.wav, Kind.WAV),
        (sound.stl, Kind.STL),
        (sound.step, Kind.STEP),
        (sound.dxf, Kind.DXF),
        (sound.notebook, Kind.IPYNB),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_content(make, kind, tmp_path: Path) -> None:
    found = detect(make(tmp_path / "file"))
    assert (found.kind, found.by, found.mismatch) == (kind, "content", False)


def test_a_name_that_claims_another_kind_is_reported(tmp_path: Path) -> None:
    found = detect(sound.docx(tmp_path / "letter.pdf"))
    assert found.kind is Kind.DOCX
    assert found.claimed is Kind.PDF
    assert found.mismatch


def test_a_program_called_docx_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "letter.docx"
    path.write_bytes(b"MZ\x90\0" + bytes(100))
    assert detect(path).kind is Kind.EXECUTABLE
    assert detect(path).mismatch


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("notes.md", "# Title", Kind.MARKDOWN),
        ("run.py", "print(1)", Kind.CODE),
        ("table.csv", "a,b\n1,2\n", Kind.CSV),
        ("nameless", "only words", Kind.TEXT),
        ("page", "<!DOCTYPE html><html><body>x</body></html>", Kind.HTML),
        ("picture", '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', Kind.SVG),
        ("data", '{"a": 1}', Kind.JSON),
        ("remarks.txt", "[1] a source\n[2] another", Kind.TEXT),
    ],
)
def test_text_is_told_apart_by_content_and_then_by_name(name, content, kind) -> None:
    data = content.encode()
    assert detect_bytes(data, data, name=name, size=len(data)).kind is kind


def test_macros_are_seen_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = sound.archive(tmp_path / "a.docx", **{"[Content_Types]_dot_xml": b"", "word__vbaProject_dot_bin": b""})
    assert detect(path).macros


def test_what_a_zip_claims_to_hold_is_known_without_unpacking_it(tmp_path: Path) -> None:
    path = sound.archive(tmp_path / "a.zip", a=bytes(1000), b=bytes(500))
    assert detect(path).unpacked == 1500


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_that_holds_an_office_file_is_an_archive(method: int, tmp_path: Path) -> None:
    letter = sound.docx(tmp_path / "letter.docx")
    with zipfile.ZipFile(tmp_path / "all.zip", "w", method) as archive:
        archive.write(letter, "letter.docx")
        archive.write(letter, "again.docx")
    found = detect(tmp_path / "all.zip")
    assert found.kind is Kind.ZIP
    assert found.unpacked == 2 * letter.stat().st_size


def test_the_main_part_tells_an_office_file_not_a_stray_folder(tmp_path: Path) -> None:
    members = {"[Content_Types]_dot_xml": b"", "word__left_dot_over": b"", "xl__workbook_dot_xml": b""}
    assert detect(sound.archive(tmp_path / "file", **members)).kind is Kind.XLSX


def test_a_cut_office_file_is_known_by_its_start(tmp_path: Path) -> None:
    letter = sound.docx(tmp_path / "letter.docx")
    letter.write_bytes(letter.read_bytes()[:-500])
    assert detect(letter).kind is Kind.DOCX


def test_members_are_listed_as_the_standard_library_lists_them(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(300):
            with archive.open(f"folder/{number}.txt", "w", force_zip64=number % 7 == 0) as member:
                member.write(b"PK\x01\x02 and PK\x05\x06 " * number)
        archive.comment = b"an ordinary comment"
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        expected = [ZipEntry(one.filename, one.file_size) for one in archive.infolist()]
    assert list(entries(data[:65536], data)) == expected


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        detect(tmp_path / "pipe")


@given(data=st.binary(max_size=400), name=st.text(max_size=20))
def test_any_bytes_have_a_kind_and_a_family(data: bytes, name: str) -> None:
    found = detect_bytes(data, data, name=name, size=len(data))
    assert isinstance(found.kind.family, Family)
    assert found.mismatch <= (found.claimed is not None)


def test_every_kind_with_an_extension_is_claimed_by_it() -> None:
    for kind in Kind:
        if kind.value.isalnum() and kind not in (Kind.CODE, Kind.EXECUTABLE, Kind.UNKNOWN):
            assert claimed_kind(f"x.{kind.value.upper()}") is kind
