"""Backups: taken while others write, verified to the last byte, restored whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.errors import CorruptBackup, CorruptBundle, InputError
from guildhall.grading.submitting import submit
from guildhall.store.backup import restore_backup, take_backup
from guildhall.store.checking import examine_workspace
from guildhall.store.hall import members, seats
from guildhall.store.workspace import Workspace
from tests.grading.halls import DESIGN, VERDICT, hall, submissions, task

NewDatabase = Callable[[], str | None]
KEY = b"the key of the web app"


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest) -> NewDatabase:
    if request.param == "sqlite":
        return lambda: None
    server = request.getfixturevalue("postgres")
    return lambda: str(server.new_database())


@pytest.fixture
def used(new_database: NewDatabase, tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "used", database=new_database()) as workspace:
        queue, people = hall(workspace.store, graders=1, tasks=1)
        workspace.store.add_all([task(0), *submissions(0)])
        _deliver(workspace, 0)
        seat = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
        assert seat is not None
        submit(queue, seat, people[0], VERDICT, design=DESIGN, submit_key="k", now=1.0)
        (workspace.path / "web.key").write_bytes(KEY)
        yield workspace


def _deliver(workspace: Workspace, number: int) -> None:
    content = f"deliverable {number}".encode()
    file = FileRef(name="a.txt", size=len(content), digest=workspace.blobs.put(content))
    author = ModelRun(name=f"n-{number}", model="scripted/x")
    workspace.store.add(Submission(task="t-0", author=author, files=(file,)))


def test_a_restored_workspace_holds_everything_and_goes_on_working(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    take_backup(used, tmp_path / "b.tar")
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=new_database()) as again:
        assert examine_workspace(again, now=2.0) == examine_workspace(used, now=2.0)
        assert again.store.find(Judgment) == used.store.find(Judgment)
        with again.store.reading() as connection, used.store.reading() as before:
            for table in (members, seats):
                assert connection.execute(table.select()).all() == before.execute(table.select()).all()
        assert (again.path / "web.key").read_bytes() == KEY
        _deliver(again, 7)
        assert again.store.count(Submission) == used.store.count(Submission) + 1


def test_a_backup_taken_while_others_write_is_of_one_moment(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        number = 1
        while not stop.is_set():
            _deliver(used, number)
            number += 1
            if number == 5:
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    written.wait(30)
    try:
        take_backup(used, tmp_path / "b.tar")
    finally:
        stop.set()
        writer.join()
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=new_database()) as again:
        assert examine_workspace(again, now=2.0).faults == []
        assert 5 <= again.store.count(Submission) <= used.store.count(Submission)


def test_a_changed_or_cut_backup_is_refused_before_anything_is_written(used: Workspace, tmp_path: Path) -> None:
    take_backup(used, tmp_path / "b.tar")
    whole = (tmp_path / "b.tar").read_bytes()
    for broken in (whole[: len(whole) // 2], whole.replace(KEY, b"another key for the web")):
        (tmp_path / "broken.tar").write_bytes(broken)
        with pytest.raises((CorruptBackup, CorruptBundle)):
            restore_backup(tmp_path / "broken.tar", tmp_path / "again")
        assert not (tmp_path / "again").exists()


def test_a_backup_is_for_its_owner_only_and_overwrites_no_workspace(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    take_backup(used, tmp_path / "b.tar")
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="already"):
        restore_backup(tmp_path / "b.tar", used.path, database=new_database())
