"""The whole database at one moment, as files and back: SQLite by its own backup, PostgreSQL as one COPY a table."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guildhall.errors import InputError, StoreError
from guildhall.store import tables
from guildhall.store.archive import Member
from guildhall.store.database import open_database, revision_of, shown_url, upgrade
from guildhall.store.records import Store

PREFIX = "database/"
SQLITE = f"{PREFIX}guildhall.sqlite"
_CHUNK = 1 << 20


@dataclass
class Snapshot:
    """What was read: its schema, the kind of database, and each table's columns and number of rows as they were."""

    schema: str | None = None
    database: str = ""
    columns: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


def take_snapshot(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    """The name and content of each part, one at a time; a part's file is gone when the next is asked for."""
    taken.schema, taken.database = store.revision(), store.engine.dialect.name
    parts = _from_sqlite if taken.database == "sqlite" else _from_postgres
    for name, file in parts(store, folder, taken):
        yield name, file
        file.unlink()


def _from_sqlite(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    copy = folder / "guildhall.sqlite"
    with closing(sqlite3.connect(str(store.engine.url.database))) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)  # in one step: writers go on in the log beside, and none of what they do gets in
        for table in tables.metadata.sorted_tables:
            counted = f'SELECT count(*) FROM "{table.name}"'  # noqa: S608 - a name of our own schema
            taken.rows[table.name] = target.execute(counted).fetchone()[0]
            taken.columns[table.name] = [column.name for column in table.columns]
    yield SQLITE, copy


def _from_postgres(store: Store, folder: Path, taken: Snapshot) -> Iterator[tuple[str, Path]]:
    connection: Any = store.engine.raw_connection()
    with closing(connection), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # A table comes after those it refers to, so that they are filled before it when they are read back.
        for table in tables.metadata.sorted_tables:
            file = folder / table.name
            taken.columns[table.name] = [column.name for column in table.columns]
            with file.open("wb") as out, cursor.copy(f"COPY {_columns(taken, table.name)} TO STDOUT") as rows:
                for row in rows:
                    out.write(row)
            taken.rows[table.name] = cursor.rowcount
            yield f"{PREFIX}{table.name}.copy", file


def _columns(taken: Snapshot, table: str) -> str:
    return f'"{table}" (' + ", ".join(f'"{name}"' for name in taken.columns[table]) + ")"


def fill_sqlite(parts: Iterable[tuple[str, Member]], folder: Path) -> None:
    """Put the copy of a SQLite database where a workspace's folder keeps it."""
    for name, body in parts:
        if name == SQLITE:
            with (folder / "guildhall.sqlite").open("xb") as out:
                shutil.copyfileobj(body, out, _CHUNK)


def fill_postgres(parts: Iterable[tuple[str, Member]], url: str, taken: Snapshot) -> None:
    """Fill an empty database at the schema of the snapshot, all tables or none."""
    engine = open_database(url)
    try:
        if revision_of(engine) is not None:
            raise InputError(f"{shown_url(url)} is not empty; restore into a new database")
        upgrade(engine, taken.schema or "head")
        connection: Any = engine.raw_connection()
        with closing(connection), connection.cursor() as cursor:
            for name, body in parts:
                if name.startswith(PREFIX):
                    _copy_in(cursor, taken, Path(name).stem, body)
            connection.commit()
    finally:
        engine.dispose()


def _copy_in(cursor: Any, taken: Snapshot, table: str, body: Member) -> None:
    with cursor.copy(f"COPY {_columns(taken, table)} FROM STDIN") as rows:
        for chunk in body.chunks():
            rows.write(chunk)
    if cursor.rowcount != taken.rows[table]:
        raise StoreError(f"{table} took in {cursor.rowcount} rows of {taken.rows[table]}; nothing was restored")
    for numbered in {"seq", "code"} & {*taken.columns[table]}:
        newest = f'(SELECT coalesce(max("{numbered}"), 0) + 1 FROM "{table}")'  # noqa: S608 - names of our own schema
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{numbered}'), {newest}, false)")
