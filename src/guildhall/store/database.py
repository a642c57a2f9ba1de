"""Opening a database the way Guildhall needs it: durable, with foreign keys, and honest about its schema and faults.

What an everyday fault of a database raises is an error of ours that names the cause: see `fault_of`.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Engine, Table, cast, create_engine, event, func, text
from sqlalchemy import Float as FloatType
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DisconnectionError

from guildhall.errors import (
    DatabaseAway,
    DatabaseFault,
    DatabaseFull,
    DatabaseRefused,
    InputError,
    MissingTool,
    NoConnectionLeft,
    NoSchema,
    SchemaMismatch,
    StoreError,
)
from guildhall.store.verdicts import made, rebuild_on

HEAD = "0015"
"""The schema this version writes; a test holds it equal to the newest migration."""
PATIENCE_S = 120.0
"""How long work that goes on for hours waits for a database that restarts; a short command does not wait."""
_PAUSE_S = 1.0
_ANSWER_S = 10
"""How long a server may take to let us in."""
_TRUSTED_S = 1.0
"""How long after its last use a connection to a server is taken to be alive still."""
_FEW_BYTES = 1 << 20
PATIENCE_MS = 30_000
"""How long a writer waits for others, and whoever erases for readers."""
logger = logging.getLogger(__name__)


def open_database(url: str, *, patience_s: float = 0.0, connections: int | None = None) -> Engine:
    """An engine for a SQLite file or a PostgreSQL server, which waits so long for one that is away.

    `connections` bounds what this process holds of a server; it keeps one open. Without it, ten to thirty.
    """
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{backend} databases are not supported; give a sqlite:/// or postgresql:// URL")
    try:
        engine = (
            _sqlite(url)
            if backend == "sqlite"
            else _postgresql(parsed.set(drivername="postgresql+psycopg"), connections)
        )
    except ModuleNotFoundError as error:
        raise MissingTool(
            "psycopg", needed_for="PostgreSQL", fix="install it with `pip install 'guildhall[postgres]'`"
        ) from error

    @event.listens_for(engine, "handle_error")
    def named(context: ExceptionContext) -> DatabaseFault | None:
        return fault_of(context.original_exception, shown_url(url))

    @event.listens_for(engine, "do_connect")
    def patient(dialect: Any, _record: Any, given: Any, named: Any) -> Any:
        return waiting_for(lambda: dialect.connect(*given, **named), url, patience_s)

    return engine


_STATES = {
    "08": DatabaseAway,
    "28": DatabaseRefused,
    "3D": DatabaseRefused,
    "42501": DatabaseRefused,
    "42P01": NoSchema,
    "53100": DatabaseFull,
    "53300": NoConnectionLeft,
    "57P": DatabaseAway,
    "25006": DatabaseRefused,
    "58030": DatabaseFault,
}
"""SQLSTATE, or its beginning, and what it means."""
_WORDS = {
    "connection slots": NoConnectionLeft,
    "too many": NoConnectionLeft,
    "authentication": DatabaseRefused,
    "no password supplied": DatabaseRefused,
    "does not exist": DatabaseRefused,
    "pg_hba.conf": DatabaseRefused,
    "not permitted": DatabaseRefused,
    "permission denied": DatabaseRefused,
}
"""Before a session begins the driver knows no SQLSTATE, only the server's words."""
_SQLITE = {
    "SQLITE_FULL": DatabaseFull,
    "SQLITE_BUSY": DatabaseAway,
    "SQLITE_CANTOPEN": DatabaseRefused,
    "SQLITE_READONLY": DatabaseRefused,
    "SQLITE_PERM": DatabaseRefused,
    "SQLITE_IOERR": DatabaseFault,
    "SQLITE_NOTADB": DatabaseFault,
    "SQLITE_CORRUPT": DatabaseFault,
}


def fault_of(error: BaseException, url: str) -> DatabaseFault | None:
    """What kept a database from doing its part, from what its driver raised; None for what is no everyday fault."""
    if isinstance(error, sqlite3.Error):
        return _sqlite_fault(error, url)
    if type(error).__module__.partition(".")[0] != "psycopg":
        return None
    state, said = getattr(error, "sqlstate", None) or "", str(error)
    kind = next((kind for known, kind in _STATES.items() if state.startswith(known)), None)
    if kind is None and not state and type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        kind = next((kind for words, kind in _WORDS.items() if words in said), DatabaseAway)
    return None if kind is None else kind(url, _shortly(said))


def _sqlite_fault(error: sqlite3.Error, url: str) -> DatabaseFault | None:
    name, said = getattr(error, "sqlite_errorname", ""), str(error)
    if "no such table" in said:
        return NoSchema(url, said)
    kind = next((kind for known, kind in _SQLITE.items() if name.startswith(known)), None)
    file = make_url(url).database
    if kind is DatabaseFault and file and shutil.disk_usage(Path(file).parent).free < _FEW_BYTES:
        kind = DatabaseFull  # what cannot be made larger beside the file is told as an error of reading and writing
    return None if kind is None else kind(url, said)


def _shortly(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[0].removeprefix("connection failed: ")[:200] if lines else ""


def waiting_for(connect: Callable[[], Any], url: str, patience_s: float) -> Any:
    """What `connect` gives; a database that is away, or has no connection left, is waited for, and that is said."""
    began, told = time.monotonic(), False
    while True:
        try:
            got = connect()
        except Exception as error:
            fault = fault_of(error, shown_url(url))
            if not isinstance(fault, DatabaseAway | NoConnectionLeft) or time.monotonic() - began >= patience_s:
                raise
            if not told:
                logger.warning("%s; waiting for it up to %.0f s", fault, patience_s)
            told = True
            time.sleep(_PAUSE_S)
            continue
        if told:
            logger.warning("the database answers again after %.0f s", time.monotonic() - began)
        return got


@contextmanager
def naming_faults(engine: Engine) -> Iterator[None]:
    """For work on a driver's own connection: its everyday faults leave as errors of ours too."""
    try:
        yield
    except Exception as error:
        if (fault := fault_of(error, _shown(engine))) is None:
            raise
        raise fault from error


def clock(connection: Connection) -> ColumnElement[float]:
    """The database's own time, in seconds since 1970: the one clock that all workers share."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now", type_=FloatType) - 2440587.5) * 86400.0
    return cast(func.extract("epoch", func.clock_timestamp()), FloatType)


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


def _postgresql(url: URL, connections: int | None) -> Engine:
    # The connection used last is taken first: under load the same few stay in use, and need no look.
    engine = create_engine(
        url,
        connect_args={} if "connect_timeout" in url.query else {"connect_timeout": _ANSWER_S},
        pool_size=1 if connections else 10,
        max_overflow=connections - 1 if connections else 20,
        pool_use_lifo=True,
        hide_parameters=True,
    )

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


def _shown(engine: Engine) -> str:
    return shown_url(engine.url.set(drivername=engine.url.get_backend_name()).render_as_string(hide_password=False))


def revision_of(engine: Engine) -> str | None:
    """The schema revision the database is at; None when it has none, and an error that says so when it is away."""
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except NoSchema:
        return None


def require_head(engine: Engine) -> None:
    found = revision_of(engine)
    if found is None:
        raise NoSchema(_shown(engine))
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
