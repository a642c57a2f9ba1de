"""Any author may be the baseline, and every key of a breakdown comes from what the bank and the study know."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from guildhall.documents.looking import Documents
from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Ratings, Specification
from guildhall.errors import UnreadableFile
from guildhall.grading.opening import design_of, open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from guildhall.study.file import read_study
from guildhall.study.findings import findings_of
from guildhall.study.freezing import Judges, design_of_file
from guildhall.study.works import BREAKDOWNS
from tests.study.made import judged_study, task

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
    simulate_hall(workspace, study, design_of(study), clock=lambda: float(next(ticks)))
    return study


@pytest.mark.parametrize("set_size", [2, 3])
def test_the_baseline_may_be_a_model_and_needs_no_expert(workspace: Workspace, set_size: int) -> None:
    study = judged(workspace, set_size=set_size)
    found = findings_of(workspace, study)
    assert found.baseline == "old" and {one.model for one in found.headline} == {"new", "other"}
    assert all(one.wins + one.ties + one.losses == 5 * 2 * 2 for one in found.headline)
    assert found.counts.tasks_compared == 5 and found.counts.tasks_without_expert == 5
    assert not any(group.name == "blinding" for group in found.groups), "no side was made by a person"


def test_each_sample_meets_the_baselines_sample_of_the_same_number(workspace: Workspace) -> None:
    judged(workspace, set_size=2)
    for comparison in workspace.store.find(Comparison, study="s"):
        base, other = (workspace.store.get(Submission, key).author for key in comparison.submissions)
        assert isinstance(base, ModelRun) and isinstance(other, ModelRun)
        assert (base.name, base.sample) == ("old", other.sample)


def test_in_sets_of_several_any_model_can_be_the_baseline_afterwards(workspace: Workspace) -> None:
    study = judged(workspace, set_size=3)
    turned = findings_of(workspace, study, baseline="new")
    [against_new] = [one for one in turned.headline if one.model == "old"]
    [against_old] = [one for one in findings_of(workspace, study).headline if one.model == "new"]
    assert (against_new.wins, against_new.losses) == (against_old.losses, against_old.wins)


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
    found = {breakdown.by[0]: breakdown for breakdown in findings_of(workspace, study).breakdowns}
    assert list(found) == list(BREAKDOWNS) and len(found) == 8
    levels = {name: {cell.levels[name] for cell in one.cells} for name, one in found.items()}
    assert levels["file_type"] == {"xlsx", "text only"} and levels["effort"] == {"low", "high"}
    assert levels["references"] == {"with reference files", "without"} and levels["condition"] == {"plain", "elicited"}
    assert levels["hours"] == {"0-2 h", "2-4 h", "4-8 h", "8 h and more"}
    for one in found.values():
        for model in ("low", "high"):
            cells = [cell for cell in one.cells if cell.model == model]
            assert sum(cell.wins + cell.ties + cell.losses for cell in cells) == 36
            assert all((cell.pooled is not None) == (len(cells) > 1) for cell in cells)
