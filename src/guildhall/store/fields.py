"""Some fields of many values, column by column, without making the values: how a million judgments are read.

The database takes the fields out of the kept JSON and hands over thousands of rows as one, a list for each column.
So it works on by itself while Python works on what came before, and Python never meets a row.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Select, Subquery, Table, Text, cast, func, select, type_coerce

from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

ROWS_A_CHUNK = 20_000
READERS = 2
"""Chunks the database works on side by side."""


class JsonText(str):
    """A list or an object as its JSON, unread: for what is told apart more often than it is looked into."""

    __slots__ = ()


Field = tuple[type, str]
"""What a field is wanted as, and its dotted path."""
Chunk = dict[str, tuple[Any, ...]]


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
    rows_a_chunk: int = ROWS_A_CHUNK,
) -> Iterator[Chunk]:
    """Chunks of columns by name, oldest rows first; an absent field is None.

    `columns` are columns of the shelf itself (`seq`, `key`, and those one searches by), or labelled ones of the shelf
    they are read `along`. `narrowed` adds conditions to the query. Chunks have about `rows_a_chunk` rows.
    """
    table = shelf_of(kind).table
    guide = table if along is None else along.table
    named = [table.c[one] if isinstance(one, str) else one for one in columns]
    rows = narrowed(select(*named, table.c.body.label("body")).order_by(guide.c.seq, table.c.seq))
    ends: Select[Any] = select(func.min(guide.c.seq), func.max(guide.c.seq))
    if along is None:
        ends = narrowed(ends)
    else:
        ends, rows = ends.where(along.within), rows.join(along.table, along.joined).where(along.within)

    def read(span: tuple[int, int]) -> Chunk:
        within = rows.where(guide.c.seq >= span[0], guide.c.seq < span[1]).subquery()
        with store.reading() as connection:
            taken = _taken_in_sqlite if connection.dialect.name == "sqlite" else _taken_in_postgresql
            columns_and_cells = taken(connection, within, [one.name for one in named], fields)
        return dict(zip([*(one.name for one in named), *fields], columns_and_cells, strict=True))

    spans = _spans(store, ends, guide, table, rows_a_chunk)
    for chunk in _ahead(read, spans, beside=not store.in_transaction):
        if any(chunk.values()):
            yield chunk


def _spans(store: Store, ends: Select[Any], guide: Table, table: Table, rows_a_chunk: int) -> list[tuple[int, int]]:
    """Spans between the guiding shelf's row numbers `ends` that hold about so many values of `table` each."""
    with store.reading() as connection:
        first, last = connection.execute(ends).one()
        # A shelf's last row number is about its size, and costs no counting.
        guides, values = (connection.execute(select(func.max(one.c.seq))).scalar() or 1 for one in (guide, table))
    if first is None:
        return []
    step = max(1, rows_a_chunk * guides // values)
    return [(start, start + step) for start in range(first, last + 1, step)]


def _ahead(
    read: Callable[[tuple[int, int]], Chunk], spans: Sequence[tuple[int, int]], *, beside: bool
) -> Iterator[Chunk]:
    """What is read of each span, in order; where there are several, a few are read ahead on other threads."""
    if len(spans) < 2 or not beside:  # a transaction's own rows are seen on its own connection only
        yield from map(read, spans)
        return
    with ThreadPoolExecutor(READERS) as pool:
        waiting: deque[Future[Chunk]] = deque()
        for span in spans:
            waiting.append(pool.submit(read, span))
            if len(waiting) > READERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _taken_in_sqlite(
    connection: Connection, rows: Subquery, names: Sequence[str], fields: Mapping[str, Field]
) -> list[tuple[Any, ...]]:
    """Most fields of a row are taken at once, as a list in JSON, and the lists of all rows are one text."""
    texts = [_place(path) for python, path in fields.values() if python is JsonText]
    together = [_place(path) for python, path in fields.values() if python is not JsonText]
    # A list is what two places or more give, and a row without one would be missed: so one place is nowhere.
    lists = func.group_concat(func.json_extract(rows.c.body, *together, "$.nowhere"))
    wanted: list[ColumnElement[Any]] = [rows.c[name] for name in names]
    # With something added it is no longer known as JSON, and stays a text.
    wanted += [func.json_extract(rows.c.body, place, type_=Text).concat("") for place in texts]
    *columns, cells = connection.execute(select(*map(func.json_group_array, wanted), lists)).one()
    found = [tuple(json.loads(column)) for column in columns]
    plain, unread = found[: len(names)], iter(found[len(names) :])
    read = iter(list(zip(*json.loads(f"[{cells or ''}]"), strict=True)) or [()] * len(together))
    return [*plain, *(next(unread if python is JsonText else read) for python, _ in fields.values())]


def _place(path: str) -> str:
    return "$" + "".join(f'."{key}"' for key in path.split("."))


def _taken_in_postgresql(
    connection: Connection, rows: Subquery, names: Sequence[str], fields: Mapping[str, Field]
) -> list[tuple[Any, ...]]:
    wanted: list[ColumnElement[Any]] = [rows.c[name] for name in names]
    for python, path in fields.values():
        field = cast(rows.c.body, JSON)[tuple(path.split("."))]
        wanted.append(type_coerce(field.as_string(), Text) if issubclass(python, str) else field)
    found = connection.execute(select(*(type_coerce(func.json_agg(one), JSON) for one in wanted))).one()
    return [tuple(column or ()) for column in found]
