"""Is everything a workspace promised to keep still there, whole, and once? Looks at every byte, changes nothing.

The same checks answer `guildhall doctor --deep` and stand at the end of every torture run. A fault is something lost,
damaged, doubled or dangling; a note is something worth knowing that harms nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select, text

from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Digest, Value, sha256
from guildhall.errors import CorruptBlob
from guildhall.store.audit import broken_links
from guildhall.store.blobs import Blobs
from guildhall.store.bundles import named_files
from guildhall.store.records import Store
from guildhall.store.references import dangling, doubled, loose_ends
from guildhall.store.shelves import SHELVES, Shelf
from guildhall.store.verdicts import unlike_rebuild
from guildhall.store.wordings import Wordings
from guildhall.store.work import abandoned, work_items
from guildhall.store.workspace import Workspace

MOST_TOLD = 1000
"""Faults of the table of verdicts: where it is lost, one would be told for every judgment."""
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_EMPTY = sha256(b"")
"""Written once into an object store to see that it can be written to."""


@dataclass(frozen=True)
class Fault:
    """One thing that is not as it must be: which check found it, in what, and what is wrong."""

    check: str
    subject: str
    what: str


@dataclass
class Health:
    """What a deep look found. `counts` says how much was looked at, so that an empty list of faults means something."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def examine_workspace(workspace: Workspace, *, now: float, files: bool = True) -> Health:
    """Look at everything in a workspace: the database, every record and reference, every lease, every file."""
    health, store = Health(), workspace.store
    health.faults += _database(store)
    used: set[Digest] = set()
    needed: set[Digest] = set()
    wordings = _Wordings(store)
    for shelf in SHELVES:
        for row in _rows(store, shelf):
            value = _read(shelf, row)
            if isinstance(value, Fault):
                health.faults.append(value)
            elif shelf.type is not Task:  # a task may name files whose bytes were never fetched
                needed.update(named_files(value))
            wordings.look_at(value)
            used.update(_DIGEST.findall(row.body))
            health.counts[shelf.table.name] = health.counts.get(shelf.table.name, 0) + 1
    for check in (dangling, doubled, loose_ends):
        health.faults += [Fault(check.__name__, subject, what) for subject, what in check(store)]
    told = islice(unlike_rebuild(store), MOST_TOLD)
    health.faults += [Fault("verdicts", subject, what) for subject, what in told]
    health.faults += [
        Fault("audit", f"row {row}", "does not follow from the row before it") for row in broken_links(store)
    ]
    if silent := abandoned(store, now=now):
        health.notes.append(f"{len(silent)} items are held by workers that are gone; the next run takes them up again")
    if wordings.apart:
        health.notes.append(
            f"{wordings.apart} comparisons show work made for another version of their task than their study pinned"
        )
    if files:
        _files(workspace.blobs, used | _results(store), needed, health)
    return health


class _Wordings:
    """Counts comparisons whose work was made for another version; works come before the comparisons that show them."""

    def __init__(self, store: Store) -> None:
        self.apart = 0
        self._wordings = Wordings(store)
        self._made_for: dict[Digest, TaskKey] = {}

    def look_at(self, value: Value | Fault) -> None:
        if isinstance(value, Submission):
            self._made_for[value.key] = value.task_key
        elif isinstance(value, Comparison) and all(key in self._made_for for key in value.submissions):
            wording = self._wordings.of(value)
            self.apart += any(self._made_for[key] != wording for key in value.submissions)


def _database(store: Store) -> Iterator[Fault]:
    """What the database itself says about its pages, indexes and foreign keys."""
    if store.engine.dialect.name != "sqlite":
        return  # PostgreSQL keeps its own checksums and enforces foreign keys; reading every row is what is left to do
    with store.reading() as connection:
        for (said,) in connection.execute(text("PRAGMA integrity_check")):
            if said != "ok":
                yield Fault("database", "integrity_check", said)
        for table, row, parent, _ in connection.execute(text("PRAGMA foreign_key_check")):
            yield Fault("database", f"{table} row {row}", f"refers to a row of {parent} that is not there")


def _rows(store: Store, shelf: Shelf[Any]) -> Iterator[Any]:
    columns = (shelf.table.c.key, shelf.table.c.digest, shelf.table.c.body)
    with store.reading() as connection:
        yield from connection.execution_options(yield_per=1000).execute(select(*columns).order_by(shelf.table.c.seq))


def _read(shelf: Shelf[Any], row: Any) -> Value | Fault:
    """The record, when its stored bytes match their digest and can still be read."""
    subject = f"{shelf.table.name} {row.key}"
    if sha256(row.body.encode()) != row.digest:
        return Fault("records", subject, "its content does not match its digest")
    try:
        value: Value = shelf.type.model_validate_json(row.body)
    except ValidationError as error:
        return Fault("records", subject, f"cannot be read ({error.error_count()} faults)")
    return value


def _results(store: Store) -> set[Digest]:
    """Digests in what unfinished and finished work has noted."""
    with store.reading() as connection:
        results = connection.execute(select(work_items.c.result).where(work_items.c.result.is_not(None))).scalars()
        return {digest for result in results for digest in _DIGEST.findall(result)}


def _files(blobs: Blobs, used: set[Digest], needed: set[Digest], health: Health) -> None:
    kept, unused = set(), 0
    for digest in blobs.each():
        kept.add(digest)
        unused += digest not in used and digest != _EMPTY
        try:
            with blobs.open(digest) as stream:
                while stream.read(1 << 20):
                    pass
        except CorruptBlob as damage:
            health.faults.append(Fault("files", digest, f"is damaged: its bytes hash to {damage.found[:12]}"))
    health.faults += [Fault("files", digest, "is named by a record and not kept") for digest in sorted(needed - kept)]
    health.counts["files"] = len(kept)
    if unused:
        health.notes.append(f"{unused} files are named by no record, as a killed process leaves them")
    unfinished = len(list((blobs.folder / "incoming").glob("*")))
    if unfinished:
        health.notes.append(f"{unfinished} unfinished writes lie in {blobs.folder / 'incoming'} and may be removed")
