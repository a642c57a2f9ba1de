"""Two studies side by side: differences paired by task, from the store or from written reports, gated by exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from guildhall.cli.main import app
from guildhall.domain.policy import GraderGroup
from guildhall.domain.report import Report
from guildhall.errors import GuildhallError, InputError, UnknownName, UnreadableFile
from guildhall.store.workspace import Workspace
from guildhall.study.comparing import difference_between, read_report
from guildhall.study.reporting import study_report, write_study_report
from tests.study.made import judged_study

BEFORE = {"alpha": [[1.0, 0.0, 0.5]] * 5 + [[1.0, 1.0, 1.0]] * 5, "gone": [[1.0]] * 10}
AFTER = {"alpha": [[0.0, 0.0, 0.5]] * 5 + [[1.0, 0.5, 0.0]] * 5 + [[1.0, 1.0, 1.0]] * 4, "new": [[0.5]] * 14}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Made once: the tests only read it."""
    with Workspace.create(tmp_path_factory.mktemp("comparing") / "workspace") as made:
        yield made


@pytest.fixture(scope="module")
def two(workspace: Workspace) -> tuple[Report, Report]:
    old, new = judged_study(workspace, "old", BEFORE), judged_study(workspace, "new", AFTER)
    return study_report(workspace, old), study_report(workspace, new)


def test_a_difference_is_the_mean_over_shared_tasks_of_the_gap_between_task_means(
    two: tuple[Report, Report],
) -> None:
    found = difference_between(*two)
    [alpha] = found.models
    gaps = [(0.0 - 1 / 3) + 0.0] * 5 + [1 / 3 - 1.0] * 5
    assert alpha.difference["win"].value == pytest.approx(np.mean(gaps))
    assert alpha.difference["win"].n_tasks == 10 and alpha.difference["win"].n_excluded == 4
    half = [(1 / 6 - 1 / 2)] * 5 + [(1 / 2 - 1.0)] * 5
    assert alpha.difference["half_tie"].value == pytest.approx(np.mean(half))
    assert (found.tasks_shared, found.only_first, found.only_second) == (10, ("gone",), ("new",))


def test_a_report_less_itself_is_nothing_and_the_other_way_round_is_the_negative(
    two: tuple[Report, Report],
) -> None:
    there = difference_between(*two).models[0].difference["win_or_tie"]
    back = difference_between(*reversed(two)).models[0].difference["win_or_tie"]
    assert there.value is not None and there.interval is not None and back.interval is not None
    assert there.value == pytest.approx(-(back.value or 0.0))
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))
    same = difference_between(two[0], two[0]).models[0].difference["win"]
    assert same.value == 0.0 and same.interval is not None and same.interval[0] < 0 < same.interval[1]


def test_a_task_that_was_changed_is_another_task(two: tuple[Report, Report]) -> None:
    first, second = two
    assert second.task_rates is not None
    changed = tuple(key.replace("@1", "@2") for key in second.task_rates.tasks)
    found = difference_between(first, second.but(task_rates=second.task_rates.but(tasks=changed)))
    assert found.tasks_shared == 0 and found.models[0].difference["win"].value is None


def test_models_under_two_names_are_compared_when_told_so(two: tuple[Report, Report]) -> None:
    found = difference_between(*two, matches={"gone": "new"})
    assert [(one.against, one.model) for one in found.models] == [("gone", "new"), ("alpha", "alpha")]
    assert found.models[0].difference["win"].value == -1.0
    with pytest.raises(UnknownName):
        difference_between(*two, matches={"nobody": "new"})
    with pytest.raises(InputError, match="match each once"):
        difference_between(*two, matches={"gone": "new", "alpha": "new"})


@pytest.mark.parametrize("change", [{"graders": GraderGroup.parse("crowd")}, {"baseline": "alpha"}])
def test_what_was_measured_differently_is_not_compared(two: tuple[Report, Report], change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="mix two things"):
        difference_between(two[0], two[1].but(policy=two[1].policy.but(**change)))


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["report", *words])


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("win_or_tie < -0.03", 8),
        ("win(alpha) drops by more than 0.3", 8),
        ("certainly win drops by more than 0.2", 8),
        ("win drops by more than 0.9", 0),
        ("win rises by more than 0.05", 0),
    ],
)
def test_the_exit_code_says_whether_the_gate_is_open(
    workspace: Workspace, two: tuple[Report, Report], tmp_path: Path, condition: str, code: int
) -> None:
    at = ("--workspace", str(workspace.path), "--out", str(tmp_path / "out"), "--json")
    ended = run("--compare", "old", "new", "--fail-if", condition, *at)
    assert ended.exit_code == code, ended.output
    told = json.loads(ended.stdout)
    assert told["passed"] is (code == 0) and told["gate"][0]["condition"] == condition
    assert json.loads((tmp_path / "out" / "difference.json").read_text()) == told
    page = (tmp_path / "out" / "difference.html").read_text()
    assert condition.replace("<", "&lt;") in page and ("is open" if code == 0 else "is shut") in page
    assert condition in (tmp_path / "out" / "difference.md").read_text()


def test_written_reports_compare_without_their_workspace(
    workspace: Workspace, two: tuple[Report, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for study in (judged_study(workspace, "old", BEFORE), judged_study(workspace, "new", AFTER)):
        write_study_report(workspace, study, tmp_path / study.id)
    (tmp_path / "alone.json").write_bytes((tmp_path / "new" / "report.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GUILDHALL_WORKSPACE", raising=False)
    ended = run("--compare", "old", "alone.json", "--json")
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["models"] == json.loads(difference_between(*two).model_dump_json())["models"]
    assert (tmp_path / "report" / "differences.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("one", "--compare", "old", "new"),
        ("one", "--fail-if", "win < 0"),
        ("--compare", "old", "new", "--match", "x"),
        ("--compare", "old", "new", "--fail-if", "nonsense"),
        ("--compare", "old", "new", "--fail-if", "win(gamma) < 0"),
        ("--compare", "old", "nowhere"),
        ("--compare", "old", "missing.json"),
    ],
)
def test_what_cannot_be_understood_is_wrong_input(
    workspace: Workspace, two: tuple[Report, Report], words: tuple[str, ...]
) -> None:
    ended = run(*words, *(("--workspace", str(workspace.path)) if words else ()))
    assert isinstance(ended.exception, GuildhallError) and ended.exception.exit_code == 2


@pytest.mark.parametrize("content", [b"", b"[]", b'{"study": "x"}', b"\xff\xfe", b'{"a": 1e999}'])
def test_a_file_that_is_no_report_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(UnreadableFile, match="not the JSON of a report"):
        read_report(str(tmp_path / "x.json"))
