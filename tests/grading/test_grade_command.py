"""`guildhall grade` from the study file to the account, on work that consists of words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from guildhall.cli.grade import app
from guildhall.domain.authors import GraderKind, ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Rubric, RubricItem, Task
from guildhall.errors import GuildhallError, InputError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STUDY = """
[study]
id = "s"
title = "A study"
[[authors]]
name = "m"
model = "maker/m"
samples = 1
[[judges]]
name = "counter"
model = "scripted/word-counter"
[grading]
submissions = "all"
sweeps = 2
"""


@pytest.fixture
def study(workspace, tmp_path: Path) -> Path:
    rubric = Rubric(items=(RubricItem(text="States the quarterly total", points=4),))
    for number in range(4):
        task = Task(
            id=f"t-{number}",
            sector="Information",
            occupation="Editors",
            brief="State the total.",
            expert_text="It states the quarterly total.",
            rubric=rubric,
        )
        text = "No." if number % 2 else "The long total " * 9
        made = Submission(task=task.id, author=ModelRun(name="m", model="maker/m"), text=text, made_at=NOW)
        workspace.store.add_all([task, made])
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def grade(workspace, study: Path, *words: str) -> Any:
    result = CliRunner().invoke(app, [*words, "--study", str(study), "--workspace", str(workspace.path), "--json"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


def person_judges(workspace) -> None:
    for comparison in workspace.store.find(Comparison):
        person = Person(code_name="ann", grader_kind=GraderKind.SIMULATED)
        ranks = (1, 2) if int(comparison.task[-1]) % 2 else (2, 1)
        workspace.store.add(
            Judgment(
                comparison=comparison.key,
                grader=person,
                order=comparison.submissions,
                ranks=ranks,
                reason="so it is",
                made_at=NOW,
            )
        )


def test_judges_and_baselines_judge_and_grades_come_back_with_intervals(workspace, study):
    planned = grade(workspace, study, "plan")
    assert planned["comparisons"] == 4
    assert {row["grader"]: row["to_do"] for row in planned["graders"]} == {
        "counter": 16,
        "always-human": 8,
        "always-tie": 8,
        "rubric-and-format": 8,
    }
    judged = grade(workspace, study, "judge")
    (model,) = judged["counter"]["models"]
    assert (model["wins"], model["losses"]) == (8, 8) and model["half_tie"]["interval"] is not None
    assert grade(workspace, study, "judge", "--judge", "counter")["counter"]["verdicts"] == 0
    assert all(row["to_do"] == 0 for row in grade(workspace, study, "status")["graders"])


def test_a_judge_is_held_to_account_by_people_of_a_named_kind(workspace, study):
    grade(workspace, study, "judge")
    person_judges(workspace)
    found = grade(workspace, study, "account", "--judge", "counter")["judges"][0]
    assert found["human_auto"]["value"] == 1.0 and found["people"] == ["simulated"]
    assert found["best_constant"]["agreement"]["value"] == 0.5
    gains = grade(workspace, study, "account", "--judge", "counter")["gains"]["counter"]
    assert {name: one["value"] for name, one in gains.items()} == {
        "always-human": 0.5,
        "always-tie": 0.5,
        "rubric-and-format": pytest.approx(0.5, abs=0.5),
    }
    assert found["coverage"] == {"asked": 16, "verdicts": 16, "failures": {}, "left_out_with_them": 0, "cost_usd": 0.0}


def test_ungradable_tasks_are_left_out_with_their_number(workspace, study):
    grade(workspace, study, "judge", "--judge", "counter")
    person_judges(workspace)
    marked = CliRunner().invoke(
        app, ["ungradable", "t-0", "--reason", "fonts", "--workspace", str(workspace.path), "--json"]
    )
    assert json.loads(marked.stdout) == {"t-0": "fonts (by manager)"}
    found = grade(workspace, study, "account")
    assert found["ungradable"] == {"t-0": "fonts (by manager)"}
    assert found["judges"][0]["human_auto"]["n_samples"] == 3


def test_a_judge_that_fails_at_everything_gives_no_grades_and_takes_none_from_others(workspace, study):
    study.write_text(STUDY.replace("[grading]\n", '[[judges]]\nname = "broken"\nmodel = "scripted/fails"\n[grading]\n'))
    judged = grade(workspace, study, "judge")
    assert judged["broken"]["models"] == [] and judged["broken"]["failures"] == 16
    assert judged["counter"]["models"][0]["wins"] == 8


def test_rubrics_mark_the_expert_too(workspace, study):
    scores = grade(workspace, study, "rubric", "--judge", "counter")["scores"]
    by_author = {row["author"]: row["score"]["value"] for row in scores}
    assert by_author["expert"] == 1.0 and by_author["m"] < 1.0


def test_a_calibrator_is_trained_and_written_with_its_card(workspace, study, tmp_path):
    grade(workspace, study, "judge")
    person_judges(workspace)
    out = tmp_path / "trained" / "c.json"
    made = grade(workspace, study, "calibrate", "--folds", "2", "--out", str(out))
    assert json.loads(out.read_text())["features"] == made["features"]
    assert made["version"] in out.with_suffix(".md").read_text()
    assert not [name for name in made["features"] if name.startswith("always-")]


def test_people_s_judgments_are_exported_one_line_a_pair(workspace, study):
    grade(workspace, study, "plan")
    person_judges(workspace)
    words = ["export", "--shape", "reward", "--study", str(study), "--workspace", str(workspace.path)]
    lines = CliRunner().invoke(app, words).stdout.splitlines()
    assert len(lines) == 4 and all(json.loads(line)["margin"] == 1.0 for line in lines)


def test_an_unknown_judge_is_refused_by_name(workspace, study):
    with pytest.raises(GuildhallError, match="no judge is called 'nobody'"):
        grade(workspace, study, "judge", "--judge", "nobody")


def test_a_judge_with_other_settings_is_another_judge(workspace, study):
    grade(workspace, study, "judge", "--judge", "counter")
    larger = 'model = "scripted/word-counter"\ncontext_tokens = 9000'
    study.write_text(STUDY.replace('model = "scripted/word-counter"', larger))
    for words, needed in (((), "--changed"), (("--changed",), "--why")):
        with pytest.raises(InputError, match=needed):
            grade(workspace, study, "judge", "--judge", "counter", *words)
    why = "it could not read the whole work"
    judged = grade(workspace, study, "judge", "--judge", "counter", "--changed", "--why", why)["counter"]
    assert judged["verdicts"] == 16 and judged["models"][0]["wins"] == 8, "asked anew, and not pooled with the old"
    first, second = workspace.store.find(Study, id="s")
    assert (second.design.replaces, second.design.why) == (first.key, why)
    assert second.design.changed_from(first.design) == ("judges",)
    assert set(second.design.automatic["counter"]).isdisjoint(first.design.automatic["counter"])


def test_the_plan_tells_what_was_spent_and_what_the_rest_may_cost(workspace, study):
    priced = '[prices."scripted/word-counter"]\ninput_usd = 1000.0\noutput_usd = 1000.0\nas_of = 2026-01-01\n'
    study.write_text(STUDY + priced)
    (before,) = [row for row in grade(workspace, study, "plan")["graders"] if row["grader"] == "counter"]
    assert before["cost_usd"] == 0.0 and before["expected_usd"] is None, "before the first answer nobody knows"
    grade(workspace, study, "judge", "--judge", "counter", "--sweeps", "1")
    (half,) = [row for row in grade(workspace, study, "plan")["graders"] if row["grader"] == "counter"]
    assert half["to_do"] == 8 and half["expected_usd"] == pytest.approx(half["cost_usd"]) and half["cost_usd"] > 0


def test_a_judge_that_hears_is_held_to_account_for_sound_and_others_are_not(workspace, study):
    sound = Task(
        id="t-9",
        sector="Information",
        occupation="Editors",
        brief="Cut it.",
        expert_text="Cut.",
        reference_files=(FileRef(name="mix.wav", digest=workspace.blobs.put(b"RIFF")),),
    )
    made = Submission(task="t-9", author=ModelRun(name="m", model="maker/m"), text="Done and cut.", made_at=NOW)
    workspace.store.add_all([sound, made])
    hearing = '[[judges]]\nname = "hearing"\nmodel = "scripted/word-counter"\ntakes = ["image", "audio"]\n[grading]\n'
    study.write_text(STUDY.replace("[grading]\n", hearing))
    grade(workspace, study, "judge")
    person_judges(workspace)
    found = grade(workspace, study, "account", "--judge", "counter", "--judge", "hearing")
    assert {one["grader"]: one["human_auto"]["n_samples"] for one in found["judges"]} == {"counter": 4, "hearing": 5}
    assert list(found["ungradable"]) == ["t-9"]
