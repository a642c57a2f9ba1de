"""The table of verdicts: what judgments say, as whole numbers, one row for each work shown.

It follows from the judgments, comparisons and submissions that are kept, whatever order they came in, and can be made
again from them at any time. `Store.transaction` projects what it wrote before it commits. A judgment whose comparison,
works or replaced judgment are not kept yet waits for them. Rows are only added: that a judgment was replaced follows
from `replaces` of another one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Connection, Table, and_, delete, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.values import Digest
from guildhall.errors import ImpossibleValue
from guildhall.store.shelves import shelf_named
from guildhall.store.verdict_rows import (
    STOPS,
    Found,
    Row,
    author_facts,
    failure_kind,
    file_kinds,
    grader_kind,
    grader_name,
    own_wording,
    read,
    rows_of,
    task_key,
)
from guildhall.store.verdict_tables import (
    MADE,
    NEVER,
    PROJECTED,
    SPAN,
    authors,
    graders,
    names,
    verdicts,
    waiting,
    works,
)

if TYPE_CHECKING:
    from guildhall.store.records import Store

_MENDED = "`guildhall doctor --rebuild` makes it anew"
_AT_ONCE = 500
_SPAN = 2_000
_MOST_REMEMBERED = 100_000
_LOCK = 0x6768_7665
"""For PostgreSQL: who brings what others may wait for, misses something or makes names does so one after the other."""

_JUDGMENTS, _COMPARISONS, _SUBMISSIONS = (
    shelf_named(name).table for name in ("judgments", "comparisons", "submissions")
)


@dataclass
class WrittenKeys:
    """Keys of what one transaction wrote, as bytes: a bundle may bring millions."""

    judgments: bytearray = field(default_factory=bytearray)
    comparisons: bytearray = field(default_factory=bytearray)
    submissions: bytearray = field(default_factory=bytearray)

    def note(self, shelf: str, keys: Iterable[str]) -> None:
        if shelf in _NOTED:
            getattr(self, shelf).extend(bytes.fromhex("".join(keys)))

    def keys(self, *shelves: str) -> Iterator[list[Digest]]:
        for shelf in shelves:
            noted = getattr(self, shelf)
            yield from (
                [noted[at : at + 32].hex() for at in range(start, min(start + 32 * _AT_ONCE, len(noted)), 32)]
                for start in range(0, len(noted), 32 * _AT_ONCE)
            )


_NOTED = frozenset({"judgments", "comparisons", "submissions"})


def project(connection: Connection, written: WrittenKeys) -> None:
    """Bring the table up to what a transaction wrote: what of it is kept and not yet projected.

    Raises `ImpossibleValue` for a judgment whose order is not its comparison's works, each once. On PostgreSQL a
    judgment and the one it replaces, written for the first time by two transactions at once, are brought together by
    the next write only: to wait for each other would cost every grader's submit a trip to the server.
    """
    if not (written.judgments or written.comparisons or written.submissions):
        return
    projection = _Projection(connection)
    if written.comparisons or written.submissions:
        projection.alone()
    for keys in written.keys("submissions"):
        projection.add_works(_SUBMISSIONS.c.key.in_(keys))
    for keys in written.keys("judgments"):
        projection.add_judgments(_JUDGMENTS.c.key.in_(keys), refuse=True)
    # Judgments that were kept before tell nothing of who waits: with them may have come what another one lacks.
    if projection.some_wait or written.comparisons or written.submissions:
        for keys in written.keys("comparisons", "submissions"):
            projection.add_awaited(waiting.c.needs.in_(keys))
        projection.add_awaited(waiting.c.needs.in_(select(_JUDGMENTS.c.key)))


def full_spans(store: Store) -> int:
    """How many spans of judgments are full: what stands in them is best kept as parts."""
    with store.glance() as connection:
        last = connection.execute(select(func.max(verdicts.c.judgment))).scalar()
    return (last or 0) // SPAN


def rebuild(store: Store) -> int:
    """Make the table again from what is kept; the number of judgments looked at. No older part fits it afterwards."""
    with store.transaction() as connection:
        return rebuild_on(connection)


def rebuild_on(connection: Connection) -> int:
    if connection.dialect.name == "postgresql":
        # Whoever is writing finishes first: the names their rows were made with are about to go.
        connection.execute(text("LOCK TABLE judgments, comparisons, submissions IN SHARE MODE"))
    for table in PROJECTED:
        connection.execute(delete(table))
    projection = _Projection(connection)
    for span in _spans(connection, _SUBMISSIONS):
        projection.add_works(_SUBMISSIONS.c.seq.between(*span))
    for span in _spans(connection, _JUDGMENTS):
        projection.add_judgments(_JUDGMENTS.c.seq.between(*span), refuse=False)
    word = secrets.token_hex(8)
    connection.execute(names.insert().values(kind=MADE, key=word))
    return projection.judgments


def made(connection: Connection) -> str | None:
    """The word drawn when the table was made; None when it never was."""
    return connection.execute(select(names.c.key).where(names.c.kind == MADE)).scalar()


def unlike_rebuild(store: Store) -> Iterator[tuple[str, str]]:
    """What stands in the table, and what is missing there, against what the kept records say: (subject, fault)."""
    with store.reading() as connection:
        projection = _Projection(connection, adding=False)
        for shelf, table, also, unlike in (
            ("submissions", _SUBMISSIONS, works.c.work, _unlike_works),
            ("judgments", _JUDGMENTS, verdicts.c.judgment, _unlike_verdicts),
        ):
            for span in _spans(connection, table, also):
                for row, _ in unlike(connection, projection, span):
                    # Others may write between two looks: what is wrong is so at the second one too.
                    for _, what in unlike(connection, projection, (row, row)):
                        yield f"{shelf} row {row}", what


def _unlike_works(connection: Connection, projection: _Projection, span: tuple[int, int]) -> Iterator[tuple[int, str]]:
    expected = {row[0]: row for row in projection.works_of(_SUBMISSIONS.c.seq.between(*span))}
    found = {row[0]: tuple(row) for row in connection.execute(select(works).where(works.c.work.between(*span)))}
    for work in sorted({*expected, *found}):
        if expected.get(work) != found.get(work):
            yield work, f"is not what the table of works says; {_MENDED}"


def _unlike_verdicts(
    connection: Connection, projection: _Projection, span: tuple[int, int]
) -> Iterator[tuple[int, str]]:
    expected = projection.judged(_JUDGMENTS.c.seq.between(*span))
    found: dict[int, list[Row]] = {}
    rows = select(verdicts).where(verdicts.c.judgment.between(*span)).order_by(verdicts.c.judgment, verdicts.c.place)
    for row in connection.execute(rows):
        found.setdefault(row[0], []).append(tuple(row))
    waits = {
        row.judgment: row.needs for row in connection.execute(select(waiting).where(waiting.c.judgment.between(*span)))
    }
    for judgment in sorted({*expected.rows, *found, *waits, *expected.needs}):
        if judgment in expected.broken:
            yield judgment, f"is left out of all results: {expected.broken[judgment]}"
        if expected.rows.get(judgment) != found.get(judgment):
            yield judgment, f"is not what the table of verdicts says; {_MENDED}"
        elif expected.needs.get(judgment) != waits.get(judgment):
            yield judgment, f"waits for what is there, or for nothing; {_MENDED}"


def _spans(connection: Connection, table: Table, *also: Column[int]) -> Iterator[tuple[int, int]]:
    """First and last row numbers, a few at a time, of all that a table or another one about it holds."""
    ends = [connection.execute(select(func.min(one), func.max(one))).one() for one in (table.c.seq, *also)]
    known = [number for pair in ends for number in pair if number is not None]
    for first in range(min(known, default=1), max(known, default=0) + 1, _SPAN):
        yield first, first + _SPAN - 1


@dataclass
class _Judged:
    """Of some judgments: the rows of each, or what it waits for, or why it can have none."""

    rows: dict[int, list[Row]] = field(default_factory=dict)
    needs: dict[int, str] = field(default_factory=dict)
    broken: dict[int, ImpossibleValue] = field(default_factory=dict)


class _Projection:
    """Makes rows of what is kept; in `adding`, names that are new are given a number."""

    def __init__(self, connection: Connection, *, adding: bool = True) -> None:
        self.judgments = 0
        self.some_wait = False
        """Whether a judgment may have waited for what is written now."""
        self._connection, self._adding = connection, adding
        self._codes: dict[_Name, int] = {}
        self._works: dict[str, tuple[int, int]] = {}
        self._locked = connection.dialect.name == "sqlite"

    def alone(self) -> None:
        """Wait until nobody else brings or misses anything or makes names; it stays so until the transaction ends."""
        if not self._locked:
            self._connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            self._locked = True

    def add_works(self, which: Any) -> None:
        """Rows of submissions that have none."""
        fresh = ~select(works.c.work).where(works.c.work == _SUBMISSIONS.c.seq).exists()
        _insert(self._connection, works, self.works_of(which, fresh))

    def works_of(self, *which: Any) -> list[Row]:
        columns = (_SUBMISSIONS.c.seq, _SUBMISSIONS.c.author, _SUBMISSIONS.c.body)
        found = [(seq, key, read(body)) for seq, key, body in self._connection.execute(select(*columns).where(*which))]
        self._remember(authors, {(made["author"]["kind"], key): author_facts(made["author"]) for _, key, made in found})
        kinds = {seq: file_kinds([file["name"] for file in made["files"]]) for seq, _, made in found}
        self._remember(names, _named("task", (task_key(made) for *_, made in found)))
        self._remember(names, _named("files", kinds.values()))
        return [
            (
                seq,
                self._code(names, "task", task_key(made)),
                self._code(authors, made["author"]["kind"], key),
                STOPS[made["stop"]],
                made.get("seconds"),
                (made.get("usage") or {}).get("cost_usd"),
                made.get("confidence"),
                self._code(names, "files", kinds[seq]),
            )
            for seq, key, made in found
        ]

    def add_judgments(self, which: Any, *, refuse: bool) -> None:
        """Rows of judgments that have none. One that cannot be is refused, or else left out for good."""
        fresh = ~select(verdicts.c.judgment).where(verdicts.c.judgment == _JUDGMENTS.c.seq).exists()
        alone_before = self._locked
        judged = self.judged(which, fresh)
        if not alone_before and judged.needs.keys() - judged.broken:
            self.alone()  # what is missing may be on its way: look again once its writer has committed
            judged = self.judged(which, fresh)
        if refuse and judged.broken:
            raise next(iter(judged.broken.values()))
        _insert(self._connection, verdicts, [row for rows in judged.rows.values() for row in rows])
        _insert(self._connection, waiting, list(judged.needs.items()))
        self.judgments += len(judged.rows) + len(judged.needs)

    def add_awaited(self, come: Any) -> None:
        """Rows of judgments that waited for what has come; one that still lacks something goes on waiting."""
        waited = self._connection.execute(select(waiting.c.judgment).where(come)).scalars().all()
        for some in _some(waited, _AT_ONCE):
            self._connection.execute(delete(waiting).where(waiting.c.judgment.in_(some)))
            self.add_judgments(_JUDGMENTS.c.seq.in_(some), refuse=False)

    def judged(self, *which: Any) -> _Judged:
        judged = _Judged()
        told = []
        for row in self._connection.execute(_TOLD.where(*which)):
            self.some_wait |= bool(row.some_wait)
            if row.comparison is None:
                judged.needs[row.seq] = row.wanted
            elif row.replaced is None and row.replaces is not None:
                judged.needs[row.seq] = row.replaces
            else:
                told.append((row, read(row.body), read(row.compared)))
                if row.study_code is not None:
                    self._codes["names", "study", row.study] = row.study_code
        self._remember_what_is_named(told)
        for row, said, compared in told:
            try:
                missing = next((key for key in compared["submissions"] if key not in self._works), None)
                if missing is not None:
                    judged.needs[row.seq] = missing
                else:
                    judged.rows[row.seq] = rows_of(said, self._found(row, said, compared))
            except ImpossibleValue as why:
                judged.broken[row.seq], judged.needs[row.seq] = why, NEVER
        return judged

    def _remember_what_is_named(self, told: Sequence[tuple[Any, dict[str, Any], dict[str, Any]]]) -> None:
        judges = {(grader_kind(said["grader"]), row.grader): said["grader"] for row, said, _ in told}
        self._remember(graders, {name: {"name": grader_name(one)} for name, one in judges.items()})
        self._remember(names, _named("study", (compared["study"] for *_, compared in told)))
        self._remember(names, _named("task", (own_wording(compared) for *_, compared in told)))
        self._remember(names, _named("failure", (failure_kind(said) for _, said, _ in told)))
        if len(self._works) > _MOST_REMEMBERED:
            self._works.clear()
        wanted = {key for *_, compared in told for key in compared["submissions"]} - self._works.keys()
        for some in _some(sorted(wanted), _AT_ONCE):
            query = select(_SUBMISSIONS.c.key, works.c.work, works.c.task)
            query = query.join(works, works.c.work == _SUBMISSIONS.c.seq).where(_SUBMISSIONS.c.key.in_(some))
            self._works |= {key: (work, task) for key, work, task in self._connection.execute(query)}

    def _found(self, row: Any, said: Mapping[str, Any], compared: Mapping[str, Any]) -> Found:
        wording = own_wording(compared)
        return Found(
            judgment=row.seq,
            key=row.key,
            comparison=row.comparison,
            compared=compared,
            study=self._code(names, "study", compared["study"]),
            task=self._code(names, "task", wording) if wording else self._works[compared["submissions"][0]][1],
            grader=self._code(graders, grader_kind(said["grader"]), row.grader),
            failure=self._code(names, "failure", failure_kind(said)),
            replaces=row.replaced,
            works=[self._works[key][0] for key in said["order"] if key in self._works],
        )

    def _code(self, table: Table, kind: str, key: str | None) -> int | None:
        return None if key is None else self._codes.get((table.name, kind, key))

    def _remember(self, table: Table, wanted: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
        """The numbers of some names, by kind and key."""
        self._look_up(table, wanted)
        if not self._adding or all((table.name, *name) in self._codes for name in wanted):
            return
        self.alone()  # else two who make the same names in another order would wait for each other
        self._look_up(table, wanted)
        new = [name for name in sorted(wanted) if (table.name, *name) not in self._codes]
        if new:
            dialect: Any = sqlite if self._connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(table).on_conflict_do_nothing(index_elements=["key", "kind"])
            self._connection.execute(insert, [{"kind": kind, "key": key, **wanted[kind, key]} for kind, key in new])
            self._look_up(table, new)

    def _look_up(self, table: Table, wanted: Iterable[tuple[str, str]]) -> None:
        keys = {key for kind, key in wanted if (table.name, kind, key) not in self._codes}
        for some in _some(sorted(keys), _AT_ONCE):
            query = select(table.c.kind, table.c.key, table.c.code).where(table.c.key.in_(some))
            self._codes |= {(table.name, kind, key): code for kind, key, code in self._connection.execute(query)}


_Name = tuple[str, str, str]
"""Table, kind and key of a name."""


def _named(kind: str, found: Iterable[str | None]) -> dict[tuple[str, str], dict[str, str]]:
    return {(kind, name): {} for name in found if name is not None}


def _some(every: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """All of them, so many at a time."""
    stream = iter(every)
    while some := list(islice(stream, size)):
        yield some


_REPLACED = _JUDGMENTS.alias("replaced")
_TOLD = (
    select(
        _JUDGMENTS.c.seq,
        _JUDGMENTS.c.key,
        _JUDGMENTS.c.body,
        _JUDGMENTS.c.grader,
        _JUDGMENTS.c.comparison.label("wanted"),
        _JUDGMENTS.c.replaces,
        _COMPARISONS.c.seq.label("comparison"),
        _COMPARISONS.c.body.label("compared"),
        _COMPARISONS.c.study,
        _REPLACED.c.seq.label("replaced"),
        names.c.code.label("study_code"),
        select(waiting.c.judgment).where(waiting.c.needs != NEVER).exists().label("some_wait"),
    )
    .outerjoin(_COMPARISONS, _COMPARISONS.c.key == _JUDGMENTS.c.comparison)
    .outerjoin(_REPLACED, _REPLACED.c.key == _JUDGMENTS.c.replaces)
    .outerjoin(names, and_(names.c.key == _COMPARISONS.c.study, names.c.kind == "study"))
    .order_by(_JUDGMENTS.c.seq)
)


def _insert(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Many rows in one statement; what stands there already stays."""
    if not rows:
        return
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(table.columns))
        connection.exec_driver_sql(f'INSERT OR IGNORE INTO "{table.name}" ({columns}) VALUES ({marks})', list(rows))  # noqa: S608 - names of our own schema
        return
    lists = ", ".join(f"%s::{column.type.compile(connection.dialect)}[]" for column in table.columns)
    insert = f'INSERT INTO "{table.name}" ({columns}) SELECT * FROM unnest({lists}) ON CONFLICT DO NOTHING'  # noqa: S608
    connection.exec_driver_sql(insert, tuple(map(list, zip(*rows, strict=True))))
