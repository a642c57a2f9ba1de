"""Some fields of many values, column by column, without making the values: how a million judgments are read.

The database takes the fields out of the kept JSON and hands over thousands of rows as one, a list for each column.
So it works on by itself while Python works on what came before, and Python never meets a row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import JSON, ColumnElement, Select, Table, Text, cast, func, select, type_coerce

from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

ROWS_A_CHUNK = 20_000
READERS = 2
"""Chunks the database works on side by side."""
Field = tuple[type, str]
"""What a field is wanted as and its dotted path: a `str` may be asked for a list or an object, and is its JSON."""
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
            words = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
            wanted = {one.name: within.c[one.name] for one in named}
            wanted |= {name: words.field(within.c.body, *field) for name, field in fields.items()}
            lists = [type_coerce(words.listed(one), JSON) for one in wanted.values()]
            found = connection.execute(select(*lists)).one()
        return {name: tuple(cells or ()) for name, cells in zip(wanted, found, strict=True)}

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


class _Words(NamedTuple):
    """How a database says it: take a field out of kept JSON; make one list of a column."""

    field: Callable[[ColumnElement[str], type, str], ColumnElement[Any]]
    listed: Callable[[ColumnElement[Any]], ColumnElement[Any]]


def _field_in_sqlite(body: ColumnElement[str], python: type, path: str) -> ColumnElement[Any]:
    place = "$" + "".join(f'."{key}"' for key in path.split("."))
    if python is str:
        return func.json_extract(body, place, type_=Text).concat("")  # no longer known as JSON, so a list stays a text
    return body.op("->")(place)  # numbers in the very digits that were kept


def _field_in_postgresql(body: ColumnElement[str], python: type, path: str) -> ColumnElement[Any]:
    field = cast(body, JSON)[tuple(path.split("."))]
    return type_coerce(field.as_string(), Text) if python is str else field


_SQLITE = _Words(_field_in_sqlite, func.json_group_array)
_POSTGRESQL = _Words(_field_in_postgresql, func.json_agg)
