"""`Store`: frozen values in, frozen values out. Nothing is edited in place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.values import Value
from guildhall.errors import Conflict, DatabaseAway, StoreError, UnknownName
from guildhall.observe.spans import Doing, span
from guildhall.store.access import workspace_facts
from guildhall.store.database import clock, open_database, require_head, revision_of
from guildhall.store.shelves import Shelf, shelf_of
from guildhall.store.verdicts import WrittenKeys, project

V = TypeVar("V", bound=Value)
_CHUNK = 500
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def lasting(method: F) -> F:
    """A method of `Store`, or of what has one, that is done again when the database goes away under it.

    Only for what reads, or may be done twice.
    """

    @wraps(method)
    def done(self: Any, *given: Any, **named: Any) -> Any:
        store: Store = self if isinstance(self, Store) else self.store
        return store.outlast(lambda: method(self, *given, **named))

    return cast("F", done)


class Store:
    """The records of one workspace.

    Every write is one transaction, durable when the call returns. Inside `transaction()` writes join it:
    all of them are kept, or none.
    """

    def __init__(self, engine: Engine, *, patience_s: float = 0.0) -> None:
        self.engine, self.patience_s = engine, patience_s
        # SQLite's transactions are begun by our own hand, and cost no trip to anywhere.
        remote = engine.dialect.name != "sqlite"
        self._unceremonious = engine.execution_options(isolation_level="AUTOCOMMIT") if remote else engine
        self._joined: ContextVar[Connection | None] = ContextVar("guildhall_connection", default=None)
        self._written: ContextVar[WrittenKeys | None] = ContextVar("guildhall_written", default=None)

    @classmethod
    def open(cls, url: str, *, patience_s: float = 0.0, connections: int | None = None) -> Store:
        engine = open_database(url, patience_s=patience_s, connections=connections)
        try:
            require_head(engine)
        except StoreError:
            engine.dispose()
            raise
        return cls(engine, patience_s=patience_s)

    def outlast(self, do: Callable[[], T]) -> T:
        """What `do` gives, done again where the database went away under it; inside a transaction, all of that is."""
        end = time.monotonic() + self.patience_s
        while True:
            try:
                return do()
            except DatabaseAway:
                if self.in_transaction or time.monotonic() >= end:
                    raise

    def agreed(self, name: str, value: str) -> str:
        """What this database's users agreed on under a name; where nobody has said anything yet, this value."""
        query = select(workspace_facts.c.value).where(workspace_facts.c.name == name)
        with self.glance() as connection:
            found = connection.execute(query).scalar()
        if found is not None:
            return str(found)
        with self.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            offered = dialect.insert(workspace_facts).values(name=name, value=value)
            connection.execute(offered.on_conflict_do_nothing())
            return str(connection.execute(query).scalar_one())

    def state(self, name: str, value: str) -> None:
        """Write a fact down, in place of what was said before."""
        with self.transaction() as connection:
            connection.execute(delete(workspace_facts).where(workspace_facts.c.name == name))
            connection.execute(workspace_facts.insert().values(name=name, value=value))

    def clock_ahead_s(self) -> float:
        """How far this machine's clock is ahead of the database's, as exactly as one question can tell."""
        with self.glance() as connection:
            before = time.time()
            told = connection.execute(select(clock(connection))).scalar_one()
            return (before + time.time()) / 2 - float(told)

    def close(self) -> None:
        self.engine.dispose()

    def revision(self) -> str | None:
        return revision_of(self.engine)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All writes inside are kept together or not at all; nested calls join the outermost.

        At its end what was written goes into the table of verdicts too.
        """
        outer = self._joined.get()
        if outer is not None:
            yield outer
            return
        with (
            span(Doing.TRANSACTION),
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            joined, noting = self._joined.set(connection), self._written.set(WrittenKeys())
            try:
                yield connection
                self.settle()
            finally:
                self._joined.reset(joined)
                self._written.reset(noting)

    @property
    def in_transaction(self) -> bool:
        """Whether the caller is inside `transaction()`: what is written there is seen on its connection only."""
        return self._joined.get() is not None

    def settle(self) -> None:
        """Let the table of verdicts tell what was written so far; outside a transaction it always does."""
        connection, written = self._joined.get(), self._written.get()
        if connection is not None and written is not None:
            project(connection, written)
            self._written.set(WrittenKeys())

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for queries; inside a transaction it sees what that transaction wrote."""
        outer = self._joined.get()
        if outer is not None:
            yield outer
            return
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def glance(self) -> Iterator[Connection]:
        """A connection for a single query whose answer is fetched whole: a server is asked once, not three times.

        Nothing is begun or ended around it; inside a transaction it sees what that transaction wrote.
        """
        outer = self._joined.get()
        if outer is not None:
            yield outer
            return
        with self._unceremonious.connect() as connection:
            yield connection

    def add(self, value: Value) -> bool:
        """Keep a value; False when the very same value was kept before.

        Raises `Conflict` when its key is kept with another content.
        """
        return self.add_all([value]) == 1

    def add_all(self, values: Iterable[Value]) -> int:
        """Keep many values in one transaction; the number that were new."""
        if isinstance(values, Sequence):
            return self.outlast(lambda: self._add_all(values))
        return self._add_all(values)

    def add_first(self, values: Sequence[Value]) -> int:
        """Keep those values whose place nobody has taken, and no other: of two workers' verdicts on one place, one."""
        return self.outlast(lambda: self._add_all(values, first=True))

    def _add_all(self, values: Iterable[Value], *, first: bool = False) -> int:
        new = 0
        with self.transaction() as connection:
            stream = iter(values)
            while chunk := list(islice(stream, _CHUNK)):
                for shelf, rows in _by_shelf(chunk):
                    if "place" in shelf.columns:
                        _put_in_place(connection, shelf, rows, first=first)
                    new += self._insert(connection, shelf, rows)
        return new

    def _insert(self, connection: Connection, shelf: Shelf[Any], rows: dict[str, Any]) -> int:
        table = shelf.table
        known = connection.execute(select(table.c.key, table.c.digest).where(table.c.key.in_(rows))).all()
        for key, digest in known:
            if rows.pop(key)["digest"] != digest:
                raise Conflict(shelf.type.__name__, key)
        if rows:
            connection.execute(self.insert_ignoring(shelf, connection), list(rows.values()))
            if any(row.get("place") for row in rows.values()):  # of two writers at once, the first has the place
                rows = dict.fromkeys(connection.execute(select(table.c.key).where(table.c.key.in_(rows))).scalars())
            if (written := self._written.get()) is not None:
                written.note(table.name, rows)
        return len(rows)

    def insert_ignoring(self, shelf: Shelf[Any], connection: Connection) -> Any:
        """An insert that lets the first of two simultaneous writers of one content win."""
        dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
        return dialect.insert(shelf.table).on_conflict_do_nothing()

    @lasting
    def get(self, kind: type[V], key: str) -> V:
        """The value kept under a key, or `UnknownName`."""
        shelf = shelf_of(kind)
        with self.glance() as connection:
            body = connection.execute(select(shelf.table.c.body).where(shelf.table.c.key == key)).scalar()
        if body is None:
            raise UnknownName(kind.__name__.lower(), key, fix="it is not in this workspace")
        return kind.model_validate_json(body)

    @lasting
    def get_all(self, kind: type[V], keys: Sequence[str]) -> list[V]:
        """The values kept under these keys, in their order, or `UnknownName` for the first that is not there."""
        shelf, found = shelf_of(kind), dict[str, V]()
        for start in range(0, len(keys), _CHUNK):
            wanted = shelf.table.c.key.in_(keys[start : start + _CHUNK])
            with self.glance() as connection:
                rows = connection.execute(select(shelf.table.c.key, shelf.table.c.body).where(wanted)).all()
            found |= {row.key: kind.model_validate_json(row.body) for row in rows}
        if missing := next((key for key in keys if key not in found), None):
            raise UnknownName(kind.__name__.lower(), missing, fix="it is not in this workspace")
        return [found[key] for key in keys]

    @lasting
    def has(self, kind: type[Value], key: str) -> bool:
        shelf = shelf_of(kind)
        with self.glance() as connection:
            return connection.execute(select(shelf.table.c.seq).where(shelf.table.c.key == key)).first() is not None

    @lasting
    def find(self, kind: type[V], **columns: Any) -> list[V]:
        """Values whose search columns equal (or, for a sequence, are among) the given ones, oldest first."""
        with self.glance() as connection:
            bodies = connection.execute(_bodies(shelf_of(kind), columns)).scalars().all()
        return [kind.model_validate_json(body) for body in bodies]

    @lasting
    def newest(self, kind: type[V], **columns: Any) -> V | None:
        """The value kept last among those `find` would give."""
        shelf = shelf_of(kind)
        query = select(shelf.table.c.body).where(*_conditions(shelf, columns))
        with self.glance() as connection:
            body = connection.execute(query.order_by(shelf.table.c.seq.desc()).limit(1)).scalar()
        return None if body is None else kind.model_validate_json(body)

    def each(self, kind: type[V], **columns: Any) -> Iterator[V]:
        """Like `find`, one at a time: for what does not fit in memory."""
        query = _bodies(shelf_of(kind), columns)
        with self.reading() as connection:
            # Of the query, not of the connection: inside a transaction the connection goes on to write.
            for body in connection.execute(query.execution_options(yield_per=1000)).scalars():
                yield kind.model_validate_json(body)

    @lasting
    def count(self, kind: type[Value], **columns: Any) -> int:
        shelf = shelf_of(kind)
        query = select(func.count()).select_from(shelf.table).where(*_conditions(shelf, columns))
        with self.glance() as connection:
            return int(connection.execute(query).scalar_one())


