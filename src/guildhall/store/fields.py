"""Some fields of many values, column by column, without making the values: how a million judgments are read.

The database takes the fields out of the kept JSON and hands over thousands of rows as one, a list for each column.
So it works on by itself while Python works on what came before, and Python never meets a row.
"""

from __future__ import annotations

import json
from binascii import unhexlify
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import JSON, ColumnElement, Connection, Select, Subquery, Table, Text, cast, func, select, type_coerce

from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

ROWS_A_CHUNK = 20_000
READERS = 1
"""Threads that read ahead. SQLite's threads wait for each other's memory, so that two cost more than they win."""


class JsonText(str):
    """A list or an object as its JSON, unread: for what is told apart more often than it is looked into.

    Of several paths it is the list of what stands there, so that what takes few values together is read once for each.
    """

    __slots__ = ()


class Digests(NamedTuple):
    """Lists of digests, row after row: how many each row has, and the bytes of all of them."""

    sizes: tuple[int, ...]
    joined: bytes


Field = tuple[type, str | tuple[str, ...]]
"""What a field is wanted as, and its dotted path; a `JsonText` may have several."""
Chunk = dict[str, Any]
"""Columns by name: tuples, and `Digests` where these were wanted."""


@dataclass(frozen=True)
class Along:
    """Another shelf in whose order values are read: the rows `within` it, each with the values `joined` to it."""

    table: Table
    joined: ColumnElement[bool]
    within: ColumnElement[bool]


def read_fields(
    store: Store,
    kind: type[Value],
    fields: Mapping[str, Field],
    *,
    columns: Sequence[str | ColumnElement[Any]] = (),
    along: Along | None = None,
    narrowed: Callable[[Select[Any]], Select[Any]] = lambda query: query,
    between: tuple[int, int] | None = None,
    rows_a_chunk: int = ROWS_A_CHUNK,
) -> Iterator[Chunk]:
    """Chunks of columns by name, oldest rows first; an absent field is None.

    `columns` are columns of the shelf itself (`seq`, `key`, and those one searches by), or labelled ones of the shelf
    they are read `along`. `narrowed` adds conditions to the query; `between` are the first and the last row number,
    which are else found first. Chunks have about `rows_a_chunk` rows.
    """
    table = shelf_of(kind).table
    guide = table if along is None else along.table
    named = [table.c[one] if isinstance(one, str) else one for one in columns]
    names = [one.name for one in named]
    rows = narrowed(select(*named, table.c.body.label("body")).order_by(guide.c.seq, table.c.seq))
    ends: Select[Any] = select(func.min(guide.c.seq), func.max(guide.c.seq))
    if along is None:
        ends = narrowed(ends)
    else:
        ends, rows = ends.where(along.within), rows.join(along.table, along.joined).where(along.within)

    def read(span: tuple[int, int]) -> Chunk | None:
        within = rows.where(guide.c.seq >= span[0], guide.c.seq < span[1]).subquery()
        with store.reading() as connection:
            taken = _taken_in_sqlite if connection.dialect.name == "sqlite" else _taken_in_postgresql
            found = taken(connection, within, names, _Asked.of(fields))
        return found and {name: found[name] for name in (*names, *fields)}

    spans = _spans(store, ends, guide, table, between, rows_a_chunk)
    for chunk in _ahead(read, spans, beside=not store.in_transaction):
        if chunk is not None:
            yield chunk


