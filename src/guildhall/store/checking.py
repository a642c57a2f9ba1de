"""Is everything a workspace promised to keep still there, whole, and once? Looks at every byte, changes nothing.

The same checks answer `guildhall doctor --deep` and stand at the end of every torture run. A fault is something lost,
damaged, doubled or dangling; a note is something worth knowing that harms nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, and_, func, or_, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.sql.selectable import Select

from guildhall.domain.halls import SeatState
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Digest, Value, sha256
from guildhall.errors import CorruptBlob, StoreError
from guildhall.store.audit import broken_links
from guildhall.store.blobs import Blobs
from guildhall.store.bundles import named_files
from guildhall.store.database import HEAD
from guildhall.store.hall import seats, slots
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES, Shelf, shelf_named
from guildhall.store.verdicts import unlike_rebuild
from guildhall.store.wordings import Wordings
from guildhall.store.work import abandoned, work_items
from guildhall.store.workspace import SETTINGS, Workspace

Finding = tuple[str, str]
"""What it is about, and what is wrong with it."""

_POINTERS = (
    ("judgments", "comparison", "comparisons", "key"),
    ("judgments", "replaces", "judgments", "key"),
    ("submissions", "replaces", "submissions", "key"),
    ("severity_ratings", "submission", "submissions", "key"),
    ("marks", "essay", "essays", "key"),
    ("marks", "replaces", "marks", "key"),
    ("rubric_marks", "submission", "submissions", "key"),
    ("comparisons", "task", "tasks", "id"),
    ("submissions", "task", "tasks", "id"),
)
"""Shelf and column -> the shelf and column where its value must be found."""


def dangling(store: Store) -> Iterator[Finding]:
    """References that lead nowhere."""
    for shelf, column, target, at in _POINTERS:
        here, there = shelf_named(shelf).table, shelf_named(target).table.alias("there")
        missing = _without(here.c[column], there.c[at])
        yield from _said(
            store, missing.with_only_columns(here.c.key), f"{shelf} {{}}", f"names a {target[:-1]} not kept"
        )
    judged, judgments = seats.c.judgment, shelf_named("judgments").table
    ratings = shelf_named("severity_ratings").table
    unkept = _without(judged, judgments.c.key).where(judged.not_in(select(ratings.c.key)))
    yield from _said(
        store, unkept.with_only_columns(seats.c.id), "seat {}", "was acknowledged and its judgment is gone"
    )
    compared = shelf_named("comparisons").table
    yield from _said(
        store,
        _without(slots.c.comparison, compared.c.key).with_only_columns(slots.c.id),
        "slot {}",
        "has no comparison",
    )
    yield from _missing_sides(store)


def _missing_sides(store: Store) -> Iterator[Finding]:
    """Comparisons of submissions that are not kept."""
    compared, made = shelf_named("comparisons").table, shelf_named("submissions").table
    with store.reading() as connection:
        known = set(connection.execute(select(made.c.key)).scalars())
        rows = connection.execution_options(yield_per=1000).execute(select(compared.c.key, compared.c.body))
        for key, body in rows:
            if not known.issuperset(json.loads(body)["submissions"]):
                yield f"comparison {key}", "shows a submission that is not kept"


def doubled(store: Store) -> Iterator[Finding]:
    """Judgments that stand twice: one grader, one comparison, one order, one sweep, and none replaces the other."""
    table = shelf_named("judgments").table
    newer = table.alias("newer")
    several = (
        select(table.c.comparison, table.c.grader)
        .group_by(table.c.comparison, table.c.grader)
        .having(func.count() > 1)
        .subquery()
    )
    query = (
        select(table.c.comparison, table.c.grader, table.c.body)
        .join(several, and_(table.c.comparison == several.c.comparison, table.c.grader == several.c.grader))
        .where(~select(newer.c.seq).where(newer.c.replaces == table.c.key).exists())
    )
    seen: set[tuple[str, ...]] = set()
    with store.reading() as connection:
        for row in connection.execution_options(yield_per=1000).execute(query):
            body = json.loads(row.body)
            # A person is shown one order; a second judgment by them is a double in whatever order.
            order = () if body["grader"]["kind"] == "person" else tuple(body["order"])
            place = (row.comparison, row.grader, str(body["sweep"]), *order)
            if place in seen:
                yield f"comparison {row.comparison}", f"was judged twice by {row.grader}"
            seen.add(place)


def loose_ends(store: Store) -> Iterator[Finding]:
    """Places of the hall whose two sides disagree: a slot held by nobody, a seat that holds nothing."""
    holder = seats.alias("holder")
    held = slots.join(holder, holder.c.id == slots.c.holder)
    gone = select(slots.c.id).where(slots.c.holder.is_not(None), slots.c.holder.not_in(select(seats.c.id)))
    yield from _said(store, gone, "slot {}", "is held by a seat that is not there")
    holding = or_(holder.c.state == SeatState.LIVE, and_(holder.c.state == SeatState.SUBMITTED, slots.c.done.is_(True)))
    wrong = select(slots.c.id).select_from(held).where(or_(holder.c.slot != slots.c.id, ~holding))
    yield from _said(store, wrong, "slot {}", "is held by a seat that has given it up")
    empty = select(slots.c.id).where(slots.c.done.is_(True), slots.c.holder.is_(None))
    yield from _said(store, empty, "slot {}", "is done and nobody did it")
    loose = select(seats.c.id).join(slots, slots.c.id == seats.c.slot)
    loose = loose.where(seats.c.state == SeatState.LIVE, or_(slots.c.holder.is_(None), slots.c.holder != seats.c.id))
    yield from _said(store, loose, "seat {}", "is live and its slot is not held for it")
    ended = select(seats.c.id).where(seats.c.state == SeatState.SUBMITTED, seats.c.judgment.is_(None))
    yield from _said(store, ended, "seat {}", "was submitted without a judgment")


def blamed(store: Store) -> Iterator[Finding]:
    """Work that was taken for "nothing delivered" though nobody was ever asked to do it, and not tried again since."""
    made = shelf_named("submissions").table
    with store.reading() as connection:
        retried = set(connection.execute(select(made.c.replaces).where(made.c.replaces.is_not(None))).scalars())
    for one in store.each(Submission):
        if one.blamed and one.key not in retried:
            what = "was kept as nothing delivered though no model was ever asked, a fault of ours"
            fix = "`guildhall sample retry --failed` tries it again, and sets aside what was judged of it"
            yield f"submission {one.key} for {one.task}", f"{what}: {fix}"


def _without(pointer: Column[str], target: Column[str]) -> Select[Any]:
    return select(pointer).where(pointer.is_not(None), ~select(target).where(target == pointer).exists())


def _said(store: Store, query: Select[Any], subject: str, what: str) -> Iterator[Finding]:
    with store.reading() as connection:
        for (key,) in connection.execute(query.limit(1000)):
            yield subject.format(key), what


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


def examine_workspace(workspace: Workspace, *, files: bool = True) -> Health:
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
            else:  # a file whose bytes were never fetched has no digest
                needed.update(named_files(value))
            wordings.look_at(value)
            used.update(_DIGEST.findall(row.body))
            health.counts[shelf.table.name] = health.counts.get(shelf.table.name, 0) + 1
    for check in (dangling, doubled, loose_ends, blamed):
        health.faults += [Fault(check.__name__, subject, what) for subject, what in check(store)]
    told = islice(unlike_rebuild(store), MOST_TOLD)
    health.faults += [Fault("verdicts", subject, what) for subject, what in told]
    health.faults += [
        Fault("audit", f"row {row}", "does not follow from the row before it") for row in broken_links(store)
    ]
    if silent := abandoned(store):
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


CLOCK_S = 5.0
"""A clock that is off by more is told; leases do not depend on it."""


def vital_signs(path: Path) -> list[tuple[str, str, str]]:
    """Database, clock and disk of a workspace, asked within seconds: what, how it is, and what to do (empty: well)."""
    try:
        began = time.monotonic()
        with Workspace.open(path) as opened:
            took_ms, ahead = 1000 * (time.monotonic() - began), opened.store.clock_ahead_s()
            found = [("database", f"{opened.shown_url} answers in {took_ms:.0f} ms, schema {HEAD}", "")]
    except StoreError as error:
        found = [("database", "", str(error))]
    else:
        off = f"{abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} the database's"
        found += [("clock", off, "" if abs(ahead) <= CLOCK_S else "start chrony or systemd-timesyncd on this machine")]
    for name, folder in (("disk of the workspace", path), ("disk of temporary files", Path(tempfile.gettempdir()))):
        disk = shutil.disk_usage(folder)
        low = disk.free < max(LEAST_FREE * disk.total, 1 << 30)
        found.append((name, f"{disk.free / 1e9:.1f} GB free of {disk.total / 1e9:.1f}", "make room" if low else ""))
    return found


LEAST_FREE = 0.1
"""Below this share of free space a nightly backup may be the one that fills the disk."""


def upkeep(workspace: Workspace) -> list[str]:
    """Notes on secrets that lie open and space that runs out; none where all is well."""
    return [*open_files(workspace.path), *_password(workspace), *_space(workspace.path)]


def exposed(folder: Path) -> list[Path]:
    """The workspace's folder and whatever in it others on this machine may read or change."""
    found = [folder, *folder.rglob("*")]
    return [one for one in found if not one.is_symlink() and stat.S_IMODE(one.stat().st_mode) & 0o077]


def close_to_others(folder: Path) -> int:
    """Take from everybody but the owner what they may do with a workspace; how many files and folders it was."""
    found = exposed(folder)
    for one in found:
        one.chmod(stat.S_IMODE(one.stat().st_mode) & 0o700)
    return len(found)


def open_files(folder: Path) -> Iterator[str]:
    """A note where others on this machine may read a workspace."""
    if found := exposed(folder):
        told = f"{len(found)} files and folders of the workspace can be read by others on this machine"
        yield f"{told}, {found[0]} first: `guildhall doctor --repair` closes them"


def _password(workspace: Workspace) -> Iterator[str]:
    if make_url(workspace.url).password:
        yield f"the password of the database is in {SETTINGS}; leave it out there and set PGPASSWORD for the services"


def _space(folder: Path) -> Iterator[str]:
    disk = shutil.disk_usage(folder)
    if disk.free < LEAST_FREE * disk.total:
        yield f"{disk.free / 1e9:.1f} GB are free on the disk of {folder}, less than a tenth of it"
