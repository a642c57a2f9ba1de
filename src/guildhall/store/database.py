"""Opening a database the way Guildhall needs it: durable, with foreign keys, and honest about its schema."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from math import inf
from typing import Any

from sqlalchemy import Engine, Table, create_engine, event, text
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import DatabaseError, DisconnectionError

from guildhall.errors import InputError, MissingTool, SchemaMismatch, StoreError
from guildhall.store.verdicts import made, rebuild_on

HEAD = "0014"
"""The schema this version writes; a test holds it equal to the newest migration."""
_TRUSTED_S = 1.0
"""How long after its last use a connection to a server is taken to be alive still."""
PATIENCE_MS = 30_000
"""How long a writer waits for others, and whoever erases for readers."""


def open_database(url: str) -> Engine:
    """An engine for a SQLite file or a PostgreSQL server."""
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return _sqlite(url)
    if backend == "postgresql":
        try:
            return _postgresql(parsed.set(drivername="postgresql+psycopg"))
        except ModuleNotFoundError as error:
            raise MissingTool(
                "psycopg", needed_for="PostgreSQL", fix="install it with `pip install 'guildhall[postgres]'`"
            ) from error
    raise InputError(f"{backend} databases are not supported; give a sqlite:/// or postgresql:// URL")


def _sqlite(url: str) -> Engine:
    # Values are kept out of error messages: these end in logs, and values may be personal.
    engine = create_engine(url, connect_args={"timeout": 30, "isolation_level": None}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def durable(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        # What is deleted is overwritten: an erased name must not lie in a free page.
        wishes = (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={PATIENCE_MS}",
            "secure_delete=ON",
        )
        for pragma in wishes:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: upgrading from a read lock half-way can deadlock.
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    # The connection used last is taken first: under load the same few stay in use, and need no look.
    engine = create_engine(url, pool_size=10, max_overflow=20, pool_use_lifo=True, hide_parameters=True)

    @event.listens_for(engine, "checkin")
    def used(_connection: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def alive(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("used_at", inf) < _TRUSTED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error

    return engine


def rewrite(engine: Engine, tables: Iterable[Table]) -> None:
    """Write tables anew, so that what was deleted from them is in no file of the database any more.

    Of SQLite it is the whole file, and the log beside it ends empty. Of a server it is these tables; its own log of
    writes and its backups keep what they hold until they are recycled.
    """
    connection: Any = engine.raw_connection()
    with closing(connection), closing(connection.cursor()) as cursor:
        try:
            if engine.dialect.name == "sqlite":
                cursor.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
                cursor.execute("VACUUM")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                left = bool(cursor.fetchone()[0])
            else:
                connection.driver_connection.autocommit = True
                cursor.execute(f"SET lock_timeout = {PATIENCE_MS}")
                for table in tables:
                    cursor.execute(f'VACUUM FULL "{table.name}"')
                cursor.execute("RESET lock_timeout")
                connection.driver_connection.autocommit = False
                left = False
        except engine.dialect.loaded_dbapi.Error as error:
            raise StoreError(_STILL_THERE) from error
    if left:
        raise StoreError(_STILL_THERE)


_STILL_THERE = (
    "erased, but somebody reads the database and what was erased may still lie in its files; do the same again when "
    "nothing else has it open"
)


def shown_url(url: str) -> str:
    """The URL without its password."""
    return make_url(url).render_as_string(hide_password=True)


def revision_of(engine: Engine) -> str | None:
    """The schema revision the database is at; None when it has none."""
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except DatabaseError:
        return None


def require_head(engine: Engine) -> None:
    found = revision_of(engine)
    if found != HEAD:
        raise SchemaMismatch(found, HEAD)


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the database to a revision; the newest by default, with the table of verdicts made if it never was."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "guildhall.store:migrations")
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        # By the newest code and on the newest schema only: whatever migrations come later, it is made once.
        if revision == "head" and made(connection) is None:
            rebuild_on(connection)
