"""A study pins its wordings when it begins; moving on to newer ones is asked for, and makes comparisons of its own."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from guildhall.analysis.pairs import words_in
from guildhall.cli.main import app
from guildhall.documents.looking import Documents
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.errors import UnknownName
from guildhall.grading.opening import layout_of, open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.checking import examine_workspace
from guildhall.store.wordings import Wordings
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.extending import judged_pairs
from guildhall.study.reporting import study_report
from guildhall.study.studies import OpenStudy
from tests.study.made import judged_study, task

STUDY = """
[study]
id = "base"
title = "Pinned"
seed = 3

[[authors]]
name = "alpha"
model = "scripted/careful"
condition = "plain"
samples = 1

[people]
graders_per_set = 2
exposure_limit = 2
simulated_graders = 4
severity_raters = 0
minimum_reason_words = 1
"""
TASKS = 4


@pytest.fixture
def path(workspace: Workspace, tmp_path: Path) -> Path:
    """A study of four tasks, judged in version 1 while version 2 of all of them came in."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    workspace.store.add_all(task(number) for number in range(TASKS))
    grade(OpenStudy.open(path, workspace))
    workspace.store.add_all(
        task(number, version=2, brief="Write a letter.", expert_hours=99, sector="Other") for number in range(TASKS)
    )
    return path


def grade(study: OpenStudy) -> Study:
    store = study.workspace.store
    store.add_all(
        Submission(task=item.task.id, task_version=item.task.version, author=item.author, text="A note.")
        for item in study.items
    )
    frozen = study.freeze(why="newer wordings" if study.changed else None)
    open_hall(study.workspace, frozen, Preparer(study.workspace, cast("Documents", None)))
    ticks = count(1_700_000_000)
    simulate_hall(study.workspace, frozen, frozen.design.hall, clock=lambda: float(next(ticks)))
    return frozen


def command(workspace: Workspace, *words: str) -> dict[str, Any]:
    ended = CliRunner().invoke(app, [*words, "--workspace", str(workspace.path), "--json"])
    assert ended.exit_code == 0, ended.output
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def versions(study: Study) -> set[int]:
    return {key.version for key in study.tasks}


def test_a_study_that_began_means_its_own_wordings_and_status_tells_of_newer_ones(
    workspace: Workspace, path: Path
) -> None:
    [kept] = workspace.store.find(Study)
    study = OpenStudy.open(path, workspace)
    assert {one.version for one in study.tasks} == {1} and study.freeze() == kept == study.frozen()
    assert command(workspace, "study", "plan", str(path))["digest"] == kept.key
    told = command(workspace, "study", "status", str(path))
    assert told["newer_versions"] == [f"t-{number}@2" for number in range(TASKS)]
    said = CliRunner().invoke(app, ["study", "status", str(path), "--workspace", str(workspace.path)])
    assert "Newer versions of 4 of its tasks exist" in " ".join((said.stdout + said.stderr).split())


def test_new_tasks_and_edited_sections_do_not_move_the_wordings_that_are_pinned(
    workspace: Workspace, path: Path
) -> None:
    workspace.store.add(task(TASKS))
    assert len(OpenStudy.open(path, workspace).tasks) == TASKS, "a task that came in later is none of the study's"
    path.write_text(STUDY + '[tasks]\nsectors = ["Information", "Government"]\n')
    assert {one.version for one in OpenStudy.open(path, workspace).tasks} == {1}


def test_moving_on_is_asked_for_and_makes_sets_of_its_own_once(workspace: Workspace, path: Path) -> None:
    old = {one.key: one for one in workspace.store.find(Comparison)}
    assert all(one.task_version is None for one in old.values())
    moved = grade(OpenStudy.open(path, workspace, changed=True))
    new = [one for one in workspace.store.find(Comparison) if one.key not in old]
    assert versions(moved) == {2} and [one.task_version for one in new] == [2] * TASKS
    wordings = Wordings(workspace.store)
    assert {wordings.of(one) for one in old.values()} == {TaskKey.of(f"t-{n}", 1) for n in range(TASKS)}
    assert {wordings.of(one) for one in new} == set(moved.tasks)
    again = grade(OpenStudy.open(path, workspace))
    assert again == moved, "later runs go on with the newest form, and need not be told"
    assert workspace.store.count(Comparison) == 2 * TASKS
    form = workspace.store.newest(Study, id="base")
    assert form is not None
    pairs = read_evidence(workspace, form, needs=()).pairs
    assert set(words_in(pairs.columns["sector"])) == {"Information", "Government", "Other"}


