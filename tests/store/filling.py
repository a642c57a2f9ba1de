"""A workspace with rows in every table, made by the code of this version.

What it leaves is kept beside each schema (tests/data/schema/NNNN.rows.json) when the next one is made, so that
upgrading is tested with rows that the older code itself has written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Table, func, select

from guildhall.domain.halls import Member, Role
from guildhall.grading.people import Roster
from guildhall.store import audit as log
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES
from guildhall.store.tables import metadata
from tests.store.judged import world
from tests.strategies import STRATEGIES

EACH = 3
"""Values of each kind."""
Rows = dict[str, list[dict[str, Any]]]


def fill(store: Store) -> None:
    """Values on every shelf, people on the roster, an honest audit log, and something in every other table."""
    for shelf in SHELVES:
        store.add_all(_drawn(STRATEGIES[shelf.type]))
    store.add_all(world())
    roster = Roster(store, pepper=b"a key of the workspace")
    for number in range(2):
        member = Member(
            id=f"p-{number}", code_name=f"grader-{number}", role=Role.GRADER, employer_mark=f"{number:064x}"
        )
        roster.invite(member, personal={"name": f"Person {number}", "email": f"p{number}@example.org"})
    for number in range(EACH):
        log.record(store, at=float(number), actor="p-0", action="look", subject=f"s-{number}", facts={"n": number})
    with store.transaction() as connection:
        for table in metadata.sorted_tables:
            if connection.execute(select(func.count()).select_from(table)).scalar_one() == 0:
                connection.execute(table.insert().values(_row(connection, table)))


def _drawn(strategy: SearchStrategy[Any]) -> list[Any]:
    found: dict[str, Any] = {}

    @settings(
        max_examples=EACH,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(value: Any) -> None:
        found.setdefault(getattr(value, "key", None) or value.content_digest(), value)

    draw()
    return list(found.values())


def _row(connection: Connection, table: Table) -> dict[str, Any]:
    """Any row that the table takes; a reference leads to a row that is there."""
    return {column.name: _value(connection, column) for column in table.columns if column.autoincrement is not True}


def _value(connection: Connection, column: Column[Any]) -> Any:
    for reference in column.foreign_keys:
        return connection.execute(select(reference.column).limit(1)).scalar_one()
    if isinstance(column.type, Boolean):
        return True
    if isinstance(column.type, Integer):
        return 7
    if isinstance(column.type, Float):
        return 1_700_000_000.25
    if isinstance(column.type, LargeBinary):
        return b"\x00\xffbytes"
    length = getattr(column.type, "length", None)
    return f"{column.name} of {column.table.name}"[:length] if length else "{}"


def rows_of(connection: Connection, tables: Mapping[str, Table]) -> Rows:
    """Every row of the tables, as JSON can hold it; sorted, so that two databases can be compared."""
    found: Rows = {}
    for name, table in sorted(tables.items()):
        rows = connection.execute(select(table)).mappings()
        found[name] = sorted(({key: _plain(value) for key, value in row.items()} for row in rows), key=repr)
    return found


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes | memoryview) else value


def put_rows(connection: Connection, tables: Mapping[str, Table], rows: Rows) -> None:
    """Put kept rows into a database of the same schema."""
    for name, table in tables.items():
        for row in rows.get(name, []):
            connection.execute(table.insert().values({key: _typed(table.c[key], value) for key, value in row.items()}))
        numbered = next((table.c[one] for one in ("seq", "code") if one in table.c), None)
        if connection.dialect.name == "postgresql" and numbered is not None:
            # Rows brought their numbers along; the next one goes on from there, as it would have.
            counter = func.pg_get_serial_sequence(name, numbered.name)
            connection.execute(select(func.setval(counter, func.coalesce(func.max(numbered), 1))))


def _typed(column: Column[Any], value: Any) -> Any:
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return bool(value) if isinstance(column.type, Boolean) and value is not None else value
