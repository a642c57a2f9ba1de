"""Who is erased is gone from every byte: of the workspace's folder, or of a fresh dump of the server."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select, update
from typer.testing import CliRunner

from guildhall.cli.main import app, main
from guildhall.documents.kinds import Kind
from guildhall.documents.render.cache import RenderCache
from guildhall.documents.values import PageImage, Rendered
from guildhall.domain.halls import Member, Role
from guildhall.errors import StoreError
from guildhall.grading.people import Roster
from guildhall.store.access import passkeys, sessions
from guildhall.store.checking import exposed
from guildhall.store.database import upgrade
from guildhall.store.hall import member_secrets
from guildhall.store.outbox import Channel, Outbox
from guildhall.store.secret import KEY_FILE
from guildhall.store.workspace import SETTINGS, Workspace
from guildhall.web.access import Door
from guildhall.web.security import SharedLimit

PERSONAL = {"name": "Zuleika Quarmby-Fforde", "email": "zuleika.q@quarmby.example", "employer": "Fforde & Daughters"}


@pytest.fixture(params=["sqlite", "postgresql"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    url = request.getfixturevalue("postgres").new_database() if request.param == "postgresql" else None
    with Workspace.create(tmp_path / "workspace", database=url) as made:
        yield made


def every_byte(workspace: Workspace) -> bytes:
    """Of every file of the folder, and of a fresh dump where the database is a server's."""
    held = [path.read_bytes() for path in sorted(workspace.path.rglob("*")) if path.is_file()]
    if workspace.store.engine.dialect.name == "postgresql":
        if shutil.which("pg_dump") is None:
            pytest.skip("pg_dump is not installed")
        held.append(subprocess.run(["pg_dump", workspace.url], check=True, capture_output=True).stdout)
    return b"\n".join(held)


def live(workspace: Workspace, roster: Roster, number: int) -> Member:
    """Somebody who has done everything that leaves a trace: letters, links, sessions, a passkey."""
    fields = PERSONAL if number == 0 else {"name": f"Person {number}", "email": f"p{number}@example.org"}
    member = roster.invite_person(Role.GRADER, occupations=("Editors",), years=3.0, personal=fields)
    door = Door(workspace.store, roster)
    door.enter_by_link(door.new_link(member.id, now=1.0), now=2.0)
    Outbox(workspace.store).post(
        Channel.MAIL, target=roster.mark(fields["email"]), event="invitation", facts={}, now=3.0
    )
    row = {"credential": f"credential-of-{member.id}", "member": member.id, "public_key": b"public" + os.urandom(8)}
    with workspace.store.transaction() as connection:
        connection.execute(passkeys.insert().values(**row, sign_count=0, added_at=1.0))
    return member


def traces(workspace: Workspace, roster: Roster, member: Member) -> dict[str, bytes]:
    """What must not be found again, in every form in which it lay there."""
    with workspace.store.reading() as connection:
        own = select(member_secrets).where(member_secrets.c.member == member.id)
        row = connection.execute(own).one()
        opened = connection.execute(select(sessions.c.token_digest).where(sessions.c.member == member.id)).scalar_one()
        passkey = connection.execute(select(passkeys).where(passkeys.c.member == member.id)).one()
    fields = roster.personal(member.id) or {}
    marks = {f"mark of {name}": roster.mark(text).encode() for name, text in fields.items() if name != "name"}
    plain = {name: text.encode() for name, text in fields.items()}
    kept = {"wrapped key": row.key, "sealed": row.sealed, "session": opened.encode(), "passkey": passkey.public_key}
    return {**plain, **marks, **kept, "credential": passkey.credential.encode()}


def test_no_byte_of_whom_is_erased_is_left(workspace: Workspace) -> None:
    roster = Roster(workspace.store, pepper=workspace.secret)
    people = [live(workspace, roster, number) for number in range(30)]
    mine = people[0]
    gone = traces(workspace, roster, mine)
    asked = {"wrapped key", "sealed", "mark of email", "mark of employer"}
    before = every_byte(workspace)
    found = {name for name, trace in gone.items() if trace in before or trace.hex().encode() in before}
    assert asked <= found and not {"name", "email", "employer"} & found, "sealed before, and findable by mark"
    roster.erase(mine.id)
    after = every_byte(workspace)
    left = {name for name, trace in gone.items() if trace in after or trace.hex().encode() in after}
    assert not left
    assert roster.personal(mine.id) is None and mine.code_name.encode() in after
    assert roster.personal(people[1].id) == {"name": "Person 1", "email": "p1@example.org"}
    roster.erase(mine.id)  # done again, as after a process that was stopped half-way


