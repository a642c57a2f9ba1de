"""Every everyday fault of a database, a disk or a port has a sentence, an exit code and an advice of its own."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from guildhall.cli import main as command_line
from guildhall.domain.tasks import Task
from guildhall.engine.calls import Call
from guildhall.engine.oneshot import run_calls
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.engine.terms import Terms
from guildhall.errors import DatabaseAway, DatabaseFull, GuildhallError
from guildhall.store import database as databases
from guildhall.store.ledger import Ledger
from guildhall.store.records import Store
from guildhall.store.workspace import SETTINGS, Workspace
from tests.postgres import Server, private_postgres

Told = Callable[..., tuple[int, str]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    """Run the command line in this process: its exit code, and the one line on standard error."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["guildhall", *words])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        said = capsys.readouterr().err
        assert "Traceback" not in said and said.count("\n") == 1, said
        return int(ended.value.code or 0), said

    return run


def at(folder: Path, url: str) -> str:
    """A workspace folder that says its database is at a URL."""
    folder.mkdir(exist_ok=True)
    (folder / SETTINGS).write_text(f'[database]\nurl = "{url}"\n')
    return str(folder)


def closed_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def guarded(postgres: Server) -> Iterator[str]:
    """A database that a role without rights, without connections and with a password would like to enter."""
    url = postgres.new_database()
    rules = postgres.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"host all secretive 127.0.0.1/32 scram-sha-256\n{before}")
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        for role in ("secretive PASSWORD 'right'", "crowded CONNECTION LIMIT 0", "powerless"):
            connection.execute(f"CREATE ROLE {role.partition(' ')[0]} LOGIN {role.partition(' ')[2]}")
        connection.execute("SELECT pg_reload_conf()")
    yield url
    rules.write_text(before)
    postgres.drop(url)
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP ROLE secretive, crowded, powerless")
        connection.execute("SELECT pg_reload_conf()")


def as_role(url: str, role: str) -> str:
    return url.replace("//guildhall@", f"//{role}@")


def test_each_reason_why_postgresql_does_not_serve_is_told_apart(guarded: str, tmp_path: Path, told: Told) -> None:
    nobody = f"postgresql://guildhall@127.0.0.1:{closed_port()}/hall"
    cases = {
        nobody: (31, "does not answer", "see that it runs"),
        as_role(guarded, "crowded"): (33, "no connection left", "max_connections"),
        as_role(guarded, "secretive:wrong"): (34, "password authentication failed", "PGPASSWORD"),
        as_role(guarded, "nobody_known"): (34, 'role "nobody_known" does not exist', "correct the user"),
        f"{guarded}_elsewhere": (34, "does not exist", "correct the user"),
        guarded: (35, "holds no tables of Guildhall", "init --upgrade"),
    }
    said = {url: told("sample", "status", "-w", at(tmp_path / "w", url)) for url in cases}
    for url, (code, what, advice) in cases.items():
        assert said[url][0] == code and what in said[url][1] and advice in said[url][1], said[url]
        assert "wrong@" not in said[url][1] and ":wrong" not in said[url][1]
    assert len({line for _, line in said.values()}) == len(cases)


def test_a_schema_that_is_old_is_upgraded_and_one_that_is_newer_asks_for_a_newer_version(
    workspace: Workspace, told: Told
) -> None:
    for revision, advice in (("0001", "init --upgrade"), ("9999", "install the newer version")):
        with workspace.store.engine.connect() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
            connection.commit()
        code, line = told("sample", "status", "-w", str(workspace.path))
        assert code == 36 and f"schema {revision}" in line and advice in line


def test_a_sqlite_file_that_is_none_or_may_not_be_written_is_named(workspace: Workspace, told: Told) -> None:
    file = workspace.path / "guildhall.sqlite"
    workspace.close()
    file.write_bytes(b"no database at all, and longer than a page's head" * 100)
    for left in workspace.path.glob("guildhall.sqlite-*"):
        left.unlink()
    code, line = told("sample", "status", "-w", str(workspace.path))
    assert code == 3 and str(file) in line and "not a database" in line and "backup" in line


def test_a_full_disk_is_told_as_such_by_both_databases(store: Store) -> None:
    with pytest.raises(DatabaseFull, match=r"is full.*make room there") as full, store.transaction() as connection:
        if connection.dialect.name == "sqlite":
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            connection.exec_driver_sql("CREATE TABLE much AS SELECT randomblob(1000000) AS it")
        else:  # as the server says it
            connection.execute(text("DO $$ BEGIN RAISE EXCEPTION 'No space' USING ERRCODE = '53100'; END $$"))
    assert full.value.exit_code == 32


def test_faults_of_the_machine_are_one_line_and_no_traceback(
    workspace: Workspace, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        code, line = told("serve", "-w", str(workspace.path), "--port", port, "--no-worker")
    assert code == 3 and f"127.0.0.1:{port}" in line and "in use" in line and "--port" in line

    def full(*_given: Any, **_named: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/srv/reports")

    monkeypatch.setattr(Workspace, "find", full)
    code, line = told("sample", "status", "-w", str(workspace.path))
    assert code == 3 and "/srv/reports: No space left on device; make room there" in line


def test_a_short_command_says_at_once_that_the_database_is_away_and_long_work_waits_for_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_PAUSE_S", 0.05)
    with private_postgres() as server:
        url = server.new_database()
        with closing(Store.open(_made(url))) as hasty, closing(Store.open(url, patience_s=60)) as patient:
            server.control("-m", "immediate", "-w", "stop")
            with pytest.raises(DatabaseAway):
                hasty.count(Task)
            with caplog.at_level(logging.WARNING):
                starting = threading.Timer(1.0, lambda: server.control("-w", "start"))
                starting.start()
                assert patient.count(Task) == 0
                starting.join()
            assert "waiting for it up to 60 s" in caplog.text and "answers again after" in caplog.text
            server.control("-m", "immediate", "-w", "stop")
            impatient = Store(patient.engine, patience_s=0.0)
            with pytest.raises(GuildhallError, match="does not answer"):
                impatient.outlast(lambda: hasty.count(Task))
            server.control("-w", "start")


def test_a_server_that_is_cut_off_while_a_model_answers_costs_no_answer_and_no_second_call(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    Workspace.create(tmp_path / "hall", database=url).close()
    asked: list[str] = []

    @scripted("cuts-off")
    def cuts_off(turn: Turn) -> Answer:
        asked.append(turn.prompt)
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [url.rpartition("/")[2]]
            )
        return Answer(text=f"answer {len(asked)}")

    calls = [Call.ask("scripted/cuts-off", f"question {number}") for number in range(20)]
    with Workspace.open(tmp_path / "hall", patient=True) as opened:
        answers = run_calls(calls, workspace=opened, terms=Terms(run="r"))
        assert len(answers.replies) == len(calls) == len(asked) and not answers.left
        assert Ledger(opened.store).spent(run="r").usage.calls == len(calls)
    postgres.drop(url)


def _made(url: str) -> str:
    engine = databases.open_database(url)
    databases.upgrade(engine)
    engine.dispose()
    return url