def _by_shelf(values: Sequence[Value]) -> Iterator[tuple[Shelf[Any], dict[str, dict[str, Any]]]]:
    grouped: dict[type[Value], dict[str, dict[str, Any]]] = {}
    for value in values:
        shelf = shelf_of(type(value))
        row = shelf.row(value)
        kept = grouped.setdefault(type(value), {}).setdefault(row["key"], row)
        if kept["digest"] != row["digest"]:
            raise Conflict(type(value).__name__, row["key"])
    for kind, rows in grouped.items():
        yield shelf_of(kind), rows


def _put_in_place(connection: Connection, shelf: Shelf[Any], rows: dict[str, dict[str, Any]], *, first: bool) -> None:
    """Leave out, or keep without a place, as surplus, what comes second to a place."""
    table = shelf.table
    wanted = [row["place"] for row in rows.values() if row["place"]]
    taken: dict[str, str] = {}
    if wanted:
        found = connection.execute(select(table.c.place, table.c.key).where(table.c.place.in_(wanted)))
        taken = {row.place: row.key for row in found}
    for key, row in list(rows.items()):
        if row["place"] and taken.setdefault(row["place"], key) != key:
            if first:
                del rows[key]
            else:
                row["place"] = None


def _bodies(shelf: Shelf[Any], columns: dict[str, Any]) -> Select[Any]:
    return select(shelf.table.c.body).where(*_conditions(shelf, columns)).order_by(shelf.table.c.seq)


def _conditions(shelf: Shelf[Any], columns: dict[str, Any]) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    for name, wanted in columns.items():
        if name not in shelf.columns:
            raise UnknownName(f"search column of {shelf.table.name}", name, known=sorted(shelf.columns))
        column = shelf.table.c[name]
        found.append(
            column.in_(list(wanted)) if isinstance(wanted, list | tuple | set | frozenset) else column == wanted
        )
    return found
