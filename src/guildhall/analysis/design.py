"""How many judgments a question needs, and where the next one is worth most.

A score varies between tasks, between samples of one task, and between grades of one sample. Judging one task
more often wears down only the last two: past a few grades a task, further tasks are worth more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import special

from guildhall.analysis.intervals import t_quantile
from guildhall.analysis.outcomes import Outcomes, read_outcomes
from guildhall.analysis.rated import CONVENTIONS
from guildhall.domain.estimates import Convention
from guildhall.errors import ImpossibleValue, TooFew

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Components:
    """Variance of a score between tasks, between samples of a task, and between grades of a sample."""

    task: float
    sample: float
    grade: float

    def of_mean(self, *, tasks: float, samples: int = 1, graders: int = 1) -> float:
        """Variance of the mean over tasks with so many samples a task and grades a sample."""
        return (self.task + (self.sample + self.grade / graders) / samples) / tasks

    @staticmethod
    def of_rate(rate: float, *, task_share: float = 0.3, sample_share: float = 0.2) -> Components:
        """What to assume before any data: a yes/no score at this rate, its variance split in stated shares."""
        if not 0 < rate < 1 or not 0 <= task_share + sample_share <= 1:
            raise ImpossibleValue("rate or shares", (rate, task_share, sample_share), allowed="inside 0 to 1")
        whole = rate * (1 - rate)
        return Components(whole * task_share, whole * sample_share, whole * (1 - task_share - sample_share))


def estimate_components(task: Codes, sample: Codes, score: Floats) -> Components:
    """Components by the method of moments from judgments; `sample` codes are unique over tasks.

    A level that was never repeated cannot be told from the one below it and is counted there; none is negative.
    """
    samples, sample_of, grades = np.unique(sample, return_inverse=True, return_counts=True)
    means = np.bincount(sample_of, score) / grades
    task_of_sample = np.zeros(len(samples), dtype=task.dtype)
    task_of_sample[sample_of] = task
    tasks, at, n_samples = np.unique(task_of_sample, return_inverse=True, return_counts=True)
    if len(tasks) < 3:
        raise TooFew("tasks", len(tasks), needed=3, what="variance components")
    task_means = np.bincount(at, means) / n_samples
    spare_grades, spare_samples = len(score) - len(samples), len(samples) - len(tasks)
    grade = float(((score - means[sample_of]) ** 2).sum()) / spare_grades if spare_grades else 0.0
    between = float(((means - task_means[at]) ** 2).sum()) / spare_samples if spare_samples else 0.0
    each_grade, each_sample = float((1 / grades).mean()), float((1 / n_samples).mean())
    of_sample = max(between - grade * each_grade, 0.0)
    of_task = max(float(task_means.var(ddof=1)) - (of_sample + grade * each_grade) * each_sample, 0.0)
    return Components(of_task, of_sample, grade)


@dataclass(frozen=True)
class JudgmentsNeeded:
    """A plan that reaches its aim: so many tasks, samples a task, grades a sample; `judgments` in all."""

    tasks: int
    samples: int
    graders: int
    judgments: int
    reaches: float


def tasks_for_width(
    parts: Components, half_width: float, *, samples: int = 1, graders: int = 1, level: float = 0.95
) -> JudgmentsNeeded:
    """The fewest tasks whose mean has an interval of at most +/- `half_width`."""
    if not 0 < half_width < 1:
        raise ImpossibleValue("half_width", half_width, allowed="between 0 and 1")
    each = parts.of_mean(tasks=1, samples=samples, graders=graders)
    tasks = max(3, math.ceil(each * (NormalDist().inv_cdf(0.5 + level / 2) / half_width) ** 2))
    while t_quantile(0.5 + level / 2, tasks - 1) * math.sqrt(each / tasks) > half_width:
        tasks += 1
    reached = t_quantile(0.5 + level / 2, tasks - 1) * math.sqrt(each / tasks)
    return JudgmentsNeeded(tasks, samples, graders, tasks * samples * graders, reached)


def tasks_for_power(
    parts: Components,
    difference: float,
    *,
    samples: int = 1,
    graders: int = 1,
    shared: float = 0.5,
    power: float = 0.8,
    level: float = 0.95,
) -> JudgmentsNeeded:
    """The fewest tasks on which a difference between two authors, paired by task, is found with this power.

    `shared` is the share of the task variance that both authors have in common and that pairing removes.
    """
    if not 0 < abs(difference) < 1 or not 0 <= shared <= 1:
        raise ImpossibleValue("difference or shared", (difference, shared), allowed="inside 0 to 1")
    each = 2 * Components(parts.task * (1 - shared), parts.sample, parts.grade).of_mean(
        tasks=1, samples=samples, graders=graders
    )
    tasks = 3
    while _power(each / tasks, difference, tasks, level) < power:
        tasks = math.ceil(tasks * 1.02) if tasks > 200 else tasks + 1
    while tasks > 3 and _power(each / (tasks - 1), difference, tasks - 1, level) >= power:
        tasks -= 1
    return JudgmentsNeeded(
        tasks, samples, graders, 2 * tasks * samples * graders, _power(each / tasks, difference, tasks, level)
    )


def _power(variance: float, difference: float, tasks: int, level: float) -> float:
    """Chance that a t test finds the difference; the normal law stands in for the noncentral t."""
    if variance <= 0:
        return 1.0
    return float(special.ndtr(abs(difference) / math.sqrt(variance) - t_quantile(0.5 + level / 2, tasks - 1)))


@dataclass(frozen=True)
class Worth:
    """What a judgment takes off the variance of a mean, by where it is spent; what is new is judged in full."""

    another_grade: float
    another_sample: float
    another_task: float

    @property
    def best(self) -> str:
        options = {
            "another grade": self.another_grade,
            "another sample": self.another_sample,
            "another task": self.another_task,
        }
        return max(options, key=lambda name: options[name])


def worth_of_next(parts: Components, *, tasks: int, samples: int, graders: int) -> Worth:
    """Per judgment: one more grade of a sample, a new sample of a known task, a new task, in a balanced design."""
    now = parts.of_mean(tasks=tasks, samples=samples, graders=graders)
    in_task = parts.sample + parts.grade / graders
    return Worth(
        another_grade=parts.grade / (graders * (graders + 1)) / samples**2 / tasks**2,
        another_sample=in_task / (samples * (samples + 1)) / tasks**2 / graders,
        another_task=now / (tasks + 1) / (samples * graders),
    )


def worth_by_task(parts: Components, judged: Codes) -> Floats:
    """What one more grade of each task takes off the variance of the mean, given how many grades each has."""
    worth: Floats = (parts.sample + parts.grade) / (judged * (judged + 1.0)) / len(judged) ** 2
    return worth


@dataclass(frozen=True)
class GraderNeed:
    """Graders a task needs so that nobody sees it more often than the exposure limit."""

    sets_per_task: int
    gradings_per_task: int
    graders_per_task: int

    def words(self, pool: int, exposure: int) -> str:
        if pool >= self.graders_per_task:
            return f"{self.gradings_per_task} gradings a task need {self.graders_per_task} graders; {pool} are at hand"
        least = math.ceil(self.gradings_per_task / pool) if pool else None
        relaxed = f"with {pool} graders each would see a task up to {least} times" if least else "there is no grader"
        return (
            f"{self.gradings_per_task} gradings a task need {self.graders_per_task} graders at exposure {exposure}; "
            f"{relaxed}: show more deliverables in one set, or raise the limit"
        )


def graders_needed(
    *, models: int, samples: int = 3, graders: int = 3, set_size: int = 2, exposure: int = 1
) -> GraderNeed:
    """Graders for one task when every sample of every model meets the expert's file `graders` times.

    A set of `set_size` deliverables holds the expert's and `set_size - 1` of the models'.
    """
    if min(models, samples, graders, exposure) < 1 or set_size < 2:
        raise ImpossibleValue(
            "a design", (models, samples, graders, set_size, exposure), allowed="positive, sets of 2 up"
        )
    sets = samples * math.ceil(models / (set_size - 1))
    gradings = sets * graders
    return GraderNeed(sets, gradings, math.ceil(gradings / exposure))


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