def test_a_reader_who_keeps_the_old_bytes_alive_is_told_and_the_next_try_removes_them(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace, Workspace.open(tmp_path / "workspace") as other:
        roster = Roster(workspace.store, pepper=workspace.secret)
        mine = live(workspace, roster, 0)
        gone = traces(workspace, roster, mine)
        with other.store.engine.connect() as reading, reading.begin():
            reading.execute(select(member_secrets)).all()
            with pytest.MonkeyPatch.context() as patch, pytest.raises(StoreError, match="do the same again"):
                patch.setattr("guildhall.store.database.PATIENCE_MS", 100)
                roster.erase(mine.id)
        roster.erase(mine.id)
        assert not {name for name, trace in gone.items() if trace in every_byte(workspace)}


def test_the_database_alone_opens_nobodys_name(workspace: Workspace) -> None:
    roster = Roster(workspace.store, pepper=workspace.secret)
    member = live(workspace, roster, 0)
    with workspace.store.reading() as connection:
        row = connection.execute(select(member_secrets).where(member_secrets.c.member == member.id)).one()
    for key in (row.key, row.key.partition(b":")[2]):
        with pytest.raises(ValueError, match="32 url-safe"):
            Fernet(key)
    assert workspace.secret not in every_byte(workspace).replace((workspace.path / KEY_FILE).read_bytes(), b"", 1)
    assert roster.personal(member.id) == PERSONAL


def test_keys_of_an_older_workspace_are_wrapped_when_it_is_upgraded_and_no_open_one_is_left(tmp_path: Path) -> None:
    path, key = tmp_path / "workspace", Fernet.generate_key()
    with Workspace.create(path) as workspace:
        roster = Roster(workspace.store, pepper=workspace.secret)
        member = live(workspace, roster, 0)
        sealed = Fernet(key).encrypt(b'{"name": "Zuleika"}')
        with workspace.store.transaction() as connection:
            mine = update(member_secrets).where(member_secrets.c.member == member.id)
            connection.execute(mine.values(key=key, sealed=sealed))
        settings = (path / SETTINGS).read_text()
        (path / SETTINGS).write_text("\n".join(line for line in settings.splitlines() if "secret_mark" not in line))
        assert key in every_byte(workspace)
    with Workspace.upgrade(path) as workspace:
        roster = Roster(workspace.store, pepper=workspace.secret)
        assert roster.personal(member.id) == {"name": "Zuleika"} and key not in every_byte(workspace)
        assert "secret_mark" in (path / SETTINGS).read_text()
        upgrade(workspace.store.engine)


def test_a_workspace_is_for_its_owner_only_and_doctor_closes_what_is_open(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        with Workspace.create(tmp_path / "workspace") as workspace:
            live(workspace, Roster(workspace.store, pepper=workspace.secret), 0)
            path = workspace.path
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
            assert not [one for one in path.glob("guildhall.*") if stat.S_IMODE(one.stat().st_mode) & 0o077]
        log = path / "logs" / "one.eval"
        log.parent.mkdir()
        log.write_text("what was said")
        path.chmod(0o755)
        assert {path, log, log.parent} <= set(exposed(path))
        said = CliRunner().invoke(app, ["doctor", "--workspace", str(path)])
        assert "can be read by others" in said.output.replace("\n", " ")
        said = CliRunner().invoke(app, ["doctor", "--repair", "--workspace", str(path)])
        assert said.exit_code == 0 and "closed" in said.output
        assert not exposed(path) and stat.S_IMODE(log.stat().st_mode) == 0o600
    finally:
        os.umask(old)


def drawn(folder: Path) -> Rendered:
    page = PageImage(number=1, image=folder / "1.png", width=1, height=1)
    page.image.touch()
    return Rendered(kind=Kind.PDF, renderer="none", pages=(page,))


def test_files_that_are_kept_are_for_their_owner_only_and_doctor_has_nothing_to_close(tmp_path: Path) -> None:
    """As the command line makes them: what is kept must not be opened again by a mode of its own."""
    old = os.umask(0o077)
    try:
        with Workspace.create(tmp_path / "workspace") as workspace:
            digest = workspace.blobs.put(b"a deliverable")
            RenderCache(workspace.path / "cache").get_or_make(digest, "as it is", drawn)
            limit = SharedLimit(workspace.path / "cache" / "tries.sqlite", b"key", per_minute=1, burst=1)
            assert limit.allows("9.9.9.9")
            assert not exposed(workspace.path)
            assert not os.access(workspace.blobs.path(digest), os.W_OK) or os.geteuid() == 0
    finally:
        os.umask(old)


def test_what_the_command_line_writes_is_for_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guildhall.cli.main.app", lambda: (tmp_path / "export.csv").write_text("task,grader"))
    old = os.umask(0o022)
    try:
        main()
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "export.csv").stat().st_mode) == 0o600
