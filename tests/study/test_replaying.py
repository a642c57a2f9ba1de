"""The demo where no sandbox can run: recorded work is replayed, is what was recorded, and says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.domain.submissions import Submission
from guildhall.domain.values import sha256
from guildhall.sampling.running import submissions_of
from guildhall.store.workspace import Workspace
from guildhall.study import demonstration
from guildhall.study.demonstration import REPLAYED, demo_study, replayed_because
from guildhall.study.stages import Sampling
from guildhall.study.studies import OpenStudy
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.sample import sample_folder


@pytest.fixture
def study(tmp_path: Path):
    with Workspace.create(tmp_path / "ws") as workspace:
        with sample_folder() as folder:
            import_tasks(workspace, read_source(folder))
        yield demo_study(workspace)


def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, "why_no_bubblewrap", lambda: "user namespaces are forbidden")


def test_every_item_of_the_demo_has_a_record_that_is_replayed_where_no_sandbox_can_run(
    study: OpenStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_sandbox(monkeypatch)
    assert replayed_because(study) == "user namespaces are forbidden"
    made = submissions_of(study.items, workspace=study.workspace)
    missing = [item.job.label for item in study.items if item.key not in made]
    assert not missing, "the bank, the prompts or the authors changed: run `python scripts/record_demo.py`"
    for submission in made.values():
        for file in submission.files:
            assert file.digest is not None
            assert sha256(study.workspace.blobs.read(file.digest)) == file.digest


def test_replayed_work_says_so_and_claims_neither_time_nor_money(
    study: OpenStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_sandbox(monkeypatch)
    replayed_because(study)
    for submission in study.workspace.store.find(Submission):
        assert submission.origin == REPLAYED
        assert any(problem.rule == REPLAYED for problem in submission.problems)
        assert (submission.usage, submission.seconds, submission.made_at) == (None, None, None)
    status = Sampling().status(study)
    assert status["done"] == len(study.items)
    assert status["calls"] == 0


def test_replaying_twice_replays_once(study: OpenStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    no_sandbox(monkeypatch)
    replayed_because(study)
    before = study.workspace.store.count(Submission)
    replayed_because(study)
    assert study.workspace.store.count(Submission) == before


def test_nothing_is_replayed_where_a_sandbox_can_run(study: OpenStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, "why_no_bubblewrap", lambda: None)
    assert replayed_because(study) is None
    assert study.workspace.store.count(Submission) == 0
