"""The deep look at a workspace: silent about a sound one, and one fault for each thing that was broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.grading.submitting import submit
from guildhall.store.checking import examine_workspace
from guildhall.store.hall import audit, seats, slots
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_tables import verdicts, works
from guildhall.store.verdicts import rebuild
from guildhall.store.workspace import Workspace
from tests.grading.halls import DESIGN, VERDICT, hall, submissions, task

NOW = 1e9
FILE = b"a deliverable"


@pytest.fixture
def judged(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Iterator[Workspace]:
    """A hall on each database in which one grading is submitted, one is held, and one submission has a file."""
    url = None if database_url.startswith("sqlite") else database_url
    with Workspace.create(tmp_path / "workspace", database=url) as workspace:
        store = workspace.store
        queue, people = hall(store, graders=2, tasks=2)
        store.add_all([one for number in range(2) for one in (task(number), *submissions(number))])
        kept = FileRef(name="a.txt", size=len(FILE), digest=workspace.blobs.put(FILE))
        store.add(Submission(task="t-0", author=ModelRun(name="m", model="scripted/x", sample=2), files=(kept,)))
        first = queue.claim(people[0], study="s", design=DESIGN, now=NOW)
        assert first is not None and queue.claim(people[1], study="s", design=DESIGN, now=NOW) is not None
        submit(queue, first, people[0], VERDICT, design=DESIGN, submit_key="k", now=NOW)
        yield workspace


def faults(workspace: Workspace) -> set[str]:
    return {fault.check for fault in examine_workspace(workspace).faults}


def test_a_sound_workspace_has_no_fault_and_everything_was_looked_at(judged: Workspace) -> None:
    health = examine_workspace(judged)
    assert health.faults == [] and health.notes == []
    assert health.counts == {"tasks": 2, "submissions": 5, "comparisons": 2, "judgments": 1, "files": 1}


def _one_judgment(workspace: Workspace) -> Judgment:
    (found,) = workspace.store.find(Judgment)
    return found


def _lose_judgment(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(delete(shelf_of(Judgment).table))


def _double_judgment(workspace: Workspace) -> None:
    workspace.store.add(_one_judgment(workspace).but(reason="pressed twice"))


def _change_record(workspace: Workspace) -> None:
    table = shelf_of(Judgment).table
    with workspace.store.transaction() as connection:
        connection.execute(update(table).values(body=table.c.body + " "))


def _lose_submissions(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(delete(shelf_of(Submission).table).where(shelf_of(Submission).table.c.task == "t-1"))


def _free_held_slot(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(update(slots).where(slots.c.done.is_(False)).values(holder=None))


def _hold_for_nobody(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(update(slots).where(slots.c.holder.is_(None)).values(holder="nobody"))


def _end_seat(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(update(seats).where(seats.c.state == "live").values(state="expired"))


def _forge_audit(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        row = {"at": 0, "actor": "x", "action": "x", "subject": "x", "facts": "{}", "before": "x", "digest": "x"}
        connection.execute(insert(audit).values(**row))


def _damage_file(workspace: Workspace) -> None:
    (digest,) = workspace.blobs.each()
    workspace.blobs.path(digest).chmod(0o644)
    workspace.blobs.path(digest).write_bytes(b"a deliverabel")


def _lose_file(workspace: Workspace) -> None:
    (digest,) = workspace.blobs.each()
    workspace.blobs.path(digest).unlink()


def _lose_verdicts(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(delete(verdicts).where(verdicts.c.place == 1))


def _change_verdicts(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(update(verdicts).values(rank=3 - verdicts.c.rank))


def _forge_verdict(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        row = connection.execute(verdicts.select().limit(1)).mappings().one()
        connection.execute(insert(verdicts).values({**row, "judgment": 7_000}))


def _lose_works(workspace: Workspace) -> None:
    with workspace.store.transaction() as connection:
        connection.execute(delete(works).where(works.c.work == 5))


@pytest.mark.parametrize(
    ("harm", "checks"),
    [
        (_lose_judgment, {"dangling", "verdicts"}),
        (_double_judgment, {"doubled"}),
        (_change_record, {"records"}),
        (_lose_submissions, {"dangling", "verdicts"}),
        (_free_held_slot, {"loose_ends"}),
        (_hold_for_nobody, {"loose_ends"}),
        (_end_seat, {"loose_ends"}),
        (_forge_audit, {"audit"}),
        (_damage_file, {"files"}),
        (_lose_file, {"files"}),
        (_lose_verdicts, {"verdicts"}),
        (_change_verdicts, {"verdicts"}),
        (_forge_verdict, {"verdicts"}),
        (_lose_works, {"verdicts"}),
    ],
)
def test_each_kind_of_harm_is_found(judged: Workspace, harm: Callable[[Workspace], None], checks: set[str]) -> None:
    harm(judged)
    assert faults(judged) == checks


@pytest.mark.parametrize("harm", ["_lose_verdicts", "_change_verdicts", "_forge_verdict", "_lose_works"])
def test_a_damaged_table_of_verdicts_is_whole_after_it_is_made_anew(judged: Workspace, harm: str) -> None:
    globals()[harm](judged)
    assert faults(judged) == {"verdicts"}
    assert rebuild(judged.store) == 1
    assert faults(judged) == set()


def test_a_file_no_record_names_and_an_unfinished_write_are_only_notes(judged: Workspace) -> None:
    judged.blobs.put(b"left by a killed process")
    (judged.blobs.folder / "incoming" / "part").write_bytes(b"half")
    health = examine_workspace(judged)
    assert health.faults == [] and len(health.notes) == 2
