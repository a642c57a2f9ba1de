"""Files on their way into a room and out of it, trusting nothing that comes out."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from guildhall.confine.room import Room
from guildhall.errors import UnreadableFile

INPUT_BYTES = 512 << 20
"""A larger file is not looked at; saying so is better than filling the disk."""

TRANSFER_S = 60.0
"""Copying is our work, not the parser's, and has a limit of its own."""


def hand_in(room: Room, file: Path, folder: str) -> str:
    """Copy a file into a room, as the room's own user; its path there, relative to the work folder's job.

    A copy, so that nobody inside can reach the original; through the room, because whoever lives there may have
    put a link where we would write.
    """
    require_regular(file)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UnreadableFile(file, f"cannot be read ({error.strerror})") from error
    room.write_file(f"{folder}/{file.name}", content, wall_s=TRANSFER_S)
    return file.name


def take_out(room: Room, folder: str, names: list[str], out: Path, *, limit_bytes: int) -> None:
    """Copy files from a room to `out`; names that would leave it are refused."""
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/"):
            raise UnreadableFile(name, "was named by a parser although it lies outside its folder")
        target = out.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(room.read_file(f"{folder}/{name}", limit_bytes=limit_bytes, wall_s=TRANSFER_S))


def require_regular(file: Path) -> int:
    """The size of a regular file that is not too large; anything else is refused."""
    try:
        facts = file.stat()
    except OSError as error:
        raise UnreadableFile(file, f"cannot be opened ({error.strerror})") from error
    except ValueError as error:
        raise UnreadableFile(file, "has an impossible name") from error
    if not stat.S_ISREG(facts.st_mode):
        raise UnreadableFile(file, "is not a regular file")
    if facts.st_size > INPUT_BYTES:
        raise UnreadableFile(file, f"is larger than {INPUT_BYTES >> 20} MiB", fix="split it")
    return facts.st_size
