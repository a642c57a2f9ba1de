"""Backups: everything a workspace holds at one moment, taken while people work in it, as one archive.

A bundle carries records from one workspace to another; a backup brings back the workspace itself, with people,
places, drafts and sessions. The workspace's secret is not in it: what is sealed stays sealed to whoever gets a backup,
and the orders of sides that are still to be drawn cannot be told. Who restores one brings the secret, and goes on in
the same orders.
The database is read in one snapshot and the files after it: a file is always kept before the record that names it, so
no record lacks its file; one that does is told by name, and there is no backup unless one without it is asked for.

Left out: where the database and the files lived (the URL may hold a password), passwords in files of their own, logs,
caches and reports.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import tomlkit

from guildhall.domain.values import Digest, canonical_json, sha256
from guildhall.errors import CorruptBackup, CorruptBlob, CorruptBundle, FileLacking, InputError, StoreError
from guildhall.store import tables
from guildhall.store.archive import ArchiveMember, ArchiveWriter, members
from guildhall.store.blobs import Blobs, sync_folder
from guildhall.store.bundles import referenced
from guildhall.store.database import naming_faults, open_database, revision_of, shown_url, upgrade
from guildhall.store.figures import WHOLE_BACKUP
from guildhall.store.records import Store
from guildhall.store.remote_blobs import open_blobs
from guildhall.store.sealing import forget_what_is_sealed
from guildhall.store.secret import ELSEWHERE, KEY_FILE, OLD_KEY_FILE, keep_secret, mark_of, read_secret
from guildhall.store.workspace import MARK, SETTINGS, Workspace

PREFIX = "database/"
SQLITE = f"{PREFIX}guildhall.sqlite"
_CHUNK = 1 << 20


@dataclass
class Snapshot:
    """What was read: its schema, the kind of database, and each table's columns and number of rows as they were."""

    schema: str | None = None
    database: str = ""
    columns: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


