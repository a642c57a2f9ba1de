"""A fault of ours is never a model's failure: whatever goes wrong around the work, nobody is said to have failed."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from guildhall.cli import sample as sample_cli
from guildhall.domain.authors import ModelRun
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import StopReason, Submission, Usage
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from guildhall.errors import FaultsOfOurs, StoreOutOfReach
from guildhall.grading.design import expert_submission
from guildhall.grading.judges.graders import ByBaseline, ByModel
from guildhall.store.blobs import Blobs
from guildhall.store.work import work_items
from guildhall.store.workspace import Workspace
from guildhall.study.judging import judge_study
from guildhall.study.stages import Sampling, require_no_faults, retry_failed
from guildhall.study.studies import OpenStudy

HERE = "scripted/tests.study.test_faults_of_ours:"
STUDY = f"""
[study]
id = "small"
title = "A small study"
seed = 3
[[authors]]
name = "copyist"
model = "{HERE}copyist"
condition = "plain"
samples = 1
"""
BAD = StoreOutOfReach("s3://bucket/files", "EndpointConnectionError: could not connect")
FULL = OSError(errno.ENOSPC, "No space left on device")


@scripted("test-copyist")
def copyist(turn: Turn) -> Answer:
    """Puts its reference file into a report, and hands that in."""
    if turn.number == 0:
        return Answer(
            text="", tools=(ToolUse("bash", {"command": "cat reference_files/* > report.txt; echo >> report.txt"}),)
        )
    return Answer(text="", tools=(ToolUse("submit", {"text": "Done.", "files": ["report.txt"]}),))


@scripted("test-tie-judge")
def tie_judge(turn: Turn) -> Answer:
    return Answer(text="Alike.\nVERDICT[TIE]")


@pytest.fixture
def study(workspace: Workspace, tmp_path: Path) -> OpenStudy:
    for number in range(2):
        content = f"figures {number}\n".encode()
        given = FileRef(name="figures.txt", digest=workspace.blobs.put(content), size=len(content))
        report = b"what the expert made of figures %d\n" % number
        expert = FileRef(name="report.txt", digest=workspace.blobs.put(report), size=len(report))
        workspace.store.add(
            Task(
                id=f"t-{number}",
                sector="Information",
                occupation="Editors",
                brief="Write `report.txt`.",
                reference_files=(given,),
                expert_files=(expert,),
                expert_text="Here it is.",
            )
        )
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return OpenStudy.open(path, workspace)


def made_by_models(workspace: Workspace) -> list[Submission]:
    return [one for one in workspace.store.find(Submission) if isinstance(one.author, ModelRun)]


def broken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, method: str, error: Exception) -> None:
    def fail(*_given: Any, **_named: Any) -> Any:
        raise error

    monkeypatch.setattr(workspace.blobs, method, fail)


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        ("read", BAD, "cannot be used (EndpointConnectionError"),
        ("put", BAD, "check the address, the network and the credentials"),
        ("put", FULL, "No space left on device"),
    ],
)
def test_a_store_that_fails_while_work_is_laid_out_or_fetched_leaves_failed_items_that_can_be_retried(
    study: OpenStudy, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, method: str, error: Exception, words: str
) -> None:
    with monkeypatch.context() as patch:
        broken(workspace, patch, method, error)
        report = Sampling().run(study)
    assert (report["done"], report["failed"], report["ended"]) == (0, 2, {"storage failed": 2})
    with pytest.raises(FaultsOfOurs, match="2 storage failed") as refused:
        require_no_faults(report)
    assert refused.value.exit_code == 3 and words in str(refused.value) and "retry --failed" in str(refused.value)
    assert retry_failed(study) == {"retried": 2, "failed": 0, "left": 0, "why_failed": None}
    newest = [one for one in made_by_models(workspace) if one.stop is StopReason.FINISHED]
    replaced = {one.key for one in made_by_models(workspace)} - {one.key for one in newest}
    assert {one.replaces for one in newest} == replaced
    assert [len(one.files) for one in newest] == [1, 1]


def test_one_missing_file_fails_its_own_item_by_the_files_name_and_no_other(
    study: OpenStudy, workspace: Workspace
) -> None:
    digest = study.tasks[0].reference_files[0].digest
    assert digest is not None
    content = workspace.blobs.read(digest)
    workspace.blobs.path(digest).unlink()
    run = CliRunner().invoke(sample_cli.app, ["run", "-s", str(study.folder / "study.toml"), "-w", str(workspace.path)])
    assert isinstance(run.exception, FaultsOfOurs) and run.exception.exit_code == 3
    assert f"blob {digest[:12]} is not in this workspace" in str(run.exception)
    assert {one.stop for one in made_by_models(workspace)} == {StopReason.FINISHED, StopReason.STORAGE_FAILED}
    workspace.blobs.put(content)
    assert retry_failed(study)["failed"] == 0


def test_a_disk_that_filled_up_while_a_room_was_at_work_is_not_held_against_its_author(
    study: OpenStudy, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildhall.engine.faults.LEAST_FREE_BYTES", 2**80)
    report = Sampling().run(study)
    assert report["ended"] == {"storage failed": 2} and "was full" in str(report["why_failed"])


@pytest.fixture
def sampled(study: OpenStudy) -> OpenStudy:
    assert Sampling().run(study)["done"] == 2
    return study


def test_a_file_that_is_gone_is_no_omission_of_a_deliverable_and_no_failure_of_a_judge(
    sampled: OpenStudy, workspace: Workspace
) -> None:
    lost = made_by_models(workspace)[0]
    digest = lost.files[0].digest
    assert digest is not None
    content = workspace.blobs.read(digest)
    workspace.blobs.path(digest).unlink()
    judge = ByModel(JudgePlan(name="tie", model=HERE + "tie_judge"))
    counted = ByBaseline("rubric-and-format")
    for grader, verdicts in ((judge, 6), (counted, 2)):
        judged = judge_study(sampled, grader)
        assert (judged.verdicts, judged.failures, judged.left) == (verdicts, 0, 0)
        assert judged.faults == verdicts and digest[:12] in (judged.why_fault or "")
    assert not any(one.omissions.get("A") or one.failure for one in workspace.store.find(Judgment))
    workspace.blobs.put(content)
    for grader, verdicts in ((judge, 6), (counted, 2)):
        again = judge_study(sampled, grader)
        assert (again.verdicts, again.failures, again.faults) == (verdicts, 0, 0)


def test_a_page_that_cannot_be_fetched_when_a_judge_is_asked_fails_no_judge_and_costs_no_call(
    sampled: OpenStudy, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ByModel(JudgePlan(name="tie", model=HERE + "tie_judge"))
    prepared: dict[str, Callable[..., Any]] = {"read": Blobs.read}
    pictures = {page.image for page in _pages(sampled, workspace)}

    def without_pictures(self: Blobs, digest: str) -> bytes:
        if digest in pictures:
            raise BAD
        return bytes(prepared["read"](self, digest))

    with monkeypatch.context() as patch:
        patch.setattr(Blobs, "read", without_pictures)
        judged = judge_study(sampled, judge)
    assert (judged.verdicts, judged.failures, judged.faults) == (0, 0, 12) and "s3://" in (judged.why_fault or "")
    assert workspace.store.find(Judgment) == []
    again = judge_study(sampled, judge)
    assert (again.verdicts, again.failures, again.faults) == (12, 0, 0)


def _pages(study: OpenStudy, workspace: Workspace) -> list[Any]:
    """Everything made ready beforehand, as a first judge would."""
    from guildhall.study.judging import desk_of

    with desk_of(study) as desk:
        works = [desk.prepared(one.key) for one in made_by_models(workspace)]
        experts = [one for one in map(expert_submission, study.tasks) if one is not None]
        workspace.store.add_all(experts)
        works += [desk.prepared(one.key) for one in experts] + [desk.references(task) for task in study.tasks]
    return [page for work in works for file in work.files for page in file.pages]


def test_what_an_earlier_version_took_for_nothing_delivered_is_tried_again(
    sampled: OpenStudy, workspace: Workspace
) -> None:
    victim = made_by_models(workspace)[0]
    empty = victim.but(text="", files=(), stop=StopReason.NOTHING_DELIVERED, usage=Usage())
    workspace.store.add(empty)
    with workspace.store.transaction() as connection:
        connection.execute(update(work_items).where(work_items.c.result == victim.key).values(result=empty.key))
    assert retry_failed(sampled)["retried"] == 1
    assert [one.replaces for one in made_by_models(workspace) if one.replaces] == [empty.key]
    assert retry_failed(sampled)["retried"] == 0
