"""A search of every byte for names: as they stand, in UTF-16, and inside whatever is packed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guildhall.documents.packages import read_members
from guildhall.errors import UnreadableFile, UnsafePath

LEAST_LENGTH = 3
"""Shorter names are in every file, and tell nobody."""
_DEEPEST = 6
_MOST_UNPACKED = 400 << 20


def names_in(data: bytes, names: Iterable[str]) -> list[str]:
    """Which of the names are in these bytes, whatever their case, or in what is packed in them."""
    wanted = sorted({name.strip() for name in names if len(name.strip()) >= LEAST_LENGTH})
    found: set[str] = set()
    for part in _unpacked(data, 0):
        lowered = part.lower()
        found |= {name for name in wanted if any(form in lowered for form in _forms(name))}
    return sorted(found)


def names_below(folder: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """File -> the names found in its bytes or in its path, for every file below a folder that holds any."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder).as_posix()
        hits = {*names_in(path.read_bytes(), names), *names_in(relative.encode(), names)}
        if hits:
            found[relative] = sorted(hits)
    return found


def _forms(name: str) -> Iterator[bytes]:
    lowered = name.lower()
    yield from {lowered.encode(encoding, "ignore") for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1")}


def _unpacked(data: bytes, depth: int) -> Iterator[bytes]:
    yield data
    if depth >= _DEEPEST:
        return
    try:
        if data.startswith(b"PK"):
            for name, inner in read_members(data).items():
                yield name.encode()
                yield from _unpacked(inner, depth + 1)
        elif data.startswith(b"\x1f\x8b"):
            yield from _unpacked(gzip.decompress(data)[:_MOST_UNPACKED], depth + 1)
    except (UnreadableFile, UnsafePath, OSError, EOFError, zlib.error):
        return  # what cannot be unpacked was searched as it stands
