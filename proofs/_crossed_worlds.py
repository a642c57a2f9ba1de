"""Worlds in which a few people judge many tasks, with planted truths. No estimator imports this, and it imports none.

Graders differ in severity and in taste (for tasks, and for models); some do most of the work. Truths are quadratures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proofs.simulator import Codes, Floats, agreement_given, centre_for, logistic

SAMPLE_SD, TASK_SD = 0.5, 1.0


@dataclass(frozen=True)
class Pool:
    """One cell: how many people, how they differ, what they judged. `large`: the share that one of them does."""

    graders: int
    severity: float
    taste: float
    tasks: int
    samples: int
    rate: float
    ties: float = 0.05
    each: int = 3
    large: float = 0.0

    @property
    def spread(self) -> float:
        return float(np.sqrt(TASK_SD**2 + SAMPLE_SD**2 + self.severity**2 + self.taste**2))

    @cached_property
    def centre(self) -> float:
        return centre_for(self.rate, self.spread)


CELLS = tuple(
    Pool(*row)
    for row in (
        # graders, severity, taste, tasks, samples, rate, ties, grades each, share of one large grader
        (3, 0.5, 0.0, 60, 1, 0.45),
        (3, 1.0, 0.5, 220, 1, 0.30),
        (3, 1.0, 0.0, 30, 3, 0.70),
        (3, 0.5, 0.5, 60, 3, 0.12),
        (4, 0.5, 0.0, 30, 1, 0.05),
        (4, 1.0, 0.0, 60, 1, 0.45),
        (4, 1.0, 0.5, 60, 3, 0.70),
        (4, 0.5, 0.5, 220, 1, 0.90),
        (6, 0.5, 0.0, 220, 3, 0.45),
        (6, 1.0, 0.0, 60, 1, 0.30),
        (6, 1.0, 0.5, 30, 1, 0.12),
        (6, 0.5, 0.5, 60, 1, 0.90),
        (6, 1.0, 0.5, 220, 1, 0.45),
        (10, 0.5, 0.0, 30, 3, 0.05),
        (10, 1.0, 0.0, 220, 1, 0.30),
        (10, 1.0, 0.5, 60, 1, 0.45),
        (10, 0.5, 0.5, 60, 3, 0.12),
        (20, 0.5, 0.0, 60, 1, 0.90),
        (20, 1.0, 0.0, 60, 3, 0.45),
        (20, 1.0, 0.5, 30, 1, 0.30),
        (20, 0.5, 0.5, 220, 1, 0.05),
        (6, 1.0, 0.0, 60, 1, 0.45, 0.05, 1, 0.40),
        (10, 0.5, 0.5, 220, 1, 0.30, 0.40, 1, 0.50),
        (20, 1.0, 0.5, 60, 3, 0.45, 0.40, 1, 0.30),
    )
)


@dataclass(frozen=True)
class Work:
    """Tasks and samples with their quality, before anybody judged them."""

    task: Codes
    quality: Floats
    hard: Floats


@dataclass(frozen=True)
class Given:
    """Grades of one pool: a row a sample, a column a grade; and an automatic verdict on every sample, in halves."""

    task: Codes
    grader: Codes
    halves: Codes
    auto: Codes


def draw_work(cell: Pool, rng: np.random.Generator) -> Work:
    task, hard = np.repeat(np.arange(cell.tasks), cell.samples), TASK_SD * rng.normal(size=cell.tasks)
    return Work(task, hard[task] + SAMPLE_SD * rng.normal(size=len(task)), hard)


def draw_pool(
    cell: Pool, work: Work, rng: np.random.Generator, *, severity: Floats | None = None, model_taste: float = 0.0
) -> Given:
    """The grades of one pool of people; given severities are those of people who judged elsewhere too."""
    n, people = len(work.task), cell.graders
    order = rng.random((n, people))
    if cell.large:
        order[:, 0] = np.where(rng.random(n) < cell.large, -1.0, 2.0)
    grader = order.argsort(axis=1)[:, : min(cell.each, people)]
    kind = cell.severity * rng.normal(size=people) if severity is None else severity
    taste = cell.taste * rng.normal(size=(cell.tasks, people)) + model_taste * rng.normal(size=people)
    chance = logistic(cell.centre + work.quality[:, None] + kind[grader] + taste[work.task[:, None], grader])
    auto = logistic(cell.centre + 0.7 * work.hard[work.task])
    return Given(work.task, grader, _said(chance, cell.ties, rng), _said(auto, cell.ties, rng))


def _said(chance: Floats, ties: float, rng: np.random.Generator) -> Codes:
    won = 2 * (rng.random(chance.shape) < chance)
    return np.where(rng.random(chance.shape) < ties, 1, won).astype(np.intp)


def true_rates(cell: Pool) -> dict[str, float]:
    won = (1 - cell.ties) * cell.rate
    return {"win": won, "win_or_tie": won + cell.ties, "half_tie": won + cell.ties / 2}


def true_agreement(cell: Pool) -> dict[str, float]:
    """Between people, of people with the verdict, and beyond chance, in the population of tasks and graders."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    of_graders = np.hypot(cell.severity, cell.taste)
    hard, quality = TASK_SD * points[:, None], SAMPLE_SD * points
    human = (
        np.stack([logistic(cell.centre + hard + quality + of_graders * point) for point in points], axis=2) @ weights
    )
    auto = logistic(cell.centre + 0.7 * hard) * np.ones_like(human)
    both, ties = np.outer(weights, weights), cell.ties
    within = (1 - ties) ** 2 * float((both * 2 * human * (1 - human)).sum()) + ties * (1 - ties) / 2
    won = (1 - ties) * cell.rate
    variance = won + ties / 4 - (won + ties / 2) ** 2
    by_chance = sum(share * (1 - share) for share in (won, ties, 1 - won - ties))
    people, judge = (float((both * agreement_given(ties, human, other)).sum()) for other in (human, auto))
    return {
        "people": people,
        "judge": judge,
        "alpha": 1 - within / (2 * variance),
        "AC2": (1 - within - by_chance) / (1 - by_chance),
    }
