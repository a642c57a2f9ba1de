"""Packages for the grading service, sound and hostile."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

Files = Mapping[str, bytes | str]


def package(files: Files) -> bytes:
    """A zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def linked(name: str, to: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, to)
    return out.getvalue()


def understated(name: str, size: int) -> bytes:
    """A zip whose directory says that a file of `size` zeros holds one byte."""
    whole = bytearray(package({name: bytes(size)}))
    directory = whole.rindex(b"PK\x01\x02")
    struct.pack_into("<L", whole, directory + 24, 1)
    return bytes(whole)


def crowded(count: int) -> bytes:
    """A zip whose directory claims far more entries than any parser should read."""
    entry = package({"a/b": ""})
    directory, end = entry.rindex(b"PK\x01\x02"), entry.rindex(b"PK\x05\x06")
    one = entry[directory:end]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(one) * count, directory, 0)
    return entry[:directory] + one * count + tail


GOOD = {
    "task-0/final_message.md": "The quarterly figures were checked against the ledger; the memo says what is wrong.",
    "task-0/memo.md": "# Memo\n\nThe totals were compared with the ledger; the quarterly figures agree.",
    "task-1/final_message.md": "Done.",
}
