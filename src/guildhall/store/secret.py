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


def open_secret(folder: Path) -> bytes:
    """The secret of the workspace in a folder; made, or taken over from an earlier version, where there is none yet.

    It appears under its name whole or not at all, and the first of two that make it at once has made it for both.
    """
    if named := os.environ.get(ELSEWHERE):
        return _read(Path(named))
    path, old = folder / KEY_FILE, folder / OLD_KEY_FILE
    if not path.exists():
        try:
            taken_over = _read(old) if old.exists() else None
        except UnreadableFile:
            if not path.exists():
                raise
            taken_over = None  # another has just taken it over; what is offered now comes second
        _offer(path, taken_over or secrets.token_bytes(32))
        old.unlink(missing_ok=True)
    return _read(path)


def derive(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose; from the keys of others nothing can be told about it."""
    return hmac.digest(secret, f"guildhall {purpose}".encode(), "sha256")


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


def _read(path: Path) -> bytes:
    fix = f"bring back the secret that the workspace was made with, or let {ELSEWHERE} name the file that holds it"
    try:
        secret = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(path, f"the workspace's secret cannot be read ({error.strerror})", fix=fix) from error
    if len(secret) < _LEAST:
        raise UnreadableFile(path, f"holds {len(secret)} bytes, which is no secret", fix=fix)
    return secret
