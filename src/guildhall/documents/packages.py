"""Zip packages (Office files, archives): what they say they hold, opened within limits, always written the same way."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from guildhall.errors import UnreadableFile, UnsafePath

MOST_MEMBERS = 10_000
MOST_BYTES = 400 << 20
"""Unpacked, all members together."""
_MOST_ENTRY_BYTES = 512
_TABLE_BYTES, _END_AT = 5, 9
"""Where `zipfile` keeps the length of the table, and where the record behind it begins."""
_ZIP64_ENDS_BYTES = 56 + 20
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def read_members(source: Path | bytes, *, name: str = "", most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
    """All files of a zip by name, folders left out; refused when it is damaged, locked, hostile or too large.

    Sizes are counted while unpacking, not taken from the table of contents, which may lie.
    """
    label = name or (source.name if isinstance(source, Path) else "archive")
    try:
        with opened(source, label) as archive:
            # Not `is_dir`, which stumbles over an entry without a name.
            entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
            members: dict[str, bytes] = {}
            left = most_bytes
            for entry in entries:
                _check_member(entry, members, label)
                members[entry.filename] = _unpack(archive, entry, left, label)
                left -= len(members[entry.filename])
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise UnreadableFile(label, f"is a damaged zip ({error})") from error
    return members


@contextmanager
def opened(source: Path | bytes, label: str) -> Iterator[zipfile.ZipFile]:
    """A zip to read from, its table of contents measured before it is parsed.

    The parser takes the table whole and makes an object of every entry: 96 MB of it were 10 s and 700 MB.
    """
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
        _measure(stream, label)
        with zipfile.ZipFile(stream) as archive:
            yield archive


def _measure(stream: IO[bytes], label: str) -> None:
    """Refuse a table of contents that is too long, found by the parser's own finder so that both see the same one."""
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]  # noqa: SLF001 - whatever else finds may differ
    if not end:
        return  # no zip: the parser says so, and why
    length, at = end[_TABLE_BYTES], end[_END_AT]
    if length > MOST_MEMBERS * _MOST_ENTRY_BYTES:
        raise UnreadableFile(label, f"has a table of contents of {length:,} bytes, as no sound zip has")
    stream.seek(max(0, at - length - _ZIP64_ENDS_BYTES))
    # Counted by their marks: a name that holds one counts twice, and takes a place from its own archive only.
    if stream.read(length + _ZIP64_ENDS_BYTES).count(_ENTRY) > MOST_MEMBERS:
        raise UnreadableFile(label, f"holds more than {MOST_MEMBERS} members")
    stream.seek(0)


def _check_member(entry: zipfile.ZipInfo, members: Mapping[str, bytes], label: str) -> None:
    name = entry.filename
    if not name:
        raise UnreadableFile(label, "holds a member without a name")
    if name.startswith(("/", "\\")) or "\0" in name or ".." in name.replace("\\", "/").split("/") or name[1:2] == ":":
        raise UnsafePath(name, f"a member of {label} that would leave its folder")
    if entry.flag_bits & 1:
        raise UnreadableFile(label, f"its member {name!r} is locked with a password")
    if entry.external_attr >> 16 & 0o170000 == 0o120000:
        raise UnsafePath(name, f"a member of {label} that is a link")
    if name in members:
        raise UnreadableFile(label, f"holds the member {name!r} twice")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int, label: str) -> bytes:
    with archive.open(entry) as stream:
        data = stream.read(left + 1)
    if len(data) > left:
        raise UnreadableFile(label, "unpacks to more than the limit allows")
    return data


def write_members(
    members: Mapping[str, bytes], *, first: tuple[str, ...] = (), stored: frozenset[str] = frozenset()
) -> bytes:
    """A zip whose bytes depend on names and contents alone: fixed times, order, attributes and compression."""
    out = io.BytesIO()
    order = [name for name in first if name in members]
    order += sorted(name for name in members if name not in first)
    with zipfile.ZipFile(out, "w") as archive:
        for name in order:
            entry = zipfile.ZipInfo(name, date_time=_FIXED_TIME)
            entry.create_system, entry.external_attr = 0, 0
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, members[name], compress_type=method, compresslevel=6)
    return out.getvalue()


_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_ENTRY, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"
_ENTRY_BYTES, _LOCAL_BYTES = 46, 30


@dataclass(frozen=True)
class ZipEntry:
    """One member by its name and by the size it claims to have unpacked."""

    name: str
    unpacked: int


def entries(head: bytes, tail: bytes) -> tuple[ZipEntry, ...]:
    """The zip's own members, never those of a zip inside it.

    They come from the table at the end; where that is cut off or begins before the tail, from the heads of the
    members at the start.
    """
    start = _table_start(tail)
    return tuple(_listed(tail, start) if start is not None else _met(head))


def _table_start(tail: bytes) -> int | None:
    """Where in the tail the table begins: it ends where the end record begins."""
    end = tail.rfind(_END)
    if end < 0:
        return None
    length = _number(tail, end + 12, 4)
    end_64 = tail.rfind(_END_64, 0, end)
    if length == 0xFFFFFFFF and end_64 >= 0:
        end, length = end_64, _number(tail, end_64 + 40, 8)
    start = end - length
    return start if start >= 0 and tail[start : start + 4] in (_ENTRY, _END, _END_64) else None


def _listed(tail: bytes, at: int) -> Iterator[ZipEntry]:
    while tail[at : at + 4] == _ENTRY:
        name, extra, comment = (_number(tail, at + place, 2) for place in (28, 30, 32))
        yield ZipEntry(_text(tail, at + _ENTRY_BYTES, name), _number(tail, at + 24, 4))
        at += _ENTRY_BYTES + name + extra + comment


def _met(head: bytes) -> Iterator[ZipEntry]:
    at = 0
    while head[at : at + 4] == _LOCAL:
        packed, unpacked = _number(head, at + 18, 4), _number(head, at + 22, 4)
        name, extra = _number(head, at + 26, 2), _number(head, at + 28, 2)
        yield ZipEntry(_text(head, at + _LOCAL_BYTES, name), unpacked)
        at += _LOCAL_BYTES + name + extra + packed
        if not packed:  # a member written as a stream states its size only behind itself
            _, found, rest = head[at:].partition(_LOCAL)
            at = len(head) - len(found) - len(rest)


def _number(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "little")


def _text(data: bytes, at: int, length: int) -> str:
    return data[at : at + length].decode("utf-8", "replace")
