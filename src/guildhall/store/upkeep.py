"""What an administrator should know of a workspace's folder, beyond whether everything in it is whole."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.engine import make_url

from guildhall.store.backup import OWN_FILES
from guildhall.store.workspace import SETTINGS, Workspace

LEAST_FREE = 0.1
"""Below this share of free space a nightly backup may be the one that fills the disk."""


def upkeep(workspace: Workspace) -> list[str]:
    """Notes on secrets that lie open and space that runs out; none where all is well."""
    return [*_open_files(workspace.path), *_password(workspace), *_space(workspace.path)]


def _open_files(folder: Path) -> Iterator[str]:
    for name in (SETTINGS, *OWN_FILES):
        file = folder / name
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
            yield f"{file} can be read by others on this machine: chmod 600 {file}"


def _password(workspace: Workspace) -> Iterator[str]:
    if make_url(workspace.url).password:
        yield f"the password of the database is in {SETTINGS}; leave it out there and set PGPASSWORD for the services"


def _space(folder: Path) -> Iterator[str]:
    disk = shutil.disk_usage(folder)
    if disk.free < LEAST_FREE * disk.total:
        yield f"{disk.free / 1e9:.1f} GB are free on the disk of {folder}, less than a tenth of it"
