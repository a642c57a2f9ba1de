"""Bringing a workspace back from a backup: verified first, made beside its place, and put there when it is whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import tomlkit

from guildhall.errors import InputError
from guildhall.store.backup import BLOB, OWN_FILES, SETTING, Backup, backup_parts, check_backup
from guildhall.store.blobs import Blobs, sync_folder
from guildhall.store.remote_blobs import open_blobs
from guildhall.store.snapshots import fill_postgres, fill_sqlite
from guildhall.store.workspace import SETTINGS, Workspace


def restore_backup(source: Path, target: Path, *, database: str | None = None, blobs: str | None = None) -> Workspace:
    """Make a new workspace from a backup. A backup of one kind of database goes back to that kind.

    Nothing that is there is overwritten, and a restore that was cut short leaves no workspace behind.
    """
    held = check_backup(source)
    making = target.with_name(f"{target.name}.restoring")
    _refuse(held, target, making, database=database, blobs=blobs)
    making.mkdir(parents=True, mode=0o700)
    try:
        if database is None:
            fill_sqlite(backup_parts(source), making)
        else:
            fill_postgres(backup_parts(source), database, held)
        _fill_folder(source, making, open_blobs(blobs, making / "blobs"), held)
        Workspace.create(making, database=database, blobs=blobs).close()
        _add_settings(source, making / SETTINGS)
        making.rename(target)
        sync_folder(target.resolve().parent)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return Workspace.open(target)


def _refuse(held: Backup, target: Path, making: Path, *, database: str | None, blobs: str | None) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} holds something already; restore into a new folder")
    if making.exists():
        raise InputError(f"{making} was left by a restore that was cut short, or one is at work; remove it if not")
    if held.database == "postgresql" and database is None:
        raise InputError("this is a backup of a postgresql database; name an empty one with --database")
    if held.database == "sqlite" and database is not None:
        raise InputError("this is a backup of a sqlite database; restore it without --database")
    if not held.with_files and blobs is None:
        raise InputError("this backup was made without files; name the store that holds them with --blobs")


def _fill_folder(source: Path, folder: Path, blobs: Blobs, held: Backup) -> None:
    for name, body in backup_parts(source):
        if name.startswith(BLOB) and name.removeprefix(BLOB) not in held.damaged:
            blobs.put(body)
        elif name.removeprefix(SETTING) in OWN_FILES:
            descriptor = os.open(folder / name.removeprefix(SETTING), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                shutil.copyfileobj(body, out)


def _add_settings(source: Path, settings: Path) -> None:
    """What the old workspace was told beside its addresses, added to the new addresses."""
    kept = next(body.read() for name, body in backup_parts(source) if name == SETTING + SETTINGS)
    document = tomlkit.parse(settings.read_text(encoding="utf-8"))
    document.update(tomlkit.parse(kept.decode()))
    settings.write_text(tomlkit.dumps(document), encoding="utf-8")  # its mode stays: for its owner only