def take_snapshot(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    """The name and content of each part, one at a time; a part's file is gone when the next is asked for."""
    taken.schema, taken.database = store.revision(), store.engine.dialect.name
    parts = _from_sqlite if taken.database == "sqlite" else _from_postgres
    for name, file in parts(store, folder, taken):
        yield name, file
        file.unlink()


def _from_sqlite(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    copy = folder / "guildhall.sqlite"
    with closing(sqlite3.connect(str(store.engine.url.database))) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)  # in one step: writers go on in the log beside, and none of what they do gets in
        for table in tables.metadata.sorted_tables:
            counted = f'SELECT count(*) FROM "{table.name}"'  # noqa: S608 - a name of our own schema
            taken.rows[table.name] = target.execute(counted).fetchone()[0]
            taken.columns[table.name] = [column.name for column in table.columns]
    yield SQLITE, copy


def _from_postgres(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    connection: Any = store.engine.raw_connection()
    with naming_faults(store.engine), closing(connection), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # A table comes after those it refers to, so that they are filled before it when they are read back.
        for table in tables.metadata.sorted_tables:
            file = folder / table.name
            taken.columns[table.name] = [column.name for column in table.columns]
            with file.open("wb") as out, cursor.copy(f"COPY {_columns(taken, table.name)} TO STDOUT") as rows:
                for row in rows:
                    out.write(row)
            taken.rows[table.name] = cursor.rowcount
            yield f"{PREFIX}{table.name}.copy", file


def _columns(taken: Snapshot, table: str) -> str:
    return f'"{table}" (' + ", ".join(f'"{name}"' for name in taken.columns[table]) + ")"


def fill_sqlite(parts: Iterable[tuple[str, ArchiveMember]], folder: Path) -> None:
    """Put the copy of a SQLite database where a workspace's folder keeps it."""
    for name, body in parts:
        if name == SQLITE:
            with (folder / "guildhall.sqlite").open("xb") as out:
                shutil.copyfileobj(body, out, _CHUNK)


def fill_postgres(parts: Iterable[tuple[str, ArchiveMember]], url: str, taken: Snapshot) -> None:
    """Fill an empty database at the schema of the snapshot, all tables or none."""
    engine = open_database(url)
    try:
        if revision_of(engine) is not None:
            raise InputError(f"{shown_url(url)} is not empty; restore into a new database")
        upgrade(engine, taken.schema or "head")
        connection: Any = engine.raw_connection()
        with naming_faults(engine), closing(connection), connection.cursor() as cursor:
            for name, body in parts:
                if name.startswith(PREFIX):
                    _copy_in(cursor, taken, Path(name).stem, body)
            connection.commit()
    finally:
        engine.dispose()


def _copy_in(cursor: Any, taken: Snapshot, table: str, body: ArchiveMember) -> None:
    with cursor.copy(f"COPY {_columns(taken, table)} FROM STDIN") as rows:
        for chunk in body.chunks():
            rows.write(chunk)
    if cursor.rowcount != taken.rows[table]:
        raise StoreError(f"{table} took in {cursor.rowcount} rows of {taken.rows[table]}; nothing was restored")
    for numbered in {"seq", "code"} & {*taken.columns[table]}:
        newest = f'(SELECT coalesce(max("{numbered}"), 0) + 1 FROM "{table}")'  # noqa: S608 - names of our own schema
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{numbered}'), {newest}, false)")


FORMAT = 3
_READABLE = (2, 3)
"""Those of the second format hold the workspace's secret."""
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
BLOB, SETTING, REFERENCES = "blobs/", "settings/", "references.txt"
OWN_FILES = (KEY_FILE, OLD_KEY_FILE)
"""Where a workspace's secret lies in its folder."""
ADDRESSES = ("format", "database", "blobs")
"""Settings that say where a workspace lives; a restored one lives elsewhere and says so itself."""


@dataclass
class Backup(Snapshot):
    """What a backup holds: the snapshot of the database, the digest of every part, and how many files.

    `damaged` names files that no longer matched their digest when the backup was taken; they are not brought back.
    `missing` names files that records name and that were not to be had.
    """

    made_at: float = 0.0
    parts: dict[str, Digest] = field(default_factory=dict)
    with_files: bool = True
    files: int = 0
    files_digest: Digest = ""
    damaged: list[Digest] = field(default_factory=list)
    missing: list[Digest] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return not self.damaged and not self.missing

    def count(self, file: Digest) -> None:
        self.files += 1
        self.files_digest = sha256(f"{self.files_digest} {file}".encode())

    def manifest(self) -> bytes:
        return canonical_json({"format": FORMAT, **vars(self)})


def take_backup(workspace: Workspace, target: Path, *, now: float, files: bool = True, lacking: bool = False) -> Backup:
    """Write a backup while the workspace is in use; it appears under its name only when it is complete.

    A file that a record names and that is not kept is refused by its name, unless `lacking` asks for what there is.
    """
    if target.exists():
        raise InputError(f"{target} is there already; give the backup a name of its own")
    made = Backup(made_at=now, with_files=files)
    with _unfinished(target) as (out, folder):
        archive = ArchiveWriter(out)
        for name, file in take_snapshot(workspace.store, folder, made):
            _add(archive, made, name, file)
        settings = folder / SETTINGS
        settings.write_text(settings_to_keep(workspace.path / SETTINGS))
        _add(archive, made, SETTING + SETTINGS, settings)
        if files:
            named = referenced(workspace.store)
            names = folder / REFERENCES
            names.write_text("".join(f"{digest}\n" for digest in sorted(named)))
            _add(archive, made, REFERENCES, names)
            for digest in workspace.blobs.each():
                named.pop(digest, None)
                _add_file(archive, made, workspace.blobs, digest)
            made.missing = sorted(digest for digest in named if not workspace.blobs.has(digest))
            if made.missing and not lacking:
                raise FileLacking(made.missing[0], named[made.missing[0]], more=len(made.missing) - 1)
        for name, body in ((MANIFEST, made.manifest()), (SEAL, sha256(made.manifest()).encode())):
            archive.add(name, iter([body]), size=len(body))
        archive.finish()
    if made.whole:
        workspace.store.state(WHOLE_BACKUP, str(now))
    return made


@contextmanager
def _unfinished(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file that gets its name at the end only, and a folder that is gone by then; both for their owner alone."""
    part, folder = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.d")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        try:
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another process is writing {target}; wait for it, or choose another name") from None
        out.truncate()
        try:
            shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
            folder.mkdir(mode=0o700)
            yield out, folder
            out.flush()
            os.fsync(out.fileno())
            part.rename(target)
            sync_folder(target.resolve().parent)
        except OSError as error:
            raise StoreError(f"{target} was not written: {error.strerror}; no backup was made") from error
        finally:
            part.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)


def _add(archive: ArchiveWriter, made: Backup, name: str, file: Path) -> None:
    made.parts[name] = _copy(archive, name, file)


def _add_file(archive: ArchiveWriter, made: Backup, blobs: Blobs, digest: Digest) -> None:
    """A file that is damaged is told, and does not keep the rest from being saved."""
    try:
        if _copy(archive, BLOB + digest, blobs.path(digest)) != digest:
            made.damaged.append(digest)
    except CorruptBlob:
        made.damaged.append(digest)
    else:
        made.count(digest)


def _copy(archive: ArchiveWriter, name: str, file: Path) -> Digest:
    seen = hashlib.sha256()

    def chunks(stream: IO[bytes]) -> Iterator[bytes]:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
            yield chunk

    with file.open("rb") as stream:
        archive.add(name, chunks(stream), size=file.stat().st_size)
    return seen.hexdigest()


def settings_to_keep(settings: Path) -> str:
    """The settings of a workspace without its addresses."""
    found = tomlkit.parse(settings.read_text(encoding="utf-8"))
    for name in ADDRESSES:
        found.pop(name, None)
    return tomlkit.dumps(found)


def check_backup(source: Path) -> Backup:
    """Read a whole backup and verify every byte of it; changes nothing."""
    try:
        return _checked(source)
    except CorruptBundle as damage:
        raise CorruptBackup(source, f"{damage.member} {damage.why}") from damage
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror}") from error


def _checked(source: Path) -> Backup:
    parts: dict[str, Digest] = {}
    files, small = Backup(), {MANIFEST: b"", SEAL: b""}
    named: set[str] = set()
    for name, body in backup_parts(source):
        if name in small:
            small[name] = body.read()
            continue
        seen, said = hashlib.sha256(), bytearray()
        for chunk in body.chunks():
            seen.update(chunk)
            if name == REFERENCES:
                said += chunk
        named.update(said.decode().split())
        named.discard(name.removeprefix(BLOB))
        if not name.startswith(BLOB):
            parts[name] = seen.hexdigest()
            continue
        files.count(name.removeprefix(BLOB))
        if seen.hexdigest() != name.removeprefix(BLOB):
            files.damaged.append(name.removeprefix(BLOB))
    held = _manifest(source, small[MANIFEST], small[SEAL])
    _compare(source, held, parts, files)
    if lost := sorted(named - {*held.missing}):
        raise CorruptBackup(source, f"{BLOB}{lost[0]} is named by a record of it and is not in it")
    return held


def _manifest(source: Path, manifest: bytes, seal: bytes) -> Backup:
    if not manifest or sha256(manifest).encode() != seal:
        raise CorruptBackup(source, f"{MANIFEST} is missing or changed")
    found: dict[str, Any] = json.loads(manifest)
    # What was added since the first of these formats may be absent.
    fields, added = {*vars(Backup())}, {"missing"}
    if found.pop("format", None) not in _READABLE or not fields - added <= {*found} <= fields:
        raise CorruptBackup(source, "it was written by a version of Guildhall that this one cannot read")
    return Backup(**found)


def _compare(source: Path, held: Backup, parts: dict[str, Digest], files: Backup) -> None:
    """The first part that is not what the manifest says, by its name."""
    for name in sorted({*held.parts, *parts}):
        if held.parts.get(name) != parts.get(name):
            raise CorruptBackup(source, f"{name} is {'damaged' if name in parts else 'missing'}")
    for digest in files.damaged:
        if digest not in held.damaged:
            raise CorruptBackup(source, f"{BLOB}{digest} is damaged")
    if (held.files, held.files_digest) != (files.files, files.files_digest):
        raise CorruptBackup(source, f"it holds {files.files} files, other ones than the {held.files} it lists")
    if not set(held.columns) <= set(tables.metadata.tables):
        raise CorruptBackup(source, "it holds tables that this version of Guildhall does not know")


def backup_parts(source: Path) -> Iterator[tuple[str, ArchiveMember]]:
    """Each part's name and body, in order."""
    with source.open("rb") as stream:
        yield from members(source, stream)


def restore_backup(
    source: Path,
    target: Path,
    *,
    database: str | None = None,
    blobs: str | None = None,
    key: Path | None = None,
    new_key: bool = False,
) -> Workspace:
    """Make a new workspace from a backup. A backup of one kind of database goes back to that kind.

    `key` is the file that holds the workspace's secret; with `new_key` it is lost, and with it all that it sealed.
    Nothing that is there is overwritten, and a restore that was cut short leaves no workspace behind.
    """
    held = check_backup(source)
    making = target.with_name(f"{target.name}.restoring")
    _refuse(held, target, making, database=database, blobs=blobs)
    secret, settings = None if new_key else _secret_for(source, held, key), _settings_in(source)
    if new_key:
        settings.pop(MARK, None)
    making.mkdir(parents=True, mode=0o700)
    try:
        if database is None:
            fill_sqlite(backup_parts(source), making)
        else:
            fill_postgres(backup_parts(source), database, held)
        _fill_folder(source, open_blobs(blobs, making / "blobs"), held)
        if secret is not None:
            keep_secret(making, secret)
        with Workspace.create(making, database=database, blobs=blobs) as made:
            if new_key:
                forget_what_is_sealed(made.store)
        _add_settings(settings, making / SETTINGS)
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


def _secret_for(source: Path, held: Backup, key: Path | None) -> bytes | None:
    """The secret that belongs to a backup; None where the backup comes from before workspaces had one."""
    own = [SETTING + name for name in OWN_FILES if SETTING + name in held.parts]
    if own:
        return next(body.read() for name, body in backup_parts(source) if name == own[0])
    mark = _settings_in(source).get(MARK)
    named = key or (Path(elsewhere) if (elsewhere := os.environ.get(ELSEWHERE)) else None)
    if named is None and mark is None:
        return None
    if named is None:
        raise InputError(
            "this backup does not hold the workspace's secret; name the file that does (guildhall.key of the workspace "
            "it was made from) with --key-file, or go on without what the secret sealed with --new-key"
        )
    secret = read_secret(named)
    if mark is not None and mark_of(secret) != mark:
        raise InputError(f"{named} holds the secret of another workspace than this backup is of")
    return secret


def _fill_folder(source: Path, blobs: Blobs, held: Backup) -> None:
    for name, body in backup_parts(source):
        if name.startswith(BLOB) and name.removeprefix(BLOB) not in held.damaged:
            blobs.put(body)


def _settings_in(source: Path) -> tomlkit.TOMLDocument:
    return tomlkit.parse(
        next(body.read() for name, body in backup_parts(source) if name == SETTING + SETTINGS).decode()
    )


def _add_settings(kept: tomlkit.TOMLDocument, settings: Path) -> None:
    """What the old workspace was told beside its addresses, added to the new addresses."""
    document = tomlkit.parse(settings.read_text(encoding="utf-8"))
    document.update(kept)
    settings.write_text(tomlkit.dumps(document), encoding="utf-8")  # its mode stays: for its owner only
