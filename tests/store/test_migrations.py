"""Every schema that was ever written can be brought to today's, on both databases, with its rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import guildhall.store.migrations
from guildhall.store.database import HEAD, open_database, revision_of, upgrade
from guildhall.store.tables import metadata

DUMPS = Path(__file__).parent.parent / "data" / "schema"
VERSIONS = Path(guildhall.store.migrations.__path__[0])


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory(str(VERSIONS)).get_current_head() == HEAD


def test_each_migration_has_a_dump_of_the_schema_before_it() -> None:
    revisions = {script.revision for script in ScriptDirectory(str(VERSIONS)).walk_revisions()}
    for engine in ("sqlite", "postgresql"):
        assert {path.name.split(".")[0] for path in DUMPS.glob(f"*.{engine}.sql")} == revisions - {HEAD}


def test_the_migrations_build_exactly_the_declared_tables(database_url: str) -> None:
    engine = open_database(database_url)
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


@pytest.mark.parametrize("dump", sorted(DUMPS.glob("*.sql")), ids=lambda path: path.name)
def test_an_older_database_upgrades(dump: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if ".sqlite." in dump.name:
        url = f"sqlite:///{tmp_path / 'old.sqlite'}"
        with sqlite3.connect(tmp_path / "old.sqlite") as connection:
            connection.executescript(dump.read_text())
        connection.close()
    else:
        import psycopg

        url = request.getfixturevalue("postgres").new_database()
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(dump.read_text())
    engine = open_database(url)
    upgrade(engine)
    assert revision_of(engine) == HEAD
    engine.dispose()