def test_sets_that_were_kept_before_they_could_state_a_version_are_found_again(
    workspace: Workspace, path: Path
) -> None:
    """A study that moved on under an earlier release: its later sets carry no version, and nobody judges them twice."""
    moved = OpenStudy.open(path, workspace, changed=True).freeze(why="newer wordings")
    study = OpenStudy.open(path, workspace)
    workspace.store.add_all(
        Submission(task=item.task.id, task_version=item.task.version, author=item.author, text="A note.")
        for item in study.items
    )
    planned = layout_of(workspace, moved).comparisons
    unversioned = [one.but(task_version=None) for one in planned]
    workspace.store.add_all(unversioned)
    assert [one.key for one in layout_of(workspace, moved).comparisons] == [one.key for one in unversioned]


def test_a_later_wave_keeps_the_wordings_of_the_wave_it_extends(workspace: Workspace, path: Path) -> None:
    extend = ["study", "extend", str(path), "--author", "beta", "--model", "scripted/careless", "--drift-limit", "1"]
    command(workspace, *extend)
    wave = path.parent / "base-and-beta.toml"
    assert versions(grade(OpenStudy.open(wave, workspace))) == {1}
    first = workspace.store.newest(Study, id="base")
    assert first is not None and first.tasks == OpenStudy.open(wave, workspace, changed=True).frozen().tasks
    grade(OpenStudy.open(path, workspace, changed=True))
    assert versions(OpenStudy.open(wave, workspace).frozen()) == {1}, "also when the first wave has moved on"


def test_anchors_are_drawn_from_work_on_the_wordings_of_the_form_that_is_extended(
    workspace: Workspace, path: Path
) -> None:
    first = workspace.store.newest(Study, id="base")
    moved = grade(OpenStudy.open(path, workspace, changed=True))
    assert first is not None
    of_first, of_moved = (set(judged_pairs(workspace, form)) for form in (first, moved))
    assert (len(of_first), len(of_moved), of_first & of_moved) == (TASKS, TASKS, set())


def test_without_a_kept_form_a_set_is_about_the_version_its_work_was_made_for(workspace: Workspace) -> None:
    store = workspace.store
    works = [Submission(task="t-0", task_version=3, author={"kind": "expert"}, text=text) for text in ("a", "b")]
    store.add_all([*works, *(task(0, version=version) for version in (1, 3, 4))])
    gold = Comparison(study="base/gold", task="t-0", submissions=tuple(one.key for one in works))
    assert Wordings(store).of(gold) == "t-0@3" and Wordings(store).task(gold).version == 3
    stated = gold.but(task_version=4)
    assert Wordings(store).of(stated) == "t-0@4" and stated.key != gold.key


def test_the_first_form_that_holds_a_task_pins_it(workspace: Workspace) -> None:
    first = Study(id="s", title="s", seed=0, tasks=("t-0@1", "old-key"))
    second = first.but(tasks=("t-0@2", "t-1@5"))
    workspace.store.add_all([first, second])
    assert Wordings(workspace.store).pins("s") == {"t-0": "t-0@1", "t-1": "t-1@5"}
    assert first.pins == {"t-0": "t-0@1"}
    with pytest.raises(UnknownName, match="holds no wording"):
        first.pinned("old-key")


def test_a_report_is_about_the_wordings_its_study_pinned(workspace: Workspace) -> None:
    study = judged_study(workspace, "s", {"alpha": [[1.0, 0.0]] * 4})
    before = study_report(workspace, study)
    workspace.store.add_all(task(number, version=2, sector="Other", expert_hours=500) for number in range(4))
    assert study_report(workspace, study) == before


def test_a_deep_look_tells_of_sets_whose_work_was_made_for_another_version(workspace: Workspace, path: Path) -> None:
    def told() -> list[str]:
        return [words for words in examine_workspace(workspace, files=False).notes if "another version" in words]

    assert told() == []
    [first, second] = workspace.store.find(Submission, task="t-0")
    later = second.but(task_version=2, text="Another note.")
    workspace.store.add_all([later, Comparison(study="base", task="t-0", submissions=(first.key, later.key))])
    assert told() == ["1 comparisons show work made for another version of their task than their study pinned"]


def test_values_are_got_by_their_keys_in_the_order_asked_for(workspace: Workspace) -> None:
    tasks = [task(number) for number in range(3)]
    workspace.store.add_all(tasks)
    wanted = [tasks[2], tasks[0], tasks[2]]
    assert workspace.store.get_all(Task, [one.key for one in wanted]) == wanted
    with pytest.raises(UnknownName, match="t-9@1"):
        workspace.store.get_all(Task, [tasks[0].key, TaskKey("t-9@1")])
