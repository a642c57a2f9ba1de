"""Zip packages (Office files and archives): opened within limits, written the same way every time."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from guildhall.errors import UnreadableFile, UnsafePath

MOST_MEMBERS = 10_000
MOST_BYTES = 400 << 20
"""Unpacked, all members together."""
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def read_members(source: Path | bytes, *, name: str = "", most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
    """All files of a zip by name, folders left out; refused when it is damaged, locked, hostile or too large.

    Sizes are counted while unpacking, not taken from the table of contents, which may lie.
    """
    label = name or (source.name if isinstance(source, Path) else "archive")
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            # Not `is_dir`, which stumbles over an entry without a name.
            entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
            if len(entries) > MOST_MEMBERS:
                raise UnreadableFile(label, f"holds {len(entries)} members, more than {MOST_MEMBERS}")
            members: dict[str, bytes] = {}
            left = most_bytes
            for entry in entries:
                _check_member(entry, members, label)
                members[entry.filename] = _unpack(archive, entry, left, label)
                left -= len(members[entry.filename])
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise UnreadableFile(label, f"is a damaged zip ({error})") from error
    return members


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
