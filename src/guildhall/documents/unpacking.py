"""Packages from outside (zip): unpacked within limits, or refused with the reason (zip bombs, links, zip slip).

What an archive says about itself is not believed: its directory is measured before it is parsed, and what comes out of
it is counted while it is written.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from guildhall.domain.tasks import check_relative_name
from guildhall.errors import RefusedPackage

_END = struct.Struct("<4s4H2LH")
_END_MARK, _ZIP64_MARK = b"PK\x05\x06", b"PK\x06\x07"
_ZIP64_LOCATOR_BYTES = 20
_ENTRY_BYTES = 1200
"""A generous size for one entry of the directory: a long name and a few extra fields."""
_CHUNK = 1 << 16
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


@dataclass(frozen=True)
class UploadLimits:
    """How much may come out of one package. `in_folders`: every file lies in a folder, that of a task."""

    most_files: int
    most_bytes: int
    in_folders: bool = True


def unpack(package: IO[bytes], target: Path, room: UploadLimits) -> int:
    """Write the files of a zip into an empty folder; how many there were. `RefusedPackage` for anything unsafe."""
    _measure_directory(package, room)
    try:
        with zipfile.ZipFile(package) as archive:
            # Not `is_dir`, which stumbles over an entry without a name.
            files = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
            _check_entries(files, room)
            left = room.most_bytes
            for entry in files:
                left = _write(archive, entry, target / entry.filename, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise RefusedPackage("it is not a sound zip archive") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise RefusedPackage("a file and a folder in it share one name") from error
    return len(files)


def _measure_directory(package: IO[bytes], room: UploadLimits) -> None:
    """Refuse an archive whose directory alone would fill the memory: the parser reads all of it at once."""
    size = package.seek(0, os.SEEK_END)
    if size < _END.size:
        raise RefusedPackage("it is not a zip archive")
    tail = max(0, size - _END.size - _ZIP64_LOCATOR_BYTES)
    package.seek(tail)
    last = package.read()
    mark, _, _, _, _, directory_bytes, _, _ = _END.unpack(last[-_END.size :])
    if mark != _END_MARK:
        raise RefusedPackage("it is not a zip archive, or has something after its end")
    if last.startswith(_ZIP64_MARK):
        raise RefusedPackage("it is in the ZIP64 form")
    if directory_bytes > room.most_files * _ENTRY_BYTES:
        raise RefusedPackage(f"it holds more than {room.most_files:,} files")


def _check_entries(files: list[zipfile.ZipInfo], room: UploadLimits) -> None:
    if not files:
        raise RefusedPackage("it holds no file")
    if len(files) > room.most_files:
        raise RefusedPackage(f"it holds {len(files):,} files; at most {room.most_files:,} are taken")
    if sum(entry.file_size for entry in files) > room.most_bytes:
        raise RefusedPackage(f"it unpacks to more than {room.most_bytes:,} bytes")
    seen: set[str] = set()
    for entry in files:
        _check_entry(entry, in_folders=room.in_folders)
        if entry.filename.casefold() in seen:
            raise RefusedPackage(f"two files are called {entry.filename!r}")
        seen.add(entry.filename.casefold())


def _check_entry(entry: zipfile.ZipInfo, *, in_folders: bool) -> None:
    try:
        # `orig_filename`: what stands in the archive, before anything was cut or turned round.
        check_relative_name(entry.orig_filename)
    except ValueError as error:
        raise RefusedPackage(str(error)) from error
    if in_folders and "/" not in entry.filename:
        raise RefusedPackage(f"{entry.filename!r} lies in no task's folder")
    if entry.flag_bits & 0x1:
        raise RefusedPackage(f"{entry.filename!r} is encrypted")
    if entry.compress_type not in _METHODS:
        raise RefusedPackage(f"{entry.filename!r} is packed in an unusual way; use plain deflate")
    if (entry.external_attr >> 16) & 0o170000 == 0o120000:
        raise RefusedPackage(f"{entry.filename!r} is a link")


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int) -> int:
    """Unpack one file, counting; how many bytes the rest may have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, path.open("xb") as out:
        while chunk := packed.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise RefusedPackage("it unpacks to more than it says")
            out.write(chunk)
    return left
