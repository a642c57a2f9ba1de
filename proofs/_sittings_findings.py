"""Sittings for grader effects, severity, blinding, calibration and trends."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.calibration import calibrate
from guildhall.analysis.effects import (
    GuessRows,
    JudgedRows,
    blinding_index,
    drift_effect,
    grader_severities,
    kin_effect,
    length_effect,
    position_effect,
)
from guildhall.analysis.shares import SeverityRows, per_hundred_deliverables, severity_shares
from guildhall.analysis.trend import fit_trend
from proofs._examining import Seen, Sitting, see
from proofs.simulator import Cell, logistic

PLANTED = {"place": 0.06, "doubling": 0.03, "kin": 0.05, "month": -0.01}
KINDNESS = np.array([-0.08, -0.02, 0.04, 0.06])


def effects(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Four models judged by graders who are those models; effects are planted in the chance of a win itself."""
    task, model, grader = (axis.ravel() for axis in np.meshgrid(range(cell.n_tasks), range(4), range(4), indexing="ij"))
    n = len(task)
    first = rng.random(n) < 0.5
    length, days, kin = np.clip(rng.normal(size=n), -2, 2), rng.uniform(0, 120, n), model == grader
    base = 0.3 + 0.4 * logistic(cell.task_sd * rng.normal(size=cell.n_tasks)[task] + 0.3 * model)
    chance = base + KINDNESS[grader] + PLANTED["place"] * first + PLANTED["doubling"] * length
    chance = chance + PLANTED["kin"] * kin + PLANTED["month"] * days / 30
    rows = JudgedRows(
        task=task,
        model=model,
        grader=grader,
        sample=task * 4 + model,
        score=(rng.random(n) < chance).astype(float),
        shown_first=first,
        log_length_ratio=length * np.log(2),
        kin=kin,
        days=days,
    )
    yield see("position effect", position_effect(rows), PLANTED["place"])
    yield see("length effect", length_effect(rows), PLANTED["doubling"])
    yield see("self- or family-preference of graders", kin_effect(rows), PLANTED["kin"])
    yield see("drift over time", drift_effect(rows), PLANTED["month"])
    who = run % 4
    others = (KINDNESS.sum() - KINDNESS[who]) / 3
    found = grader_severities(rows, {who: "grader"})["grader"]
    # Each grader is kin to one model in four, and so are the others between them: kinship cancels.
    yield see("severity of a grader", found, float(KINDNESS[who] - others))


SEVERITY = np.array([0.03, 0.26, 0.48, 0.23])


def severities(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Three samples a task, lost ones rated by three, won ones drawn one in five; tasks differ in their mix."""
    samples = np.arange(cell.n_tasks * 3)
    task = samples // 3
    mix = rng.dirichlet(SEVERITY * 8 / cell.task_sd, size=cell.n_tasks)
    lost = rng.random(len(samples)) < 0.6
    drawn = np.where(lost, 1.0, 0.2)
    rated = np.repeat(samples[lost | (rng.random(len(samples)) < 0.2)], 3)
    cuts = mix.cumsum(axis=1)[task[rated]]
    rating = (rng.random(len(rated))[:, None] > cuts[:, :-1]).sum(axis=1)
    rating = np.where(lost[rated], rating, 3)
    names = ("catastrophic", "bad", "subpar", "better")
    rows = SeverityRows(names, rating, task[rated], rated, lost[rated], drawn[rated])
    which = run % 4
    yield see("severity share", severity_shares(rows)[names[which]], float(SEVERITY[which]))
    yield see("catastrophic per 100 deliverables", per_hundred_deliverables(rows, names[0]), 60 * SEVERITY[0])


def guesses(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """Graders differ in how often they guess right; ten pairs each."""
    graders = max(12, cell.n_tasks // 5)
    right = rng.beta(4, 4, size=graders)
    grader = np.repeat(np.arange(graders), 10)
    told = rng.random(len(grader)) < 0.7
    guess = np.where(told, np.where(rng.random(len(grader)) < right[grader], 1, -1), 0).astype(np.int8)
    rows = GuessRows(guess, rng.random(len(grader)) < cell.rate, grader, np.arange(len(grader)))
    yield see("blinding index", blinding_index(rows)["all"], 0.0)


def calibrations(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    confidence, outcome, task = _forecasts(cell.task_sd, rng, cell.n_tasks)
    found = calibrate(confidence, outcome, task, against="acceptance", bins=5)
    brier, over, top = _true_calibration(cell.task_sd)
    yield see("Brier score", found.brier, brier)
    yield see("over-confidence", found.overconfidence, over)
    for one in found.curve:
        if one.low == 0.8:
            yield see("reliability of a bin", one.came_true, top)


def _forecasts(
    task_sd: float, rng: np.random.Generator, n_tasks: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    task = np.repeat(np.arange(n_tasks), 3)
    confidence = rng.beta(4, 2, len(task))
    logit = 0.7 * np.log(confidence / (1 - confidence)) - 0.3 + task_sd * rng.normal(size=n_tasks)[task]
    return confidence, (rng.random(len(task)) < logistic(logit)).astype(float), task


@lru_cache(maxsize=8)
def _true_calibration(task_sd: float) -> tuple[float, float, float]:
    confidence, outcome, _ = _forecasts(task_sd, np.random.default_rng(77), 1_000_000)
    gap = confidence - outcome
    return float((gap**2).mean()), float(gap.mean()), float(outcome[confidence >= 0.8].mean())


def trends(_: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Models scatter about a line, each rate with an error of its own."""
    models = (7, 17)[run % 2]
    years = np.sort(rng.uniform(0, 2, models))
    errors = rng.uniform(0.01, 0.05, models)
    scatter = (0.0, 0.03, 0.08)[run % 3]
    rates = 0.2 + 0.15 * years + scatter * rng.normal(size=models) + errors * rng.normal(size=models)
    trend = fit_trend(years, rates, errors)
    yield see("trend, slope per year", trend.slope_per_year, 0.15)
    yield see("trend, height of the line", trend.at(1.5), 0.2 + 0.15 * 1.5)


SITTINGS: dict[str, Sitting] = {
    "grader effects": effects,
    "severity shares": severities,
    "blinding": guesses,
    "calibration": calibrations,
    "trend": trends,
}
