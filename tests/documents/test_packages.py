"""Zip packages are measured before they are parsed."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from guildhall.documents.packages import MOST_MEMBERS, read_members
from guildhall.documents.render.pdf_pages import linked_resources, wanted_fonts
from guildhall.errors import UnreadableFile

ENTRY = b"PK\x01\x02" + bytes(42)


def end(entries: int, length: int, at: int) -> bytes:
    return b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, min(entries, 65535), min(entries, 65535), length, at, 0)


def end_64(entries: int, length: int, at: int) -> bytes:
    record = b"PK\x06\x06" + struct.pack("<Q2H2L4Q", 44, 45, 45, 0, 0, entries, entries, length, at)
    return record + b"PK\x06\x07" + struct.pack("<LQL", 0, at + length, 1) + end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


def hostile() -> dict[str, bytes]:
    many = ENTRY * (MOST_MEMBERS + 1)
    long = ENTRY[:30] + struct.pack("<H", 65535) + ENTRY[32:] + bytes(65535)
    return {
        "entries": many + end(1, len(many), 0),
        "entries behind other bytes": b"x" * 5000 + many + end(1, len(many), 7),
        "entries in zip64": many + end_64(1, len(many), 0),
        "long extra fields": long * 100 + end(100, len(long) * 100, 0),
        "a comment behind": many + end(1, len(many), 0)[:-2] + struct.pack("<H", 9) + b"a comment",
    }


@pytest.mark.parametrize("name", hostile())
def test_a_hostile_table_of_contents_is_refused_before_any_entry_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(*_: object) -> None:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(zipfile.ZipFile, "__init__", parsed)
    path = tmp_path / "hostile.docx"
    path.write_bytes(hostile()[name])
    for source in (path, path.read_bytes()):
        with pytest.raises(UnreadableFile, match=r"members|table of contents"):
            read_members(source)
    for look in (wanted_fonts, linked_resources):
        with pytest.raises(UnreadableFile):
            look(path)


@pytest.mark.parametrize("lead", [b"", b"#!/bin/sh\n" * 99])
def test_as_many_members_as_are_allowed_are_read(lead: bytes) -> None:
    made = io.BytesIO(lead)
    made.seek(0, io.SEEK_END)
    with zipfile.ZipFile(made, "a") as archive:
        for number in range(MOST_MEMBERS):
            archive.writestr(f"{number}", b"")
        archive.comment = b"PK\x01\x02 is only a remark here"
    assert len(read_members(made.getvalue())) == MOST_MEMBERS
