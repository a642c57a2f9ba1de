"""Backups: taken while others write, verified to the last byte, restored whole."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import stat
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from typer.testing import CliRunner

import guildhall.store.migrations
from guildhall.cli import backup as backup_cli
from guildhall.cli.backup import name_for, remove_older
from guildhall.domain.authors import ModelRun
from guildhall.domain.halls import Role
from guildhall.domain.judgments import Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.domain.values import sha256
from guildhall.errors import CorruptBackup, FileLacking, GuildhallError, InputError, UnreadableFile
from guildhall.grading.opening import layout_of
from guildhall.grading.people import Roster
from guildhall.grading.submitting import submit
from guildhall.store.archive import ArchiveWriter
from guildhall.store.audit import broken_links
from guildhall.store.backup import (
    MANIFEST,
    backup_parts,
    check_backup,
    restore_backup,
    take_backup,
)
from guildhall.store.checking import examine_workspace
from guildhall.store.database import HEAD
from guildhall.store.secret import KEY_FILE
from guildhall.store.tables import audit, metadata
from guildhall.store.workspace import SETTINGS, Workspace
from tests import warm
from tests.grading.halls import DESIGN, VERDICT, hall, submissions, task
from tests.store.filling import fill
from tests.warm import Forked
from tests.web.studies import make_task, open_study

NewDatabase = Callable[[], str | None]
NOW = 1_790_000_000.0
MIGRATIONS = Path(guildhall.store.migrations.__path__[0])
KEPT = Path(__file__).parent.parent / "data" / "backups"
"""Backups as older versions wrote them, one of each database for each schema since there are backups."""


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
        yield workspace


def _deliver(workspace: Workspace, number: int) -> None:
    content = f"deliverable {number}".encode()
    file = FileRef(name="a.txt", size=len(content), digest=workspace.blobs.put(content))
    author = ModelRun(name=f"n-{number}", model="scripted/x")
    workspace.store.add(Submission(task="t-0", author=author, files=(file,)))


def _rows(workspace: Workspace) -> dict[str, list[Any]]:
    """Every row of every table, sorted: what a database holds, whatever it is."""
    with workspace.store.reading() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(table.select()).all()))
            for table in metadata.sorted_tables
            if table.name != "workspace_facts"  # it says when the last backup was made
        }


def test_a_restored_workspace_holds_everything_and_goes_on_working(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    with (used.path / SETTINGS).open("a") as settings:
        settings.write('[mail]\nhost = "smtp.example.org"\nsender = "hall@example.org"\n')
    made = take_backup(used, tmp_path / "b.tar", now=NOW)
    key = used.path / KEY_FILE
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=new_database(), key=key) as again:
        assert _rows(again) == _rows(used)
        assert made.rows == {name: len(rows) for name, rows in _rows(again).items()} | {"workspace_facts": 1}
        assert [again.blobs.read(one) for one in again.blobs.each()] == [
            used.blobs.read(one) for one in used.blobs.each()
        ]
        assert made.rows[audit.name] > 0 and broken_links(again.store) == []
        assert examine_workspace(again) == examine_workspace(used)
        assert again.store.find(Judgment) == used.store.find(Judgment)
        assert again.secret == used.secret == (again.path / KEY_FILE).read_bytes()
        assert used.secret not in (tmp_path / "b.tar").read_bytes()
        assert "smtp.example.org" in (again.path / SETTINGS).read_text()
        assert stat.S_IMODE((again.path / SETTINGS).stat().st_mode) == 0o600
        _deliver(again, 7)
        assert again.store.count(Submission) == used.store.count(Submission) + 1


def test_a_restored_study_goes_on_in_the_same_orders_and_only_under_its_own_secret(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "used") as used:
        study = open_study(used, [make_task(number) for number in range(12)], models=3)
        member = Roster(used.store, pepper=used.secret).invite_person(
            Role.GRADER, occupations=(), years=None, personal={"name": "Ada"}
        )
        take_backup(used, tmp_path / "b.tar", now=NOW)
        orders, secret = [(slot.id, slot.order) for slot in layout_of(used, study).slots], used.secret
    assert secret not in (tmp_path / "b.tar").read_bytes()
    other = tmp_path / "other.key"
    other.write_bytes(b"o" * 32)
    for key, why in ((None, "--key-file"), (other, "another workspace"), (tmp_path / "none.key", "cannot be read")):
        with pytest.raises(GuildhallError, match=why):
            restore_backup(tmp_path / "b.tar", tmp_path / "again", key=key)
        assert not (tmp_path / "again").exists()
    key = tmp_path / "used" / KEY_FILE
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", key=key) as again:
        assert [(slot.id, slot.order) for slot in layout_of(again, study).slots] == orders
        assert Roster(again.store, pepper=again.secret).personal(member.id) == {"name": "Ada"}
    with restore_backup(tmp_path / "b.tar", tmp_path / "lost", new_key=True) as lost:
        assert [(slot.id, slot.order) for slot in layout_of(lost, study).slots] != orders
        assert Roster(lost.store, pepper=lost.secret).personal(member.id) is None, "known by code name only"


def test_a_secret_that_is_gone_or_another_is_told_and_never_made_anew(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "used") as used:
        key = used.path / KEY_FILE
        was = key.read_bytes()
    key.write_bytes(b"o" * 32)
    with Workspace.open(tmp_path / "used") as used, pytest.raises(UnreadableFile, match="another workspace"):
        _ = used.secret
    key.unlink()
    with Workspace.open(tmp_path / "used") as used, pytest.raises(UnreadableFile, match="cannot be read"):
        _ = used.secret
    assert not key.exists()
    key.write_bytes(was)
    with Workspace.open(tmp_path / "used") as used:
        assert used.secret == was


def test_every_row_of_every_table_comes_back(new_database: NewDatabase, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "full", database=new_database()) as full:
        fill(full.store)
        take_backup(full, tmp_path / "b.tar", now=NOW, lacking=True)
        key = full.path / KEY_FILE
        with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=new_database(), key=key) as again:
            assert all(_rows(full).values()) and _rows(again) == _rows(full)
            assert broken_links(again.store) == []


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.tar.gz")), ids=lambda path: str(path.name))
def test_backups_of_older_versions_are_restored_and_upgraded(
    kept: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "b.tar").write_bytes(gzip.decompress(kept.read_bytes()))
    database = request.getfixturevalue("postgres").new_database() if ".postgresql." in kept.name else None
    held = check_backup(tmp_path / "b.tar")
    assert held.schema is not None and held.schema == kept.name.split(".")[0] and all(held.rows.values())
    without_secret = held.schema >= "0014"  # what is older holds its own
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=database, new_key=without_secret) as again:
        assert again.store.revision() == HEAD
        found = {name: len(rows) for name, rows in _rows(again).items()}
        assert {name: found[name] for name in held.rows} == held.rows
        assert broken_links(again.store) == []
        studies = again.store.find(Study)
        assert studies and all(again.store.get(Study, one.key) == one for one in studies), "the key is of the bytes"


def test_a_backup_of_each_schema_since_there_are_backups_is_kept() -> None:
    revisions = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    for kind in ("sqlite", "postgresql"):
        kept = {path.name.split(".")[0] for path in KEPT.glob(f"*.{kind}.tar.gz")}
        assert {one for one in revisions if one >= "0011"} - {HEAD} <= kept


def test_a_backup_says_nothing_of_where_the_database_was(used: Workspace, tmp_path: Path) -> None:
    with (used.path / SETTINGS).open("a") as settings:
        settings.write('[database]\nurl = "postgresql://hall:a-pass-word@db/hall"\n' if "sqlite" in used.url else "")
    take_backup(used, tmp_path / "b.tar", now=NOW)
    content = (tmp_path / "b.tar").read_bytes()
    assert b"a-pass-word" not in content and b"postgresql://" not in content


def test_a_backup_taken_while_others_write_is_of_one_moment(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    stop, written = threading.Event(), threading.Event()

    def write(first: int) -> None:
        number = first
        while not stop.is_set():
            _deliver(used, number)
            number += 1
            if number == first + 5:
                written.set()

    writers = [threading.Thread(target=write, args=(first,)) for first in (1, 100_000)]
    for writer in writers:
        writer.start()
    written.wait()
    try:
        for number in range(20):  # on a busy machine one may be taken before anybody gets to write
            before, file = used.store.count(Submission), tmp_path / f"{number}.tar"
            made = take_backup(used, file, now=NOW)
            if used.store.count(Submission) > before:
                break
        else:
            pytest.fail("nobody ever wrote while a backup was taken")
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    key = used.path / KEY_FILE
    with restore_backup(file, tmp_path / "again", database=new_database(), key=key) as again:
        assert examine_workspace(again).faults == []
        assert before <= again.store.count(Submission) == made.rows["submissions"] < used.store.count(Submission)


def test_every_damaged_part_is_refused_by_its_name_before_anything_is_written(used: Workspace, tmp_path: Path) -> None:
    take_backup(used, tmp_path / "b.tar", now=NOW)
    whole = (tmp_path / "b.tar").read_bytes()
    for name, body in [(name, body.read()) for name, body in backup_parts(tmp_path / "b.tar")]:
        if not body:
            continue
        place = whole.index(body, whole.index(name.encode()))
        broken = bytearray(whole)
        broken[place + len(body) // 2] ^= 1
        (tmp_path / "broken.tar").write_bytes(broken)
        with pytest.raises(CorruptBackup, match=MANIFEST if name.startswith("manifest") else name):
            restore_backup(tmp_path / "broken.tar", tmp_path / "again")
        assert not (tmp_path / "again").exists()


def test_a_backup_cut_anywhere_is_refused(used: Workspace, tmp_path: Path) -> None:
    take_backup(used, tmp_path / "b.tar", now=NOW)
    whole = (tmp_path / "b.tar").read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        (tmp_path / "cut.tar").write_bytes(whole[:length])
        with pytest.raises(CorruptBackup):
            check_backup(tmp_path / "cut.tar")


def test_a_file_damaged_before_the_backup_is_named_and_the_rest_is_saved(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    spoiled = used.blobs.put(b"sound for now")
    used.blobs.path(spoiled).chmod(0o644)
    used.blobs.path(spoiled).write_bytes(b"spoiled later")
    assert take_backup(used, tmp_path / "b.tar", now=NOW).damaged == [spoiled]
    assert check_backup(tmp_path / "b.tar").damaged == [spoiled]
    key = used.path / KEY_FILE
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=new_database(), key=key) as again:
        assert set(again.blobs.each()) == set(used.blobs.each()) - {spoiled}


def test_a_backup_is_for_its_owner_only_and_overwrites_nothing(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    take_backup(used, tmp_path / "b.tar", now=NOW)
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="there already"):
        take_backup(used, tmp_path / "b.tar", now=NOW)
    with pytest.raises(InputError, match="already"):
        restore_backup(tmp_path / "b.tar", used.path, database=new_database())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("not a workspace, and not to be touched")
    with pytest.raises(InputError, match="already"):
        restore_backup(tmp_path / "b.tar", tmp_path / "mine", database=new_database())


def test_without_its_files_a_backup_is_restored_only_where_they_are(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    take_backup(used, tmp_path / "b.tar", now=NOW, files=False)
    database = new_database()
    with pytest.raises(InputError, match="--blobs"):
        restore_backup(tmp_path / "b.tar", tmp_path / "again", database=database)
    store = f"file://{used.path.resolve() / 'blobs'}"
    key = used.path / KEY_FILE
    with restore_backup(tmp_path / "b.tar", tmp_path / "again", database=database, blobs=store, key=key) as again:
        assert examine_workspace(again).faults == []


def _killed(command: list[str], folder: Path, sight: Callable[[], bool]) -> bool:
    """Run a command and kill it as soon as something is to be seen; whether it was still at work."""
    child = Forked(warm.guildhall, *command, out=folder / "said", folder=folder)
    try:
        while not sight() and child.poll() is None:
            time.sleep(0.001)
    finally:
        child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def test_a_backup_killed_half_way_looks_like_none_and_is_made_again(used: Workspace, tmp_path: Path) -> None:
    used.blobs.put(os.urandom(64 << 20))
    target, part = tmp_path / "b.tar", tmp_path / "b.tar.part"
    make = ["backup", "make", str(target), "--workspace", str(used.path)]
    while not _killed(make, tmp_path, lambda: part.exists() and part.stat().st_size > 1 << 20):
        target.unlink()  # on a busy machine it may be through before we look
    assert not target.exists()
    with pytest.raises(CorruptBackup):
        check_backup(part)
    take_backup(used, target, now=NOW)
    assert check_backup(target).files == len(list(used.blobs.each()))
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []


def test_a_restore_killed_half_way_leaves_no_workspace(
    used: Workspace, new_database: NewDatabase, tmp_path: Path
) -> None:
    used.blobs.put(os.urandom(64 << 20))
    take_backup(used, tmp_path / "b.tar", now=NOW)
    again, making = tmp_path / "again", tmp_path / "again.restoring"

    def restore() -> list[str]:
        database = new_database()
        key = ["--key-file", str(used.path / KEY_FILE)]
        return ["backup", "restore", "b.tar", "again", *key, *(["--database", database] if database else [])]

    while not _killed(restore(), tmp_path, (making / "blobs" / "incoming").exists):
        shutil.rmtree(again)  # on a busy machine it may be through before we look
    assert not again.exists() and not (making / SETTINGS).exists()
    with pytest.raises(InputError, match="cut short"):
        restore_backup(tmp_path / "b.tar", again, database=new_database())


def test_only_the_oldest_backups_of_a_folder_are_removed(tmp_path: Path) -> None:
    names = [name_for(NOW + 86_400 * day) for day in range(5)]
    for name in [*names, "mine.tar"]:
        (tmp_path / name).touch()
    assert [one.name for one in remove_older(tmp_path, keep=2)] == names[:3]
    assert sorted(one.name for one in tmp_path.iterdir()) == [*names[3:], "mine.tar"]


def test_the_command_names_backups_by_their_time_and_verifies_them(
    used: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GUILDHALL_WORKSPACE", str(used.path))
    (tmp_path / "backups").mkdir()
    for command in (["make", "backups", "--keep", "1"], ["verify", "{newest}"]):
        newest = next((tmp_path / "backups").iterdir(), Path())
        words = [word.format(newest=newest) for word in command]
        ran = CliRunner().invoke(backup_cli.app, words)
        assert ran.exit_code == 0 and "is whole" in ran.output


def test_a_file_that_is_gone_is_refused_by_name_and_never_rotates_out_the_last_whole_backup(
    used: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    take_backup(used, folder / name_for(NOW), now=NOW)
    content = b"a reference file"
    given = FileRef(name="given.txt", size=len(content), digest=used.blobs.put(content))
    used.store.add(task(5).but(reference_files=(given,)))
    assert examine_workspace(used).faults == []
    used.blobs.path(str(given.digest)).unlink()
    assert [(one.check, one.subject) for one in examine_workspace(used).faults] == [("files", given.digest)]
    make = ["make", str(folder), "--keep", "1", "-w", str(used.path)]
    refused = CliRunner().invoke(backup_cli.app, make)
    assert isinstance(refused.exception, FileLacking) and refused.exception.digest == given.digest
    assert "tasks t-5" in str(refused.exception) and len(list(folder.iterdir())) == 1
    made = CliRunner().invoke(backup_cli.app, [*make, "--lacking"])
    assert made.exit_code == 8 and "lacks files" in made.output and len(list(folder.iterdir())) == 2
    max(folder.iterdir()).rename(folder / name_for(NOW + 1))  # the next may be made within the same second
    used.blobs.put(content)
    assert CliRunner().invoke(backup_cli.app, make).exit_code == 0
    [left] = folder.iterdir()
    assert check_backup(left).whole


def test_a_backup_without_a_file_that_its_own_records_name_does_not_verify(used: Workspace, tmp_path: Path) -> None:
    """However it came about: the parts agree with each other, and a record's file is not among them."""
    take_backup(used, tmp_path / "b.tar", now=NOW)
    with tarfile.open(tmp_path / "b.tar") as archive:
        parts = [(one.name, archive.extractfile(one).read()) for one in archive.getmembers()]  # type: ignore[union-attr]
    lost = next(name for name, _ in parts if name.startswith("blobs/"))
    made = check_backup(tmp_path / "b.tar")
    made.files, made.files_digest = 0, ""
    for name, _ in parts:
        if name.startswith("blobs/") and name != lost:
            made.count(name.removeprefix("blobs/"))
    again = {MANIFEST: made.manifest(), "manifest.sha256": sha256(made.manifest()).encode()}
    with (tmp_path / "c.tar").open("wb") as out:
        archive_out = ArchiveWriter(out)
        for name, body in parts:
            if name != lost:
                body = again.get(name, body)
                archive_out.add(name, iter([body]), size=len(body))
        archive_out.finish()
    with pytest.raises(CorruptBackup, match=f"{lost} is named by a record"):
        check_backup(tmp_path / "c.tar")
