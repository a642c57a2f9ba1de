"""Handing files into a room and taking what came out of it, trusting nothing that lies there."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from guildhall.errors import UnreadableFile

INPUT_BYTES = 512 << 20
"""A larger file is not looked at; saying so is better than filling the disk."""


def hand_in(file: Path, folder: Path) -> str:
    """Copy a file into a room's work folder; its path relative to the work folder.

    A copy, so that nobody inside can reach the original, whoever owns it and whatever its mode.
    """
    require_regular(file)
    folder.mkdir(exist_ok=True)
    try:
        shutil.copyfile(file, folder / file.name)
    except OSError as error:
        raise UnreadableFile(file, f"cannot be read ({error.strerror})") from error
    (folder / file.name).chmod(0o600)
    return f"{folder.name}/{file.name}"


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


def adopt(left: Path, out: Path) -> list[Path]:
    """Move the regular files of a room that has ended to `out`; links and special files are left behind.

    The files become the caller's own: a room run by root hands its folder to an unprivileged user.
    """
    moved = []
    for parent, folders, names in os.walk(left):
        folders[:] = [name for name in folders if not (Path(parent) / name).is_symlink()]
        target_folder = out / Path(parent).relative_to(left)
        for name in names:
            source = Path(parent) / name
            if not stat.S_ISREG(source.lstat().st_mode):
                continue
            target_folder.mkdir(parents=True, exist_ok=True)
            os.chown(source, os.geteuid(), os.getegid())
            source.chmod(0o644)
            moved.append(Path(shutil.move(source, target_folder / name)))
    return moved


def read_regular(path: Path, *, limit: int) -> bytes | None:
    """The content of a regular file a stranger left, or None when it is absent, a link, special or too large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
            return None
        return stream.read(limit)
