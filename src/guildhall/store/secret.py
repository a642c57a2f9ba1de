"""The one secret of a workspace: kept outside the database, and every key that Guildhall needs is derived from it.

It lies in `guildhall.key` in the workspace's folder, or in the file that `GUILDHALL_KEY_FILE` names.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from guildhall.errors import UnreadableFile
from guildhall.store.blobs import sync_folder

KEY_FILE, OLD_KEY_FILE = "guildhall.key", "web.key"
"""Where the secret lies, and where earlier versions kept it: what they signed and sealed stays good."""
ELSEWHERE = "GUILDHALL_KEY_FILE"
_LEAST = 16
"""Bytes; what is shorter was cut short, and is not made anew: all that it sealed would be lost unnoticed."""


def open_secret(folder: Path, *, mark: str | None = None, make: bool = True) -> bytes:
    """The secret of the workspace in a folder; made, or taken over from an earlier version, where there is none yet.

    It appears under its name whole or not at all, and the first of two that make it at once has made it for both.
    Another than that of the `mark` is refused. Where there was one before, none is to be made: all that the old one
    sealed and drew would be lost unnoticed.
    """
    secret = read_secret(Path(named)) if (named := os.environ.get(ELSEWHERE)) else _in_folder(folder, make=make)
    if mark is not None and not hmac.compare_digest(mark_of(secret), mark):
        raise UnreadableFile(Path(named or folder / KEY_FILE), "is the secret of another workspace", fix=_FIX)
    return secret


def mark_of(secret: bytes) -> str:
    """By what a secret is known again; it tells nothing about it."""
    return derive(secret, "mark").hex()[:32]


def _in_folder(folder: Path, *, make: bool) -> bytes:
    path, old = folder / KEY_FILE, folder / OLD_KEY_FILE
    if make and not path.exists():
        try:
            taken_over = read_secret(old) if old.exists() else None
        except UnreadableFile:
            if not path.exists():
                raise
            taken_over = None  # another has just taken it over; what is offered now comes second
        _offer(path, taken_over or secrets.token_bytes(32))
        old.unlink(missing_ok=True)
    return read_secret(path)


def derive(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose; from the keys of others nothing can be told about it."""
    return hmac.digest(secret, f"guildhall {purpose}".encode(), "sha256")


def keep_secret(folder: Path, secret: bytes) -> None:
    """Put a secret in its place, unless it is kept elsewhere."""
    if not os.environ.get(ELSEWHERE):
        _offer(folder / KEY_FILE, secret)


def _offer(path: Path, secret: bytes) -> None:
    """Put a secret in its place unless one has come to be there meanwhile."""
    making = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(secret)
            out.flush()
            os.fsync(out.fileno())
        os.link(making, path)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        making.unlink()


_FIX = f"bring back the secret that the workspace was made with, or let {ELSEWHERE} name the file that holds it"


def read_secret(path: Path) -> bytes:
    """The secret in a file, or `UnreadableFile`."""
    try:
        secret = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(path, f"the workspace's secret cannot be read ({error.strerror})", fix=_FIX) from error
    if len(secret) < _LEAST:
        raise UnreadableFile(path, f"holds {len(secret)} bytes, which is no secret", fix=_FIX)
    return secret
