"""Bundles: a workspace's records and files as one archive, the same bytes whenever it is made from the same content.

`records/<shelf>.jsonl` sorted by digest, `blobs/<digest>` sorted, and `manifest.json` last. Reading is strict: headers
are compared with the ones we would write, content with its digests, and the manifest with the one that follows from the
content, so that no changed byte, wherever it is, goes unnoticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy import select

from guildhall.domain.tasks import FileRef
from guildhall.domain.values import Digest, Value, canonical_json
from guildhall.errors import CorruptBundle, UnknownName
from guildhall.store.archive import ArchiveMember, ArchiveWriter, members
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES, Shelf, shelf_named

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass
class Contents:
    """What a bundle holds: rows a shelf and their digest, the files, and how many named files were not at hand."""

    rows: dict[str, int] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    named: set[Digest] = field(default_factory=set)
    present: set[Digest] = field(default_factory=set)

    @property
    def absent(self) -> int:
        return len(self.named - self.present)

    def manifest(self) -> bytes:
        facts = {"rows": self.rows, "digests": self.digests, "files": len(self.present), "files_absent": self.absent}
        return canonical_json({"format": FORMAT, **facts})


def export_bundle(store: Store, blobs: Blobs, target: Path) -> Contents:
    """Write all records and the files they name; an unfinished bundle never stands under its final name."""
    contents = Contents()
    part = target.with_name(target.name + ".part")
    with store.reading(), part.open("wb") as out:
        archive = ArchiveWriter(out)
        for shelf in sorted(_carried(), key=lambda shelf: shelf.table.name):
            _write_shelf(archive, store, shelf, contents)
        for digest in sorted(contents.named):
            if blobs.has(digest):
                contents.present.add(digest)
                with blobs.open(digest) as stream:
                    archive.add(f"blobs/{digest}", iter(lambda: stream.read(1 << 20), b""), size=blobs.size(digest))
        manifest = contents.manifest()
        archive.add(MANIFEST, iter([manifest]), size=len(manifest))
        archive.finish()
    part.replace(target)
    return contents


def _carried() -> list[Shelf[Any]]:
    """What a bundle holds; whatever can be made again from it is left out."""
    return [shelf for shelf in SHELVES if not shelf.derived]


def _write_shelf(archive: ArchiveWriter, store: Store, shelf: Shelf[Any], contents: Contents) -> None:
    # A header states the size before the body, so the rows are walked twice: once to measure, once to write.
    name, size, rows, seen = shelf.table.name, 0, 0, hashlib.sha256()
    for line in _lines(store, shelf):
        contents.named.update(named_files(shelf.type.model_validate_json(line)))
        size, rows = size + len(line), rows + 1
        seen.update(line)
    if rows:
        contents.rows[name], contents.digests[name] = rows, seen.hexdigest()
        archive.add(f"records/{name}.jsonl", _lines(store, shelf), size=size)


def _lines(store: Store, shelf: Shelf[Any]) -> Iterator[bytes]:
    query = select(shelf.table.c.body).order_by(shelf.table.c.digest)
    with store.reading() as connection:
        for body in connection.execution_options(yield_per=1000).execute(query).scalars():
            yield body.encode() + b"\n"


def named_files(value: Any) -> Iterator[Digest]:
    """Digests of the files a value names, however deep inside."""
    if isinstance(value, FileRef):
        if value.digest:
            yield value.digest
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from named_files(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from named_files(item)


def referenced(store: Store) -> dict[Digest, str]:
    """Every file that records name by its digest, and the first record that does."""
    found: dict[Digest, str] = {}
    for shelf in SHELVES:
        if "FileRef" in shelf.type.model_json_schema().get("$defs", {}):
            for value in store.each(shelf.type):
                for digest in named_files(value):
                    found.setdefault(digest, f"{shelf.table.name} {shelf.key(value)}")
    return found


def check_bundle(source: Path) -> Contents:
    """Read a whole bundle and verify every byte of it; changes nothing."""
    contents = Contents()
    last = None
    with source.open("rb") as stream:
        for name, body in members(source, stream):
            last = name
            if name == MANIFEST:
                if body.read() != contents.manifest():
                    raise CorruptBundle(source, name, "does not describe the content")
            elif name.startswith("blobs/"):
                _check_blob(source, name, body, contents)
            else:
                _check_rows(source, name, body, contents)
    if last != MANIFEST:
        raise CorruptBundle(source, MANIFEST, "is missing")
    return contents


def _check_blob(source: Path, name: str, body: ArchiveMember, contents: Contents) -> None:
    seen = hashlib.sha256()
    for chunk in body.chunks():
        seen.update(chunk)
    if name != f"blobs/{seen.hexdigest()}":
        raise CorruptBundle(source, name, "its bytes do not match its name")
    if seen.hexdigest() not in contents.named:
        raise CorruptBundle(source, name, "belongs to no record")
    contents.present.add(seen.hexdigest())


def _check_rows(source: Path, name: str, body: ArchiveMember, contents: Contents) -> None:
    shelf = _shelf_for(source, name)
    seen, rows = hashlib.sha256(), 0
    for line in body.lines():
        value = _value(source, name, shelf, line)
        contents.named.update(named_files(value))
        seen.update(line)
        rows += 1
    contents.rows[shelf.table.name], contents.digests[shelf.table.name] = rows, seen.hexdigest()


def _shelf_for(source: Path, name: str) -> Shelf[Any]:
    try:
        return shelf_named(Path(name).stem)
    except UnknownName as error:
        raise CorruptBundle(source, name, "is not a kind of record this version knows") from error


def _value(source: Path, name: str, shelf: Shelf[Any], line: bytes) -> Value:
    try:
        value: Value = shelf.type.model_validate_json(line)
    except ValidationError as error:
        raise CorruptBundle(source, name, f"holds a broken record ({error.error_count()} faults)") from error
    if value.canonical() + b"\n" != line:
        raise CorruptBundle(source, name, "holds a record that is not in canonical form")
    return value


def import_bundle(store: Store, blobs: Blobs, source: Path) -> Contents:
    """Add what a bundle holds. A bundle with one wrong byte is refused before anything is changed."""
    contents = check_bundle(source)
    with source.open("rb") as stream, store.transaction():
        for name, body in members(source, stream):
            if name.startswith("blobs/"):
                if blobs.put(body) != name.removeprefix("blobs/"):
                    raise CorruptBundle(source, name, "changed while it was being read")
            elif name != MANIFEST:
                shelf = _shelf_for(source, name)
                store.add_all(_value(source, name, shelf, line) for line in body.lines())
    return contents
