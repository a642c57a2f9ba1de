"""Any author may be the baseline, and every key of a breakdown comes from what the bank and the study know."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from guildhall.analysis.pairs import BREAKDOWNS
from guildhall.documents.looking import Documents
from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Ratings, Specification
from guildhall.errors import UnreadableFile
from guildhall.grading.opening import open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from guildhall.study.file import read_study
from guildhall.study.freezing import Judges, design_of_file
from guildhall.study.reporting import study_report
from tests.study.made import judged_study, task
from tests.study.told import breakdowns, outcomes

HALL = {"simulated_graders": 4, "graders_per_set": 2, "exposure_limit": 3, "minimum_reason_words": 0}


def judged(workspace: Workspace, *, set_size: int) -> Study:
    """Five tasks without any expert's work; three models, one of them the baseline, with two samples each."""
    tasks = [task(number, expert_text=None) for number in range(5)]
    workspace.store.add_all(tasks)
    runs = [ModelRun(name=name, model="m", sample=n) for name in ("old", "new", "other") for n in (1, 2)]
    for one in tasks:
        workspace.store.add_all(Submission(task=one.id, author=run, text=f"{run.key}") for run in runs)
    study = Study(
        id="s",
        title="Models against a model",
        seed=1,
        tasks=tuple(one.key for one in tasks),
        authors=tuple(runs),
        design={"baseline": "old", "people": HALL | {"set_size": set_size}},
    )
    workspace.store.add(study)
    open_hall(workspace, study, Preparer(workspace, cast("Documents", None)))
    ticks = count(1_700_000_000)
    done = simulate_hall(workspace, study, study.design.hall, clock=lambda: float(next(ticks)))
    assert done.preferred_expert == 0, "no expert's work is in this study, whatever else the workspace holds"
    return study


@pytest.mark.parametrize("set_size", [2, 3])
def test_the_baseline_may_be_a_model_and_needs_no_expert(workspace: Workspace, set_size: int) -> None:
    study = judged(workspace, set_size=set_size)
    found = study_report(workspace, study)
    assert found.policy.baseline == "old" and set(found.rates) == {"new", "other"}
    assert all(sum(told) == 5 * 2 * 2 for told in outcomes(found).values())
    assert found.counts["tasks_compared"] == 5 and found.counts["tasks_without_expert"] == 5
    assert found.section("blinding") is None, "no side was made by a person"


def test_each_sample_meets_the_baselines_sample_of_the_same_number(workspace: Workspace) -> None:
    judged(workspace, set_size=2)
    for comparison in workspace.store.find(Comparison, study="s"):
        base, other = (workspace.store.get(Submission, key).author for key in comparison.submissions)
        assert isinstance(base, ModelRun) and isinstance(other, ModelRun)
        assert (base.name, base.sample) == ("old", other.sample)


def test_in_sets_of_several_any_model_can_be_the_baseline_afterwards(workspace: Workspace) -> None:
    study = judged(workspace, set_size=3)
    against_new = outcomes(study_report(workspace, study, baseline="new"))["old"]
    against_old = outcomes(study_report(workspace, study))["new"]
    assert against_new == against_old[::-1]


def test_a_baseline_nobody_knows_is_refused(tmp_path: Path) -> None:
    text = '[study]\nid = "s"\ntitle = "S"\nbaseline = "{}"\n[[authors]]\nname = "a"\nmodel = "scripted/careful"\n'
    (tmp_path / "good.toml").write_text(text.format("a"))
    design = design_of_file(read_study(tmp_path / "good.toml"), Judges((), None), None)
    assert design.plan is not None and design.baseline == design.plan.baseline == "a"
    (tmp_path / "bad.toml").write_text(text.format("b"))
    with pytest.raises(UnreadableFile, match="baseline 'b'"):
        read_study(tmp_path / "bad.toml")


def test_all_eight_keys_break_the_headline_down(workspace: Workspace) -> None:
    file = FileRef(name="table.xlsx")
    tasks = [
        task(
            number,
            occupation=("Editors", "Clerks")[number % 2],
            reference_files=(file,) if number % 3 else (),
            expert_files=(FileRef(name=("plan.docx", "table.xlsx")[number % 2]),),
            ratings=Ratings(specification=list(Specification)[number % 3]),
        )
        for number in range(12)
    ]
    workspace.store.add_all(tasks)
    runs: dict[str, dict[str, Any]] = {
        "low": {"settings": {"reasoning_effort": "low"}, "condition": "plain"},
        "high": {"settings": {"reasoning_effort": "high"}},
    }
    scores = [[1.0, 0.5, 0.0], [0.0, 0.0, 1.0]] * 6
    study = judged_study(
        workspace, "s", {"low": scores, "high": scores}, runs=runs, tasks=tasks, files={"high": (file,)}
    )
    found = breakdowns(study_report(workspace, study))
    assert list(found) == list(BREAKDOWNS) and len(found) == 8
    levels = {name: {cell[name] for cell in cells} for name, cells in found.items()}
    assert levels["file_type"] == {"docx", "xlsx"}, "what the task asks for, whatever each model delivers"
    assert levels["effort"] == {"low", "high"}
    assert levels["references"] == {"with reference files", "without"} and levels["condition"] == {"plain", "elicited"}
    assert levels["hours"] == {"0-2 h", "2-4 h", "4-8 h", "8 h and more"}
    for cells in found.values():
        for model in ("low", "high"):
            own = [cell for cell in cells if cell["model"] == model]
            assert sum(cell["wins"] + cell["ties"] + cell["losses"] for cell in own) == 36
            assert all((cell["pooled"] is not None) == (len(own) > 1) for cell in own)
