"""What a file of judgments says about the next ones: components of variance, judgments needed, where to spend them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guildhall.analysis.design import (
    Components,
    JudgmentsNeeded,
    Worth,
    estimate_components,
    tasks_for_power,
    tasks_for_width,
    worth_by_task,
    worth_of_next,
)
from guildhall.analysis.outcomes import Outcomes, read_outcomes
from guildhall.analysis.rated import CONVENTIONS
from guildhall.domain.estimates import Convention


@dataclass(frozen=True)
class ModelPlan:
    """One model's components and what they ask for; `neediest` are the tasks where one more grade helps most."""

    model: str
    rate: float
    components: Components
    tasks: int
    samples: int
    graders: int
    for_width: JudgmentsNeeded
    for_power: JudgmentsNeeded
    worth: Worth
    neediest: tuple[str, ...]


def read_plans(
    path: Path,
    *,
    half_width: float,
    difference: float,
    power: float = 0.8,
    convention: Convention = "half_tie",
    level: float = 0.95,
) -> list[ModelPlan]:
    """A plan for every model in a file of judgments `task, model, sample, score`."""
    outcomes = read_outcomes(path)
    return [
        _plan(outcomes, code, half_width, difference, power, convention, level)
        for code in range(len(outcomes.model.names))
    ]


def _plan(
    outcomes: Outcomes,
    code: int,
    half_width: float,
    difference: float,
    power: float,
    convention: Convention,
    level: float,
) -> ModelPlan:
    mine = outcomes.model.codes == code
    task, score = outcomes.task.codes[mine].astype(np.intp), np.array(CONVENTIONS[convention])[outcomes.halves[mine]]
    sample = task * (int(outcomes.sample.codes.max()) + 1) + outcomes.sample.codes[mine]
    parts = estimate_components(task, sample, score)
    tasks, at, judged = np.unique(task, return_inverse=True, return_counts=True)
    n_samples = len(np.unique(sample))
    samples, graders = max(1, round(n_samples / len(tasks))), max(1, round(len(score) / n_samples))
    order = np.argsort(-worth_by_task(parts, judged), kind="stable")[:3]
    return ModelPlan(
        model=outcomes.model.names[code],
        rate=float((np.bincount(at, score) / judged).mean()),
        components=parts,
        tasks=len(tasks),
        samples=samples,
        graders=graders,
        for_width=tasks_for_width(parts, half_width, samples=samples, graders=graders, level=level),
        for_power=tasks_for_power(parts, difference, samples=samples, graders=graders, power=power, level=level),
        worth=worth_of_next(parts, tasks=len(tasks), samples=samples, graders=graders),
        neediest=tuple(outcomes.task.names[tasks[place]] for place in order),
    )