def _spans(
    store: Store, ends: Select[Any], guide: Table, table: Table, between: tuple[int, int] | None, rows_a_chunk: int
) -> list[tuple[int, int]]:
    """Spans between two of the guiding shelf's row numbers that hold about so many values of `table` each."""
    with store.reading() as connection:
        first, last = between or connection.execute(ends).one()
        # A shelf's last row number is about its size, and costs no counting.
        guides, values = (connection.execute(select(func.max(one.c.seq))).scalar() or 1 for one in (guide, table))
    if first is None:
        return []
    step = max(1, rows_a_chunk * guides // values)
    return [(start, min(start + step, last + 1)) for start in range(first, last + 1, step)]


def _ahead(
    read: Callable[[tuple[int, int]], Chunk | None], spans: Sequence[tuple[int, int]], *, beside: bool
) -> Iterator[Chunk | None]:
    """What is read of each span, in order; where there are several, a few are read ahead on other threads."""
    if len(spans) < 2 or not beside:  # a transaction's own rows are seen on its own connection only
        yield from map(read, spans)
        return
    with ThreadPoolExecutor(READERS) as pool:
        waiting: deque[Future[Chunk | None]] = deque()
        for span in spans:
            waiting.append(pool.submit(read, span))
            if len(waiting) > READERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _taken_in_sqlite(connection: Connection, rows: Subquery, names: Sequence[str], asked: _Asked) -> Chunk | None:
    """Most fields of a row are taken at once, as a list in JSON, and the lists of all rows are one text."""

    def taken(*paths: str) -> ColumnElement[Any]:
        return func.json_extract(rows.c.body, *map(_place, paths), type_=Text)

    # A list is what two places or more give, and a row without one would be missed: so one place is nowhere.
    together = func.group_concat(taken(*asked.plain.values(), "nowhere"))
    unread = [func.group_concat(func.coalesce(taken(*paths), ""), "\n") for paths in asked.texts.values()]
    digests = [func.group_concat(taken(path), "") for path in asked.digests.values()]
    sizes = [
        func.json_group_array(func.json_array_length(rows.c.body, _place(path))) for path in asked.digests.values()
    ]
    columns = [func.json_group_array(rows.c[name]) for name in names]
    n_rows, cells, *found = connection.execute(
        select(func.count(), together, *columns, *sizes, *unread, *digests)
    ).one()
    if not n_rows:
        return None
    found[: len(names) + len(sizes)] = map(json.loads, found[: len(names) + len(sizes)])
    return asked.chunk(names, json.loads(f"[{cells or ''}]"), found)


def _place(path: str) -> str:
    return "$" + "".join(f'."{key}"' for key in path.split("."))


def _taken_in_postgresql(connection: Connection, rows: Subquery, names: Sequence[str], asked: _Asked) -> Chunk | None:
    body = cast(rows.c.body, JSON)

    def taken(path: str) -> ColumnElement[Any]:
        return body[tuple(path.split("."))]

    def together(paths: Iterable[str]) -> ColumnElement[Any]:
        return func.json_build_array(*map(taken, paths), type_=JSON)

    unread = [
        func.string_agg(func.coalesce(cast(taken(*paths) if len(paths) == 1 else together(paths), Text), ""), "\n")
        for paths in asked.texts.values()
    ]
    digests = [func.string_agg(cast(taken(path), Text), "") for path in asked.digests.values()]
    sizes = [type_coerce(func.json_agg(func.json_array_length(taken(path))), JSON) for path in asked.digests.values()]
    columns = [type_coerce(func.json_agg(rows.c[name]), JSON) for name in names]
    cells = type_coerce(func.json_agg(together(asked.plain.values())), JSON)
    n_rows, read, *found = connection.execute(select(func.count(), cells, *columns, *sizes, *unread, *digests)).one()
    return asked.chunk(names, read, found) if n_rows else None


@dataclass(frozen=True)
class _Asked:
    """The fields asked for, by how they are taken."""

    plain: dict[str, str]
    texts: dict[str, tuple[str, ...]]
    digests: dict[str, str]

    @classmethod
    def of(cls, fields: Mapping[str, Field]) -> _Asked:
        asked = cls({}, {}, {})
        for name, (python, path) in fields.items():
            paths = (path,) if isinstance(path, str) else path
            if python is JsonText:
                asked.texts[name] = paths
            else:
                [(asked.digests if python is Digests else asked.plain)[name]] = paths
        return asked

    def chunk(self, names: Sequence[str], cells: Sequence[Sequence[Any]], found: Sequence[Any]) -> Chunk:
        """Columns by name from what the database gave: the plain fields of each row, then each other column whole."""
        made: Chunk = dict(zip(self.plain, zip(*cells, strict=True), strict=False))
        rest = iter(found)
        made |= {name: tuple(next(rest)) for name in names}
        sizes = {name: tuple(next(rest)) for name in self.digests}
        made |= {name: tuple(text or None for text in next(rest).split("\n")) for name in self.texts}
        made |= {name: Digests(sizes[name], _unhexed(next(rest))) for name in self.digests}
        return made


def _unhexed(lists: str) -> bytes:
    """The bytes of all digests in lists of them."""
    return unhexlify(lists.encode().translate(None, b'[]", '))
