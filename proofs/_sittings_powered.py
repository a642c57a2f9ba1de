"""Sittings for prediction-powered, sequential, savings and paired estimates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.joined import ppi_difference
from guildhall.analysis.paired import paired_difference
from guildhall.analysis.ppi import PpiRows, ppi_mean
from guildhall.analysis.ppi_ratings import PairRows, ppi_ratings
from guildhall.analysis.savings import TaskLedger, savings_from_tasks
from guildhall.analysis.sequential import confidence_sequence
from proofs._examining import Seen, Sitting, see
from proofs.simulator import (
    SAMPLES,
    Cell,
    Study,
    centre_for,
    draw_study,
    draw_votes,
    draw_work,
    logistic,
    true_rates,
    true_savings,
)

Flags = NDArray[np.bool_]
LABELLED = 0.4


def powered_means(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """One human score a sample; labels drawn by task, by row, with unequal chances, within strata, without tasks."""
    study, truth = draw_study(cell, rng, own_graders=True), true_rates(cell)["half_tie"]
    human, auto, task = _first_grades(study), study.auto / 2, study.sample_task
    by_task, by_row = (rng.random(cell.n_tasks) < LABELLED)[task], rng.random(len(auto)) < LABELLED
    chance = np.where(auto == 1, 0.6, 0.3)
    unequal = rng.random(len(auto)) < chance
    stratum, alike = task % 2, np.full(len(auto), LABELLED)
    rows = {
        "PPI mean, tasks labelled": PpiRows(auto, _hide(human, by_task), task=task, probability=alike),
        "PPI mean, rows labelled": PpiRows(auto, _hide(human, by_row), task=task, probability=alike),
        "PPI mean, unequal chances": PpiRows(auto, _hide(human, unequal), task=task, probability=chance),
        "PPI mean, stratified": PpiRows(auto, _hide(human, by_row), task=task, stratum=stratum, probability=alike),
    }
    for name, one in rows.items():
        if _enough(one.labelled & ~np.isnan(human), task, stratum):
            yield see(name, ppi_mean(one).estimate, truth)
    if _enough(rows["PPI mean, tasks labelled"].labelled, task, stratum):
        crossed = ppi_mean(rows["PPI mean, tasks labelled"], folds=5).estimate
        yield see("PPI mean, cross-fitted", crossed, truth)


def _first_grades(study: Study) -> NDArray[np.float64]:
    """The first grade of each sample, NaN where every grade is missing."""
    grades = np.full(len(study.sample_task), np.nan)
    samples, first = np.unique(study.sample, return_index=True)
    grades[samples] = study.halves[first] / 2
    return grades


def _hide(human: NDArray[np.float64], shown: Flags) -> NDArray[np.float64]:
    return np.where(shown, human, np.nan)


def _enough(labelled: Flags, task: NDArray[np.intp], stratum: NDArray[np.intp]) -> bool:
    return all(len(np.unique(task[labelled & (stratum == one)])) > 2 for one in (0, 1))


def powered_rows(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """Without tasks rows are independent: one sample a task."""
    study, truth = draw_study(cell, rng, own_graders=True), true_rates(cell)["half_tie"]
    once = np.arange(0, len(study.sample_task), SAMPLES)
    human, auto = _first_grades(study)[once], study.auto[once] / 2
    shown = rng.random(len(once)) < 0.5
    if (shown & ~np.isnan(human)).sum() > 5:
        yield see(
            "PPI mean, rows without tasks",
            ppi_mean(PpiRows(auto, _hide(human, shown), probability=np.full(len(auto), 0.5))).estimate,
            truth,
        )


def powered_differences(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """Two models on the same tasks, which are hard for both alike."""
    n = cell.n_tasks
    task = np.repeat(np.arange(n), SAMPLES)
    hard = cell.task_sd * rng.normal(size=n)
    labelled = (rng.random(n) < LABELLED)[task]
    rates = (0.5, 0.4)
    means = []
    for rate in rates:
        centre = centre_for(rate, cell.task_sd)
        human = (rng.random(len(task)) < logistic(centre + hard[task])).astype(float)
        auto = np.where(rng.random(len(task)) < 0.8, human, 1 - human)
        alike = np.full(len(auto), LABELLED)
        means.append(ppi_mean(PpiRows(auto, _hide(human, labelled), task=task, probability=alike)))
    yield see("PPI difference, paired by task", ppi_difference(*means), rates[0] - rates[1])


def powered_ratings(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    world = draw_votes(cell, rng, models=4, votes_a_task=24)
    if cell.ties:
        return  # half ties and Davidson's law differ; without ties both are Bradley and Terry's
    human = np.where((rng.random(cell.n_tasks) < LABELLED)[world.task], 1 - world.outcome / 2, np.nan)
    rows = PairRows(tuple("abcd"), world.left, world.right, 1 - world.auto / 2, human, task=world.task)
    yield see("PPI Bradley-Terry score", ppi_ratings(rows).scores[run % 4], float(world.scores[run % 4]))


def sequences(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """Looked at after every completed task; a fixed bank is half done."""
    study = draw_study(cell, rng, own_graders=True)
    counts = np.bincount(study.task, minlength=cell.n_tasks)
    means = (np.bincount(study.task, study.halves / 2, cell.n_tasks) / np.maximum(counts, 1))[counts > 0]
    truth = true_rates(cell)["half_tie"]
    for name, target, bank in (("population", truth, None), ("fixed bank", float(means.mean()), len(means))):
        path = confidence_sequence(means[: len(means) - (bank is not None)], n_bank=bank, steps=400)
        held = bool(((path.lower <= target + 1e-9) & (target <= path.upper + 1e-9)).all())
        yield Seen(f"always-valid interval, {name}", "always", held)


def saved(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    world = draw_work(cell, rng)
    ledger = TaskLedger(world.human, world.review, world.model, world.won, world.judged)
    found = savings_from_tasks(ledger, rng=rng, tries=(3,), rounds=600)
    yield see("savings, naive ratio", found.naive, true_savings(cell, 0))
    yield see("savings, try once", found.try_once, true_savings(cell, 1))
    yield see("savings, try 3 times", found.try_n[3], true_savings(cell, 3))


def paired(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    """Two conditions on the same tasks, nine grades each, five points apart."""
    hard = cell.task_sd * rng.normal(size=cell.n_tasks)
    rates = (cell.rate, min(cell.rate + 0.05, 0.95))
    sides = []
    for rate in rates:
        logit = centre_for(rate, float(np.hypot(cell.task_sd, 0.5))) + hard + 0.5 * rng.normal(size=len(hard))
        sides.append({str(task): won / 9 for task, won in enumerate(rng.binomial(9, logistic(logit)))})
    found = paired_difference(sides[0], sides[1])
    seen = see("paired difference", found, rates[0] - rates[1])
    yield seen._replace(exact="imagined" in found.method)


SITTINGS: dict[str, Sitting] = {
    "prediction-powered means": powered_means,
    "prediction-powered means without tasks": powered_rows,
    "prediction-powered differences": powered_differences,
    "prediction-powered ratings": powered_ratings,
    "sequential": sequences,
    "savings": saved,
    "paired": paired,
}
