"""Some fields of many values, column by column, without making the values: how a million judgments are read.

The database takes the fields out of the kept JSON, in the same words on SQLite and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Select, Text, cast, select, type_coerce

from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

ROWS_A_CHUNK = 20_000
Field = tuple[type, str]
"""What a field holds (`str`, `float`, `int` or `bool`; lists and objects are `str`, as JSON) and its dotted path."""


def read_fields(
    store: Store,
    kind: type[Value],
    fields: Mapping[str, Field],
    *,
    columns: Sequence[str] = (),
    narrowed: Callable[[Select[Any]], Select[Any]] = lambda query: query,
    rows_a_chunk: int = ROWS_A_CHUNK,
) -> Iterator[dict[str, tuple[Any, ...]]]:
    """Chunks of columns by name, oldest rows first; an absent field is None.

    `columns` are columns of the shelf itself: `seq`, `key`, and those one searches by. `narrowed` adds conditions to
    the query, and may join and put another order before the rows' own.
    """
    table = shelf_of(kind).table
    with store.reading() as connection:
        body = _as_json(connection, table.c.body)
        taken = [_typed(body[tuple(path.split("."))], python) for python, path in fields.values()]
        query = narrowed(select(*(table.c[name] for name in columns), *taken)).order_by(table.c.seq)
        names = (*columns, *fields)
        rows = connection.execution_options(yield_per=rows_a_chunk).execute(query)
        for chunk in rows.partitions():
            yield dict(zip(names, zip(*chunk, strict=True), strict=True))


def _as_json(connection: Connection, body: ColumnElement[str]) -> ColumnElement[Any]:
    # SQLite keeps JSON as text and would read a cast as one to a number; PostgreSQL needs the cast.
    return type_coerce(body, JSON) if connection.dialect.name == "sqlite" else cast(body, JSON)


def _typed(field: Any, python: type) -> ColumnElement[Any]:
    if python is float:
        return field.as_float()  # type: ignore[no-any-return]
    if python is int:
        return field.as_integer()  # type: ignore[no-any-return]
    if python is bool:
        return field.as_boolean()  # type: ignore[no-any-return]
    return type_coerce(field.as_string(), Text)
