"""Backups: everything a workspace holds at one moment, taken while people work in it, as one archive.

A bundle carries records from one workspace to another; a backup brings back the workspace itself, with people, places,
drafts, sessions and the key of its web app. It is a secret like the workspace it came from. The database is read in one
snapshot and the files after it: a file is always kept before the record that names it, so no record lacks its file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from guildhall.domain.values import Digest, canonical_json
from guildhall.errors import CorruptBackup, InputError
from guildhall.store import tables
from guildhall.store.archive import ArchiveWriter, Member, members
from guildhall.store.blobs import Blobs
from guildhall.store.database import open_database, revision_of, shown_url, upgrade
from guildhall.store.workspace import SETTINGS, Workspace

FORMAT = 1
MANIFEST = "manifest.json"
SQLITE = "database/guildhall.sqlite"
OWN_FILES = ("web.key",)
"""Small files of the workspace folder without which parts of the database are of no use."""
_CHUNK = 1 << 20


@dataclass
class Backup:
    """What a backup holds: its schema, the kind of database it came from, and the digest of every part.

    `columns` names the columns of each table that was copied, as they were then.
    """

    schema: str | None = None
    database: str = ""
    columns: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[str, Digest] = field(default_factory=dict)

    @property
    def files(self) -> int:
        return sum(name.startswith("blobs/") for name in self.parts)

    def manifest(self) -> bytes:
        return canonical_json({"format": FORMAT, **vars(self)})


def take_backup(workspace: Workspace, target: Path, *, files: bool = True) -> Backup:
    """Write a backup while the workspace is in use; it appears under its name only when it is complete."""
    made = Backup(workspace.store.revision(), workspace.store.engine.dialect.name)
    part = target.with_name(target.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out, tempfile.TemporaryDirectory(dir=target.parent) as folder:
            archive = ArchiveWriter(out)
            for name, file in _snapshot(workspace, Path(folder), made):
                _add(archive, made, name, file)
            for name in OWN_FILES:
                if (workspace.path / name).exists():
                    _add(archive, made, f"settings/{name}", workspace.path / name)
            for digest in workspace.blobs.each() if files else ():
                _add(archive, made, f"blobs/{digest}", workspace.blobs.path(digest))
            archive.add(MANIFEST, iter([made.manifest()]), size=len(made.manifest()))
            archive.finish()
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return made


def _add(archive: ArchiveWriter, made: Backup, name: str, file: Path) -> None:
    seen = hashlib.sha256()

    def chunks(stream: IO[bytes]) -> Iterator[bytes]:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
            yield chunk

    with file.open("rb") as stream:
        archive.add(name, chunks(stream), size=file.stat().st_size)
    made.parts[name] = seen.hexdigest()


def _snapshot(workspace: Workspace, folder: Path, made: Backup) -> Iterator[tuple[str, Path]]:
    """The database at one moment, as files: SQLite by its own backup, PostgreSQL as one COPY a table."""
    if workspace.store.engine.dialect.name == "sqlite":
        copy = folder / "guildhall.sqlite"
        place = str(workspace.store.engine.url.database)
        with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        yield SQLITE, copy
        return
    connection: Any = workspace.store.engine.raw_connection()
    with closing(connection), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # A table comes after those it refers to, so that they are filled before it when they are read back.
        for table in tables.metadata.sorted_tables:
            file = folder / table.name
            made.columns[table.name] = [column.name for column in table.columns]
            with file.open("wb") as out, cursor.copy(f"COPY {_columns(made, table.name)} TO STDOUT") as rows:
                for row in rows:
                    out.write(row)
            yield f"database/{table.name}.copy", file
            file.unlink()


def _columns(held: Backup, table: str) -> str:
    return f'"{table}" (' + ", ".join(f'"{name}"' for name in held.columns[table]) + ")"


def check_backup(source: Path) -> Backup:
    """Read a whole backup and verify every byte of it; changes nothing."""
    found: dict[str, Digest] = {}
    manifest: dict[str, Any] = {}
    with source.open("rb") as stream:
        for name, body in members(source, stream):
            if name == MANIFEST:
                manifest = json.loads(body.read())
                continue
            seen = hashlib.sha256()
            for chunk in body.chunks():
                seen.update(chunk)
            found[name] = seen.hexdigest()
    if manifest.get("parts") != found or not set(manifest["columns"]) <= set(tables.metadata.tables):
        raise CorruptBackup(source, "its parts are not what its manifest says")
    return Backup(manifest["schema"], manifest["database"], manifest["columns"], found)


def restore_backup(source: Path, target: Path, *, database: str | None = None, blobs: str | None = None) -> Workspace:
    """Make a new workspace from a backup, verified first. A backup of one kind of database goes back to that kind."""
    held = check_backup(source)
    if (target / SETTINGS).exists():
        raise InputError(f"{target} holds a workspace already; restore into a new folder")
    if (held.database == "postgresql") != bool(database):
        raise InputError(
            f"this is a backup of a {held.database} database; "
            + (
                "name an empty one with --database"
                if held.database == "postgresql"
                else "restore it without --database"
            )
        )
    target.mkdir(parents=True, exist_ok=True)
    if database is None:
        _restore_sqlite(source, target)
    else:
        _restore_postgres(source, database, held)
    with Workspace.create(target, database=database, blobs=blobs) as workspace:
        _restore_files(source, target, workspace.blobs)
    return Workspace.open(target)


def _restore_sqlite(source: Path, target: Path) -> None:
    for name, body in _parts(source):
        if name == SQLITE:
            with (target / "guildhall.sqlite").open("xb") as out:
                shutil.copyfileobj(body, out, _CHUNK)


def _restore_postgres(source: Path, url: str, held: Backup) -> None:
    """Fill an empty database at the schema of the backup; opening the workspace brings it up to date."""
    engine = open_database(url)
    try:
        if revision_of(engine) is not None:
            raise InputError(f"{shown_url(url)} is not empty; restore into a new database")
        upgrade(engine, held.schema or "head")
        connection: Any = engine.raw_connection()
        with closing(connection), connection.cursor() as cursor:
            for name, body in _parts(source):
                if name.startswith("database/"):
                    _copy_in(cursor, held, Path(name).stem, body)
            connection.commit()
    finally:
        engine.dispose()


def _copy_in(cursor: Any, held: Backup, table: str, body: Member) -> None:
    with cursor.copy(f"COPY {_columns(held, table)} FROM STDIN") as rows:
        for chunk in body.chunks():
            rows.write(chunk)
    if "seq" in held.columns[table]:
        newest = f'(SELECT coalesce(max(seq), 0) + 1 FROM "{table}")'  # noqa: S608 - a name of our own schema
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'seq'), {newest}, false)")


def _restore_files(source: Path, target: Path, blobs: Blobs) -> None:
    for name, body in _parts(source):
        if name.startswith("blobs/"):
            blobs.put(body)
        elif name.removeprefix("settings/") in OWN_FILES:
            descriptor = os.open(target / name.removeprefix("settings/"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                shutil.copyfileobj(body, out)


def _parts(source: Path) -> Iterator[tuple[str, Member]]:
    with source.open("rb") as stream:
        yield from members(source, stream)
