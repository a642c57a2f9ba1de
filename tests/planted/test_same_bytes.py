"""The same study under the same seed gives the same report, byte for byte: in any folder, at any time, on any day."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from guildhall.documents.looking import Documents
from guildhall.domain.authors import ModelRun
from guildhall.domain.prepared import VERSION, Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.tasks import Task
from guildhall.grading.design import expert_submission
from guildhall.grading.opening import open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from guildhall.study.reporting import write_study_report

WORDS = {"alpha": 900, "beta": 300, "gamma": 0}


def reported(folder: Path, *, began: int, turned: bool, set_size: int) -> dict[str, bytes]:
    """Every file of the report on one small study, judged by simulated graders from `began` on.

    What a clock writes into work differs between two calls, and so does who finished first.
    """
    tasks = [
        Task(
            id=f"t-{number}",
            sector=("Information", "Finance")[number % 2],
            occupation="Editors",
            brief="Write a note.",
            expert_text=f"A careful note {number}.",
            expert_hours=1.0 + number,
            hourly_wage_usd=40.0,
        )
        for number in range(7)
    ]
    made = [
        Submission(
            task=task.id,
            author=ModelRun(name=name, model=f"scripted/{name}", sample=sample),
            text=f"{name} on {task.id}",
            seconds=10.0 * sample,
            usage=Usage(cost_usd=0.5, price_date=str(datetime.fromtimestamp(began, UTC).date())),
            confidence=80,
            log=f"{began}.eval",
            made_at=datetime.fromtimestamp(began + at, UTC),
        )
        for task in tasks
        for at, name in enumerate(WORDS)
        for sample in (1, 2)
    ]
    with Workspace.create(folder / "workspace") as workspace:
        store = workspace.store
        store.add_all([*tasks, *(made[::-1] if turned else made)])
        experts = [one for task in tasks if (one := expert_submission(task)) is not None]
        store.add_all(_prepared(workspace, one.key, 600, 0) for one in experts)
        store.add_all(_prepared(workspace, one.key, WORDS[one.author.key.split(":")[1]], began) for one in made)
        people = {"simulated_graders": 4, "exposure_limit": 9, "minimum_reason_words": 0, "set_size": set_size}
        study = Study(id="s", title="A study", seed=3, tasks=tuple(one.key for one in tasks), design={"people": people})
        store.add(study)
        open_hall(workspace, study, Preparer(workspace, cast("Documents", None)))
        ticks = count(began, 7)
        assert simulate_hall(workspace, study, study.design.hall, clock=lambda: float(next(ticks))).judgments
        write_study_report(workspace, study, folder / "report")
    return _files(folder / "report")


def _prepared(workspace: Workspace, subject: str, words: int, began: int) -> Prepared:
    """A document whose bytes hold the time at which it was made."""
    scrubbed = workspace.blobs.put(f"made at {began}".encode())
    file = PreparedFile(kind="docx", ending=".docx", scrubbed=scrubbed, words=words, named_as_asked=True)
    return Prepared(subject=subject, version=VERSION, files=(file,))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("set_size", [2, 3])
def test_neither_the_clock_nor_who_finished_first_changes_a_report(tmp_path, set_size):
    first = reported(tmp_path / "one", began=1_700_000_000, turned=False, set_size=set_size)
    second = reported(tmp_path / "two", began=1_800_000_123, turned=True, set_size=set_size)
    assert [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)] == []
    assert len(first) > 10


def test_the_demo_gives_the_same_report_in_another_folder_at_another_time(demo_workspace, tmp_path):
    """Two scripted authors truly make files, whose bytes hold the time: the report holds none of it."""
    command = [sys.executable, "-m", "guildhall", "demo", str(tmp_path / "again"), "--tasks", "1"]
    subprocess.run(command, check=True, capture_output=True)
    first, second = _files(demo_workspace / "report"), _files(tmp_path / "again" / "report")
    assert [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)] == []
