"""Before the first paid call all that is in the way is told at once; a failing provider ends in words and a code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from guildhall.cli import study as study_cli
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.errors import (
    FaultsOfOurs,
    FileLacking,
    GuildhallError,
    InputError,
    MachineRefused,
    NotReady,
    PriceUnknown,
    RoomNotStarted,
    UnknownName,
)
from guildhall.store.workspace import Workspace
from guildhall.study.stages import Sampling, preflight
from guildhall.study.studies import OpenStudy
from tests.engine.model_server import ModelServer
from tests.study.made import task

HEAD = '[study]\nid = "s"\ntitle = "S"\n'
AUTHOR = '[[authors]]\nname = "{name}"\nmodel = "{model}"\ntools = "none"\ncondition = "plain"\nsamples = 1\n'
OURS = "openai-api/own/any"


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def tasks(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    for name in ("OPENAI_API_KEY", "OWN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    made = [task(number) for number in range(2)]
    workspace.store.add_all(made)
    return made


def author(model: str, name: str = "one", more: str = "") -> str:
    return AUTHOR.format(name=name, model=model) + more


def opened(workspace: Workspace, folder: Path, *parts: str) -> OpenStudy:
    (folder / "study.toml").write_text(HEAD + "".join(parts))
    return OpenStudy.open(folder / "study.toml", workspace)


def run(workspace: Workspace, folder: Path) -> BaseException | None:
    at = ["run", str(folder / "study.toml"), "-w", str(workspace.path)]
    return CliRunner().invoke(study_cli.app, at).exception


def test_everything_in_the_way_is_told_in_one_list_and_nothing_is_begun(
    workspace: Workspace, tasks: list[Task], tmp_path: Path
) -> None:
    judge = '[[judges]]\nname = "j"\nmodel = "openia/gpt-5"\n'
    authors = author("openai-api/own/any") + author("scripted/carefull", "two")
    study = opened(workspace, tmp_path, authors, judge, judge.replace('"j"', '"k"'))
    assert tasks and study
    error = run(workspace, tmp_path)
    assert isinstance(error, NotReady) and error.exit_code == 2
    assert len(error.faults) == 3, "one fault that two judges share is one"
    said = " ".join(error.faults)
    assert "OWN_API_KEY" in said and "did you mean 'careful'" in said and "'openia'" in said
    assert workspace.store.count(Study) == 0


def test_a_single_fault_keeps_its_own_code_and_words(workspace: Workspace, tasks: list[Task], tmp_path: Path) -> None:
    assert tasks
    opened(workspace, tmp_path, author("openia/gpt-5"))
    assert isinstance(run(workspace, tmp_path), UnknownName)


def faults(study: OpenStudy) -> list[type[GuildhallError]]:
    return [type(one) for one in preflight(study).faults]


def test_files_never_fetched_or_lost_are_told_for_every_task(workspace: Workspace, tmp_path: Path) -> None:
    kept = FileRef(name="b.txt", digest=workspace.blobs.put(b"here"), size=4)
    unfetched = FileRef(name="a.txt")
    made = [task(0, reference_files=[unfetched]), task(1, reference_files=[kept]), task(2, reference_files=[unfetched])]
    workspace.store.add_all(made)
    study = opened(workspace, tmp_path, author("scripted/careful"))
    assert kept.digest
    workspace.blobs.path(kept.digest).unlink()
    assert faults(study) == [InputError, FileLacking, InputError]
    error = run(workspace, tmp_path)
    assert isinstance(error, NotReady) and "t-0" in error.faults[0] and "t-2" in error.faults[2]


def test_a_full_disk_and_a_room_that_cannot_be_opened_are_seen_beforehand(
    workspace: Workspace, tasks: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_sandbox: object) -> None:
        raise RoomNotStarted("no bubblewrap")

    assert tasks
    study = opened(workspace, tmp_path, author("scripted/careful").replace('tools = "none"', 'tools = "code"'))
    monkeypatch.setattr("guildhall.study.stages.ask_room", no_room)
    monkeypatch.setattr("guildhall.study.studies.ask_room", no_room)
    assert faults(study) == [RoomNotStarted]
    assert (error := run(workspace, tmp_path)) is not None and getattr(error, "exit_code", 0) == 5
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: Usage(1 << 30, 1 << 30, 1 << 20))
    assert set(faults(study)) == {MachineRefused}


def test_a_limit_in_dollars_needs_a_price_and_an_unknown_price_is_told(
    workspace: Workspace, tasks: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tasks
    monkeypatch.setenv("OWN_API_KEY", "k")
    settings = 'settings = {base_url = "http://127.0.0.1:9/v1"}\n'
    study = opened(workspace, tmp_path, author(OURS, more=settings))
    assert any("price of openai-api/own/any is unknown" in words for words in preflight(study).notes)
    limited = opened(workspace, tmp_path, author(OURS, more=settings), "[sampling.limits]\nrun_usd = 1.0\n")
    assert faults(limited) == [PriceUnknown]


def test_work_that_is_done_needs_no_key_any_more(
    workspace: Workspace, tasks: list[Task], tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "k")
    study = opened(workspace, tmp_path, author(OURS, more=f'settings = {{base_url = "{server.address}/v1"}}\n'))
    assert Sampling().run(study)["done"] == len(tasks)
    monkeypatch.delenv("OWN_API_KEY")
    assert faults(OpenStudy.open(tmp_path / "study.toml", workspace)) == []


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.close()


@pytest.mark.parametrize("how", ["says 401", "hangs", "is not there"])
def test_a_provider_that_fails_ends_in_a_sentence_and_code_6(
    workspace: Workspace,
    tasks: list[Task],
    tmp_path: Path,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "k")
    if how == "says 401":
        server.refusals = [401] * 50
    if how == "hangs":
        server.seconds = [30.0] * 50
    address = "http://127.0.0.1:9" if how == "is not there" else server.address
    pace = "[sampling.pace]\nretries = 1\nattempt_seconds = 1\n"
    opened(workspace, tmp_path, author(OURS, more=f'settings = {{base_url = "{address}/v1"}}\n'), pace)
    began = time.thread_time()
    error = run(workspace, tmp_path)
    assert isinstance(error, FaultsOfOurs) and error.exit_code == 6, str(error)
    assert "provider failed" in str(error) and "retry --failed" in str(error)
    assert workspace.store.count(Submission, replaces=None) == len(tasks), "nobody is said to have delivered nothing"
    assert time.thread_time() - began < 60
