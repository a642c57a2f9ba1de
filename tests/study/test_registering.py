"""A plan one can register: frozen under a digest, printed by the report, with everything that departed from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guildhall.analysis.sequential import look_level
from guildhall.domain.authors import ModelRun
from guildhall.domain.design import Design, PlanChoices
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.store.workspace import Workspace
from guildhall.study.reporting import study_report, write_registration
from tests.study.made import judged_study, task

LOOKS = {"at": (0.5, 1.0)}


def study_with(workspace: Workspace, *, judged: int, margin: float = 0.05) -> Study:
    """Twelve tasks of one author, of which some are judged; two looks are planned."""
    design = Design.model_validate({"format": 2, "people": {"graders_per_set": 2}})
    chosen = PlanChoices.model_validate({"margin": margin, "looks": LOOKS})
    tasks = [task(number) for number in range(12)]
    rows = [[1.0, 0.0] if n % 3 else [1.0, 1.0] for n in range(judged)]
    made = judged_study(
        workspace, "s", {"alpha": rows}, tasks=tasks, design=dict(design.planned(chosen, authors=["alpha"]))
    )
    author = ModelRun(name="alpha", model="made/alpha")
    workspace.store.add_all([Submission(task=f"t-{n}", author=author, text="Note by alpha.") for n in range(12)])
    return made


def test_a_registration_is_a_page_and_a_file_with_the_digest_that_the_report_prints(
    workspace: Workspace, tmp_path: Path
) -> None:
    study = study_with(workspace, judged=12)
    page, data = write_registration(study, tmp_path / "plan")
    told = json.loads(data.read_text())
    assert told["digest"] == study.content_digest()
    assert Study.model_validate(told["frozen"]).content_digest() == told["digest"], "the whole form is in it"
    assert told["digest"] in page.read_text() and "difference that matters: 0.05" in page.read_text()
    assert told["digest"] in " ".join(study_report(workspace, study).planned_and_done)
    again = write_registration(study, tmp_path / "again")
    assert [one.read_bytes() for one in again] == [page.read_bytes(), data.read_bytes()]


def test_a_design_that_was_frozen_anew_is_told_with_what_changed_and_why(workspace: Workspace) -> None:
    study = study_with(workspace, judged=12)
    plan = study.design.plan
    assert plan is not None
    other = study.design.but(plan=plan.but(margin=0.2), replaces=study.key, why="the results looked better")
    form = study.but(design=other)
    workspace.store.add(form)
    said = " ".join(study_report(workspace, form).planned_and_done)
    assert f"Departed from the plan: design: planned as {study.key}" in said
    assert "(changed: plan); why: the results looked better" in said


def test_a_report_before_the_end_says_at_which_look_it_stands_and_has_wider_intervals(workspace: Workspace) -> None:
    study = study_with(workspace, judged=6)
    report = study_report(workspace, study)
    said = " ".join(report.planned_and_done)
    assert "This is a look after 50% of the planned gradings: intervals are at 99." in said
    assert "Departed from the plan" not in said and "No other departure" in said
    [rates] = report.rates.values()
    assert 0.99 < rates["half_tie"].level < 1.0


def test_a_look_that_nobody_planned_is_a_departure(workspace: Workspace) -> None:
    said = " ".join(study_report(workspace, study_with(workspace, judged=3)).planned_and_done)
    assert "Departed from the plan: looked at after 25% of the gradings; planned after 50%, 100%." in said


@pytest.mark.parametrize("looks", [(1.0,), (0.5, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0)])
def test_all_planned_looks_together_spend_the_error_of_the_plan(looks: tuple[float, ...]) -> None:
    spent = [1 - look_level(0.95, looks, at) for at in looks]
    assert sum(spent) == pytest.approx(0.05)
    assert spent == sorted(spent), "little at early looks"
