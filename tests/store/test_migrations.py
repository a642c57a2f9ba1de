"""Every schema that was ever written can be brought to today's, on both databases, with the rows its own code wrote."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, MetaData, event

import guildhall.store.migrations
from guildhall.domain.tasks import Task
from guildhall.store.audit import broken_links, record
from guildhall.store.checking import Fault, _read, _rows, examine_workspace
from guildhall.store.database import HEAD, open_database, revision_of, upgrade
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES
from guildhall.store.tables import metadata
from guildhall.store.verdicts import unlike_rebuild
from guildhall.store.workspace import Workspace
from tests.grading.halls import task
from tests.store.filling import Rows, fill, put_rows, rows_of

DUMPS = Path(__file__).parent.parent / "data" / "schema"
VERSIONS = Path(guildhall.store.migrations.__path__[0])


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory(str(VERSIONS)).get_current_head() == HEAD


@pytest.mark.parametrize("ending", ["sqlite.sql", "postgresql.sql", "rows.json"])
def test_each_migration_has_a_dump_of_the_schema_before_it_and_rows(ending: str) -> None:
    revisions = {script.revision for script in ScriptDirectory(str(VERSIONS)).walk_revisions()}
    assert {path.name.split(".")[0] for path in DUMPS.glob(f"*.{ending}")} == revisions - {HEAD}


def test_the_migrations_build_exactly_the_declared_tables(database_url: str) -> None:
    engine = open_database(database_url)
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


@pytest.fixture(params=sorted(DUMPS.glob("*.sql")), ids=lambda path: str(path.name))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Engine, Rows]]:
    """A database as an older version left it, and the rows in it."""
    dump: Path = request.param
    if ".sqlite." in dump.name:
        url = f"sqlite:///{tmp_path / 'old.sqlite'}"
        with closing(sqlite3.connect(tmp_path / "old.sqlite")) as file:
            file.executescript(dump.read_text())
    else:
        import psycopg

        url = request.getfixturevalue("postgres").new_database()
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(dump.read_text())
    engine = open_database(url)
    rows: Rows = json.loads((DUMPS / f"{dump.name.split('.')[0]}.rows.json").read_text())
    tables = _reflected(engine)
    assert set(tables) == set(rows), "rows were kept for every table of that time"
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        put_rows(connection, tables, rows)
    yield engine, rows
    engine.dispose()


def _reflected(engine: Engine) -> dict[str, Any]:
    """The tables as the database has them, each after those it refers to."""
    found = MetaData()
    found.reflect(engine)
    return {table.name: table for table in found.sorted_tables if table.name != "alembic_version"}


def test_an_older_database_upgrades_keeps_every_row_and_goes_on_being_written_to(old: tuple[Engine, Rows]) -> None:
    engine, rows = old
    upgrade(engine)
    assert revision_of(engine) == HEAD
    with engine.connect() as connection:
        now = rows_of(connection, metadata.tables)
    for table, before in rows.items():
        assert len(now[table]) == len(before)
        columns = set(before[0])
        assert sorted(({name: row[name] for name in columns} for row in now[table]), key=_order) == sorted(
            before, key=_order
        )
    store = Store(engine)
    assert not _unreadable(store)
    assert broken_links(store) == []
    assert list(unlike_rebuild(store)) == []
    for one in now["prepared"]:
        files = json.loads(one["body"])["files"]
        assert one["words"] == sum(file["words"] for file in files)
        assert one["tells"] == len(json.loads(one["body"])["tells"]) + sum(len(file["tells"]) for file in files)
    for member in now["members"]:
        assert member["employer_mark"] == json.loads(member["body"])["employer_mark"]
    store.add(task(77))
    record(store, at=9.0, actor="p-0", action="look", subject="x", facts={})
    assert store.count(Task) == len(rows["tasks"]) + 1 and broken_links(store) == []


def _order(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)


def _unreadable(store: Store) -> list[str]:
    """Records that today's code cannot read, or whose bytes changed."""
    found = (_read(shelf, row) for shelf in SHELVES for row in _rows(store, shelf))
    return [f"{one.subject} {one.what}" for one in found if isinstance(one, Fault)]


def test_an_upgrade_that_fails_half_way_changes_nothing(old: tuple[Engine, Rows]) -> None:
    engine, rows = old
    revision, before = revision_of(engine), _reflected(engine)

    @event.listens_for(engine, "before_cursor_execute")
    def fail(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if f"version_num='{HEAD}'" in statement:
            raise RuntimeError("the power failed")

    with pytest.raises(RuntimeError, match="power"):
        upgrade(engine)
    event.remove(engine, "before_cursor_execute", fail)
    assert revision_of(engine) == revision and set(_reflected(engine)) == set(before)
    with engine.connect() as connection:
        assert {name: len(found) for name, found in rows_of(connection, before).items()} == {
            name: len(kept) for name, kept in rows.items()
        }


def test_the_filling_leaves_no_table_empty(store: Store) -> None:
    fill(store)
    with store.reading() as connection:
        empty = [name for name, rows in rows_of(connection, metadata.tables).items() if not rows]
    assert empty == [], "tests/store/filling.py must write into every table"


def test_a_filled_workspace_passes_no_record_check_by_being_empty(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        fill(workspace.store)
        health = examine_workspace(workspace, files=False)
    assert health.counts["tasks"] > 0 and not [fault for fault in health.faults if fault.check in {"records", "audit"}]
