"""The plan says what grading will take before a single submission exists, and no more is left once all is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.store.workspace import Workspace
from guildhall.study.studies import OpenStudy
from tests.study.made import task

STUDY = """
[study]
id = "small"
title = "A small study"
[[authors]]
name = "alpha"
model = "scripted/careful"
samples = 2
[[authors]]
name = "beta"
model = "scripted/careless"
samples = 1
[people]
graders_per_set = 3
minutes_per_set = 30
hourly_wage_usd = 60.0
[[judges]]
name = "judge"
model = "scripted/careful"
[grading]
sweeps = 2
baselines = ["always-tie"]
"""


@pytest.fixture
def path(workspace: Workspace, tmp_path: Path) -> Path:
    workspace.store.add_all([task(0), task(1), task(2), task(3, expert_text=None)])
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def plan(workspace: Workspace, path: Path) -> dict[str, dict[str, object]]:
    ended = CliRunner().invoke(app, ["study", "plan", str(path), "--workspace", str(workspace.path), "--json"])
    assert ended.exit_code == 0, ended.output
    found: dict[str, dict[str, object]] = json.loads(ended.stdout)
    return found


def test_hours_calls_and_dollars_are_told_before_anything_is_made(workspace: Workspace, path: Path) -> None:
    told = plan(workspace, path)
    assert told["sampling"]["items"] == 4 * 3
    people = told["people"]
    assert (people["gradings"], people["hours"], people["cost_usd"]) == (27, 13.5, 810.0)
    assert people["tasks_without_expert"] == 1 and people["graders_needed"] == {"Editors": 9}
    graders = {one["grader"]: one for one in told["judging"]["graders"]}  # type: ignore[attr-defined]
    assert graders["judge"]["to_do"] == 9 * 2 * 2 and graders["judge"]["usd"] is None
    assert graders["always-tie"]["usd"] == 0.0
    assert workspace.store.count(Study) == 0 and workspace.store.count(Submission) <= 3, "planning makes no work"


def test_the_plan_in_words_names_people_and_programs(workspace: Workspace, path: Path) -> None:
    ended = CliRunner().invoke(app, ["study", "plan", str(path), "--workspace", str(workspace.path)])
    assert "27 gradings, 13.5 h, for about $810.00" in ended.output and "automatic graders" in ended.output


def test_a_submission_that_was_made_is_not_planned_twice(workspace: Workspace, path: Path) -> None:
    before = plan(workspace, path)["people"]
    study = OpenStudy.open(path, workspace)
    workspace.store.add_all(Submission(task=item.task.id, author=item.author, text="x") for item in study.items[:5])
    assert plan(workspace, path)["people"] == before


def test_a_study_file_leads_to_its_report(workspace: Workspace, path: Path, tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["study", "report", str(path), "--workspace", str(workspace.path)])
    assert ended.exception is not None and "small" in str(ended.exception)
