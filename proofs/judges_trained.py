"""Graders trained on people: fitted votes of a panel and judged examples in the prompt, each worth what it is worth."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from tests.grading.judge_cases import ballots
from tests.grading.scripted_judges import SECRETS, SEEN, TextPreparer, World, brevity, judge_plan, world

from guildhall.analysis.panel_weights import fit_panel
from guildhall.domain.estimates import Estimate
from guildhall.domain.judges import ExamplesFrom, JudgePlan
from guildhall.engine.terms import Terms
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.example_making import collect_examples
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import judge
from guildhall.store.workspace import Workspace
from guildhall.study.accounting import gain_of
from guildhall.study.judge_rows import JudgedWork
from proofs import Figures, proof
from proofs.judges import PANDALM, _guildhall, _pandalm

RUNS = 40
TASKS = 60


@proof(
    "judges-panel-weights",
    "Fitted votes gain over equal votes where one member is better, gain nothing where all are alike, and on the real "
    "PandaLM judges, by our command, agree no more than a point less than the best judge",
    budget_s=900,
)
def panel_weights() -> Figures:
    better = [fit_panel(ballots(0.8, 0.6, 0.6, 0.5, seed=seed), folds=5, splits=2) for seed in range(RUNS)]
    alike = [fit_panel(ballots(0.7, 0.7, 0.7, seed=seed), folds=5, splits=2) for seed in range(RUNS)]
    gained = [fit.over_equal.mean for fit in better]
    assert float(np.mean([one.value for one in gained if one.value is not None])) > 0.02
    shown = sum(one.interval is not None and one.interval[0] > 0 for one in gained)
    assert shown >= 0.8 * RUNS, shown
    claimed = sum(one.over_equal.mean.interval is not None and one.over_equal.mean.interval[0] > 0 for one in alike)
    assert claimed <= 0.1 * RUNS, claimed
    with tempfile.TemporaryDirectory() as folder:
        file = _pandalm(Path(folder), PANDALM)
        real = _guildhall("grade", "weigh", str(file), "--seed", "0", "--splits", "10", cwd=Path(folder))
    over_best: dict[str, object] = real["gain_over_best"]  # type: ignore[assignment]
    assert over_best["least"] > -0.01, over_best  # type: ignore[operator]
    return {
        "planted_one_better": {
            "runs": RUNS,
            "mean_votes_of_the_better": float(np.mean([fit.weights["a"] for fit in better])),
            "mean_gain_over_equal_votes": float(np.mean([one.value for one in gained if one.value is not None])),
            "gain_shown_in": shown,
        },
        "planted_all_alike": {
            "runs": RUNS,
            "mean_gain_over_equal_votes": float(np.mean([fit.over_equal.mean.value or 0.0 for fit in alike])),
            "gain_claimed_in": claimed,
        },
        "pandalm": {name: real[name] for name in ("weights", "agreement", "equal_votes", "gain_over_equal")}
        | {"gain_over_best": over_best, "best_member": real["best_member"]},
    }


@proof(
    "judges-examples",
    "Judged examples of other tasks lift a judge that learns from them, change nothing for one that does not, and show "
    "it neither an author nor anything of its own task",
    budget_s=900,
)
def judged_examples() -> Figures:
    SEEN.clear()
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
        Workspace.create(Path(folder) / "w") as workspace,
    ):
        made = world(workspace, tasks=TASKS, taste=brevity)
        gains = {name: _gain(workspace, made, name) for name in ("learner", "perfect")}
    learnt, ignored = gains["learner"], gains["perfect"]
    assert learnt.interval is not None and learnt.interval[0] > 0.3, learnt
    assert ignored.value == 0.0, ignored
    shown = [request for request in SEEN if "# Judged examples" in request]
    for request in shown:
        examples, _, own = request.rpartition("# The request")
        number = own.split()[2].rstrip(".")
        assert f"Edit text {number}.\n" not in examples and f"t-{number}\n" not in examples
        assert not [secret for secret in SECRETS if secret in request]
    # Two judges and two orders of two pairs a task.
    assert len(shown) == 2 * 4 * TASKS, len(shown)
    return {
        "tasks": TASKS,
        "requests_with_examples": len(shown),
        "gain_of_one_that_learns": {"value": learnt.value, "interval": learnt.interval},
        "gain_of_one_that_does_not": ignored.value,
    }


def _gain(workspace: Workspace, made: World, name: str) -> Estimate:
    desk = JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    kept = collect_examples(made.comparisons, desk, name="e", study="w", seed=0, now=now)
    shown = ExamplesFrom(file=Path("examples.json"), count=4, version=workspace.blobs.put(kept.canonical()))
    plain: JudgePlan = judge_plan(name)
    with_examples = plain.but(name=f"{name}-with-examples", examples=shown)
    for plan in (plain, with_examples):
        judge(ByModel(plan), made.comparisons, desk=desk, terms=Terms(run="examples"), sweeps=1)
    return gain_of(JudgedWork(workspace, made.study, made.makers), with_examples.name, plain.name)
