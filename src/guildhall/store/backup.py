"""Backups: everything a workspace holds at one moment, taken while people work in it, as one archive.

A bundle carries records from one workspace to another; a backup brings back the workspace itself, with people,
places, drafts, sessions and its secret where that lies in its folder. It is a secret like the workspace it came from.
The database is read in one snapshot and the files after it: a file is always kept before the record that names it, so
no record lacks its file.

Left out: where the database and the files lived (the URL may hold a password), passwords in files of their own, logs,
caches and reports.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import tomlkit

from guildhall.domain.values import Digest, canonical_json, sha256
from guildhall.errors import CorruptBackup, CorruptBlob, CorruptBundle, InputError, StoreError
from guildhall.store import tables
from guildhall.store.archive import ArchiveWriter, Member, members
from guildhall.store.blobs import Blobs, sync_folder
from guildhall.store.secret import KEY_FILE, OLD_KEY_FILE
from guildhall.store.snapshots import Snapshot, take_snapshot
from guildhall.store.workspace import SETTINGS, Workspace

FORMAT = 2
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
BLOB, SETTING = "blobs/", "settings/"
OWN_FILES = (KEY_FILE, OLD_KEY_FILE)
"""Small files of the workspace folder without which parts of the database are of no use."""
ADDRESSES = ("format", "database", "blobs")
"""Settings that say where a workspace lives; a restored one lives elsewhere and says so itself."""
_CHUNK = 1 << 20


@dataclass
class Backup(Snapshot):
    """What a backup holds: the snapshot of the database, the digest of every part, and how many files.

    `damaged` names files that no longer matched their digest when the backup was taken; they are not brought back.
    """

    made_at: float = 0.0
    parts: dict[str, Digest] = field(default_factory=dict)
    with_files: bool = True
    files: int = 0
    files_digest: Digest = ""
    damaged: list[Digest] = field(default_factory=list)

    def count(self, file: Digest) -> None:
        self.files += 1
        self.files_digest = sha256(f"{self.files_digest} {file}".encode())

    def manifest(self) -> bytes:
        return canonical_json({"format": FORMAT, **vars(self)})


def take_backup(workspace: Workspace, target: Path, *, now: float, files: bool = True) -> Backup:
    """Write a backup while the workspace is in use; it appears under its name only when it is complete."""
    if target.exists():
        raise InputError(f"{target} is there already; give the backup a name of its own")
    made = Backup(made_at=now, with_files=files)
    with _unfinished(target) as (out, folder):
        archive = ArchiveWriter(out)
        for name, file in take_snapshot(workspace.store, folder, made):
            _add(archive, made, name, file)
        for name in OWN_FILES:
            if (workspace.path / name).exists():
                _add(archive, made, SETTING + name, workspace.path / name)
        settings = folder / SETTINGS
        settings.write_text(settings_to_keep(workspace.path / SETTINGS))
        _add(archive, made, SETTING + SETTINGS, settings)
        for digest in workspace.blobs.each() if files else ():
            _add_file(archive, made, workspace.blobs, digest)
        for name, body in ((MANIFEST, made.manifest()), (SEAL, sha256(made.manifest()).encode())):
            archive.add(name, iter([body]), size=len(body))
        archive.finish()
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
    for name, body in backup_parts(source):
        if name in small:
            small[name] = body.read()
            continue
        seen = hashlib.sha256()
        for chunk in body.chunks():
            seen.update(chunk)
        if not name.startswith(BLOB):
            parts[name] = seen.hexdigest()
            continue
        files.count(name.removeprefix(BLOB))
        if seen.hexdigest() != name.removeprefix(BLOB):
            files.damaged.append(name.removeprefix(BLOB))
    held = _manifest(source, small[MANIFEST], small[SEAL])
    _compare(source, held, parts, files)
    return held


def _manifest(source: Path, manifest: bytes, seal: bytes) -> Backup:
    if not manifest or sha256(manifest).encode() != seal:
        raise CorruptBackup(source, f"{MANIFEST} is missing or changed")
    found: dict[str, Any] = json.loads(manifest)
    if found.pop("format", None) != FORMAT or set(found) != set(vars(Backup())):
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


def backup_parts(source: Path) -> Iterator[tuple[str, Member]]:
    """Each part's name and body, in order."""
    with source.open("rb") as stream:
        yield from members(source, stream)
