"""The automatic grader: known judges found out, real judges measured, every file shown, nothing lost or paid twice."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.grading.scripted_judges import (
    LIKES_KIN,
    LIKES_LONGER,
    SECRETS,
    SEEN,
    TextPreparer,
    World,
    judge_plan,
    world,
)

from guildhall.analysis.accountability import Account
from guildhall.domain.estimates import Estimate
from guildhall.domain.judgments import Judgment
from guildhall.engine.terms import Pace, Terms
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import judge, standing
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from guildhall.study.accounting import account_of
from guildhall.study.judge_rows import JudgedWork
from proofs import Figures, proof, realdata

JUDGES = ("perfect", "random", "always-a", "longer", "kin", "refuses", "malformed")
TASKS, SWEEPS, LEVEL = 100, 2, 0.99
RATE = 0.1
SPLITS = 10
_PLACES = {0: 0.5, 1: 1.0, 2: 0.0}


@contextmanager
def _workspace() -> Iterator[Workspace]:
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
        Workspace.create(Path(folder) / "w") as made,
    ):
        yield made


def _desk(workspace: Workspace, made: World) -> JudgeDesk:
    return JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]


@proof(
    "judges-known-behaviour",
    "Each bias of seven scripted judges lies within its 99 % interval; every failure is counted; no author is shown",
    budget_s=900,
)
def known_behaviour() -> Figures:
    SEEN.clear()
    with _workspace() as workspace:
        made = world(workspace, tasks=TASKS)
        ended = {
            name: judge(
                ByModel(judge_plan(name)),
                made.comparisons,
                desk=_desk(workspace, made),
                terms=Terms(run="proof"),
                sweeps=SWEEPS,
            )
            for name in JUDGES
        }
        makers = dict.fromkeys(JUDGES, "plum")
        work = JudgedWork(workspace, made.study, made.makers, makers)
        found = {name: account_of(work, name, level=LEVEL) for name in JUDGES}
        failed = workspace.store.find(Judgment, failed=True)
    planted = _planted(found)
    missed = [name for name, (measured, truth) in planted.items() if not _within(measured, truth)]
    assert not missed, {name: planted[name] for name in missed}
    assert found["perfect"].first_place.value == 0.5 and found["perfect"].flips.value == 0.0
    perfect = found["perfect"].agreement
    assert perfect is not None and perfect.constant is not None and perfect.constant.beaten
    for name in ("random", "always-a"):
        agreement = found[name].agreement
        assert agreement is not None and agreement.constant is not None and not agreement.constant.beaten
    counted = sum(sum(one.coverage.failures.values()) for one in found.values())
    assert counted == len(failed) == sum(one.failures for one in ended.values())
    assert not [secret for secret in SECRETS for request in SEEN if secret in request]
    assert len(SEEN) == 4 * TASKS * SWEEPS
    return {
        "verdicts": sum(one.verdicts for one in ended.values()),
        "failures": {name: found[name].coverage.failures for name in ("refuses", "malformed")},
        "requests_searched_for_authors": len(SEEN),
        "recovered": {
            name: {"planted": truth, "found": measured.value, "interval": measured.interval}
            for name, (measured, truth) in planted.items()
        },
    }


def _planted(found: dict[str, Account]) -> dict[str, tuple[Estimate, float]]:
    """What was planted in each judge, beside what its account says."""
    return {
        "perfect: own family": (found["perfect"].kin, 0.0),
        "random: side shown first": (found["random"].first_place, 0.5),
        "random: agrees with itself": (found["random"].reliability, 0.5),
        "always-a: side shown first": (found["always-a"].first_place, 1.0),
        "longer: longer side": (found["longer"].longer, LIKES_LONGER),
        "kin: own family": (found["kin"].kin, LIKES_KIN * 0.5),
        "refuses: failures": (_failure_share(found["refuses"]), RATE),
        "malformed: failures": (_failure_share(found["malformed"]), RATE),
    }


def _failure_share(found: Account) -> Estimate:
    from guildhall.analysis.intervals import clopper_pearson

    asked, failed = found.coverage.asked, sum(found.coverage.failures.values())
    [low], [high] = clopper_pearson(np.array([failed]), np.array([asked]), LEVEL)
    ends = float(low), float(high)
    return Estimate(value=failed / asked, interval=ends, estimand="share of failures", method="exact", level=LEVEL)


def _within(measured: Estimate, truth: float) -> bool:
    return measured.interval is not None and measured.interval[0] <= truth <= measured.interval[1]


def _pandalm(folder: Path, judges: dict[str, tuple[str, str]]) -> Path:
    """The real ratings in the columns `analyze agreement` reads; replies without a verdict have no score."""
    people = json.loads(realdata("preferences/pandalm_testset-v1_3humans.json").read_text())
    out = folder / f"{'-'.join(judges)}.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", "model", "rater", "kind", "score"])
        for one in people:
            for number in (1, 2, 3):
                score = _PLACES[one[f"annotator{number}"]]
                writer.writerow([one["idx"], one["cmp_key"], f"annotator{number}", "human", score])
        for name, (file_name, field) in judges.items():
            for one in json.loads(realdata(f"preferences/{file_name}").read_text()):
                verdict = str(one[field])
                known = _PLACES[int(verdict)] if verdict in {"0", "1", "2"} else ""
                writer.writerow([one["idx"], people[one["idx"]]["cmp_key"], name, "auto", known])
    return out


PANDALM = {
    "gpt-3.5": ("pandalm_judge_gpt35.json", "gpt_result"),
    "pandalm-7b": ("pandalm_judge_pandalm7b.json", "pandalm_result"),
}


def _guildhall(*words: str, cwd: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "guildhall", *words, "--json"], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, object] = json.loads(done.stdout)
    return made


@proof(
    "judges-real-agreement",
    "On PandaLM people agree 0.9369, GPT-3.5 with people 0.7769 on 936 verdicts, PandaLM-7B 0.7356, by our commands",
)
def real_agreement() -> Figures:
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, source in PANDALM.items():
            found: dict[str, dict[str, object]] = _guildhall(  # type: ignore[assignment]
                "analyze", "agreement", str(_pandalm(Path(folder), {name: source})), cwd=Path(folder)
            )
            figures[name] = {kind: found[kind]["value"] for kind in ("human_human", "human_auto")}
            figures[name]["n"] = found["human_auto"]["n_samples"]
            figures[name]["interval"] = found["human_auto"]["interval"]
            figures[name]["best_constant"] = found["best_constant"]
    assert all(abs(one["human_human"] - 0.9369369369) < 1e-9 for one in figures.values())
    assert abs(figures["gpt-3.5"]["human_auto"] - 0.7768874644) < 1e-9 and figures["gpt-3.5"]["n"] == 936
    assert abs(figures["pandalm-7b"]["human_auto"] - 0.7355689022) < 1e-9 and figures["pandalm-7b"]["n"] == 999
    return figures


@proof(
    "judges-calibrator",
    "On PandaLM, cross-validated by item, the calibrator agrees with people at most 1 point less than the best judge "
    "and its log loss is better than each judge's by its own cross-validated confusion table",
)
def calibrator() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        file = _pandalm(Path(folder), PANDALM)
        words = ("--seed", "0", "--folds", "10", "--splits", str(SPLITS))
        found = _guildhall("grade", "calibrate", str(file), *words, cwd=Path(folder))
    gains = {one["judge"]: one for one in found["gains"]}  # type: ignore[attr-defined]
    best = max(gains.values(), key=lambda one: one["judge_agreement"])
    assert best["agreement"]["interval"][0] > -0.01, best
    assert best["agreement_over_splits"]["mean"]["interval"][0] > -0.01, best
    for one in gains.values():
        assert one["log_loss"]["interval"][0] > 0 and one["log_loss_over_splits"]["mean"]["interval"][0] > 0, one
    return {
        "split": f"10 folds by item, seed 0; over splits: seeds 0 to {SPLITS - 1}",
        "agreement": found["agreement"],
        "log_loss": found["log_loss"],
        "unseen_models": found["unseen_models"],
        "gains": gains,
    }


def _judge_until_killed(path: str) -> None:
    """A child process that judges a world already laid out; its parent kills it at some moment."""
    with Workspace.open(Path(path)) as workspace:
        made = _made_before(workspace)
        terms = Terms(run="killed", pace=Pace(connections=4))
        judge(ByModel(judge_plan("slow")), made.comparisons, desk=_desk(workspace, made), terms=terms, sweeps=SWEEPS)


def _made_before(workspace: Workspace) -> World:
    from guildhall.domain.judgments import Comparison
    from guildhall.domain.tasks import Task

    return World(workspace.store.find(Task), workspace.store.find(Comparison))


@proof(
    "judges-kill-and-resume",
    "Killed eight times at random moments, judging loses no verdict and judges nothing twice",
    budget_s=600,
)
def kill_and_resume() -> Figures:
    from random import Random

    rng, kills = Random(5), 0
    with _workspace() as workspace:
        made = world(workspace, tasks=40, people=0)
        grader = ByModel(judge_plan("slow"))
        context = multiprocessing.get_context("spawn")
        wanted = len(made.comparisons) * 2 * SWEEPS
        while standing(workspace.store, grader, made.comparisons, sweeps=SWEEPS).to_do:
            child = context.Process(target=_judge_until_killed, args=(str(workspace.path),))
            child.start()
            begun = Ledger(workspace.store).spent().usage.calls
            while child.is_alive() and Ledger(workspace.store).spent().usage.calls == begun:
                time.sleep(0.05)
            if kills < 8 and child.is_alive():
                time.sleep(rng.uniform(0.05, 0.6))
                os.kill(child.pid or 0, signal.SIGKILL)
                kills += 1
            child.join()
            child.close()
        kept = workspace.store.find(Judgment, grader=[one.key for one in grader.graders()])
        places = {(one.comparison, one.order, one.sweep) for one in kept}
        spent = Ledger(workspace.store).spent()
    assert len(kept) == len(places) == wanted, (len(kept), len(places), wanted)
    assert spent.usage.calls == wanted, "every answered call is answered once"
    return {"kills": kills, "verdicts": wanted, "answered_calls": spent.usage.calls, "in_flight_lost": spent.unanswered}
