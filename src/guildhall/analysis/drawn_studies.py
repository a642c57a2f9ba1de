"""Planning by drawing: a study is drawn many times over with so many graders and hours, and its intervals are measured.

What is drawn: tasks of different difficulty, graders of different severity and with tastes of their own, ties, and
gradings that are never given. Nothing is known of effects: all models are drawn alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import NOBODY, Outcomes
from guildhall.analysis.ranks import differences
from guildhall.analysis.tables import Coded, Floats
from guildhall.analysis.win_rates import win_rates

DRAWS = 12
_TO_LOGITS = 4.0
"""At even chances a score moves by a quarter for each unit on the logit scale."""


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted, as standard deviations on the logit scale, and shares."""

    rate: float = 0.5
    tasks_differ: float = 1.0
    severity: float = 0.5
    tastes: float = 0.5
    ties: float = 0.15
    lost: float = 0.05
    """Gradings that are never given."""
    source: str = "assumed, nothing was judged"


@dataclass(frozen=True)
class PlannedWork:
    """The study that is drawn: tasks, samples of each, gradings wanted for each sample, minutes and wage of one."""

    tasks: int
    samples: int
    graders_per_set: int
    minutes: float
    wage_usd: float | None = None

    @property
    def hours(self) -> float:
        """All gradings of one model's work."""
        return self.tasks * self.samples * self.graders_per_set * self.minutes / 60


@dataclass(frozen=True)
class DrawnStudy:
    """What so many graders in so many hours, for each model, would give. None where no interval could be given."""

    graders: int
    hours: float
    cost_usd: float | None
    gradings: int
    width: float | None
    smallest_difference: float | None
    """Between two models on the same tasks and graders, found with a chance of 80 %."""

    @property
    def per_hour(self) -> float | None:
        """Knowledge (one over the squared width) for an hour of work."""
        return None if self.width is None else 1 / (self.width**2 * self.hours)

    @property
    def per_dollar(self) -> float | None:
        return None if self.width is None or not self.cost_usd else 1 / (self.width**2 * self.cost_usd)


def drawn_table(
    asked: PlannedWork,
    assumed: Assumed,
    *,
    graders: Sequence[int],
    shares: Sequence[float] = (0.25, 0.5, 1.0),
    seed: int = 0,
) -> list[DrawnStudy]:
    """Every number of graders with every share of the hours, in this order."""
    return [_drawn(asked, assumed, n, share, seed=seed) for n in sorted(set(graders)) for share in shares]


def _drawn(asked: PlannedWork, assumed: Assumed, graders: int, share: float, *, seed: int) -> DrawnStudy:
    rng = np.random.default_rng([seed, graders, round(1000 * share)])
    gradings = max(1, round(asked.tasks * asked.samples * min(asked.graders_per_set, graders) * share))
    widths, seen = [], []
    for _ in range(DRAWS):
        outcomes = draw(asked, assumed, graders=graders, gradings=gradings, rng=rng)
        interval = win_rates(outcomes)[0].half_tie.interval
        if interval is not None:
            widths.append(interval[1] - interval[0])
        found = differences(outcomes)
        if len(found.models) > 1 and math.isfinite(error := float(found.error[0, 1])):
            seen.append(error * (found.reach + NormalDist().inv_cdf(0.8)))
    hours = gradings * asked.minutes / 60
    most = len(widths) >= DRAWS / 2
    return DrawnStudy(
        graders=graders,
        hours=hours,
        cost_usd=None if asked.wage_usd is None else hours * asked.wage_usd,
        gradings=gradings,
        width=fmean(widths) if most else None,
        smallest_difference=fmean(seen) if len(seen) >= DRAWS / 2 else None,
    )


def draw(asked: PlannedWork, assumed: Assumed, *, graders: int, gradings: int, rng: np.random.Generator) -> Outcomes:
    """One study of two models that are alike: each sample is given to graders drawn from the pool, as hours allow."""
    k = min(asked.graders_per_set, graders)
    works = asked.tasks * asked.samples
    by = np.argsort(rng.random((works, graders)), axis=1)[:, :k].reshape(-1)
    task = np.repeat(np.arange(works) // asked.samples, k)
    sample = np.repeat(np.arange(works) % asked.samples, k)
    taken = np.sort(rng.permutation(len(by))[:gradings])
    task, sample, by = (np.tile(column[taken], 2) for column in (task, sample, by))
    model = np.repeat([0, 1], len(taken))
    middle = math.log(assumed.rate / (1 - assumed.rate))
    easy = rng.normal(scale=assumed.tasks_differ, size=asked.tasks)
    own = rng.normal(scale=0.5 * assumed.tasks_differ, size=(2, asked.tasks))
    severe = rng.normal(scale=assumed.severity, size=graders)
    taste = rng.normal(scale=assumed.tastes, size=(2, graders))
    chance = 1 / (1 + np.exp(-(middle + easy[task] + own[model, task] + severe[by] + taste[model, by])))
    halves = np.where(rng.random(len(by)) < assumed.ties, 1, 2 * (rng.random(len(by)) < chance)).astype(np.int8)
    given = rng.random(len(by)) >= assumed.lost

    def column(codes: NDArray[np.int64], size: int) -> Coded:
        return Coded(codes[given].astype(np.int32), tuple(str(name) for name in range(size)))

    return Outcomes(
        task=column(task, asked.tasks),
        model=column(model, 2),
        sample=column(sample, asked.samples),
        halves=halves[given],
        grader=column(by, graders),
    )


def assumed_from(outcomes: Outcomes, *, lost: float = 0.05) -> Assumed:
    """What a pilot says of tasks, graders and ties, and of nothing else: its rates are averaged away and not told.

    Tasks: how the means of tasks vary beyond what single grades explain. Severity: how the means of graders, less the
    mean of each work they judged, vary beyond that. Tastes and tasks of one model alone are not told apart here.
    """
    score = outcomes.halves / 2
    pair = outcomes.model.codes.astype(np.int64) * len(outcomes.task.names) + outcomes.task.codes
    centred = score - _means(outcomes.model.codes, score)[outcomes.model.codes]
    apart = score - _means(pair, score)[pair]
    grades = np.bincount(pair)[pair]
    spare = float((1 - 1 / grades).sum())
    noise = float(np.square(apart).sum()) / spare if spare > 0 else 0.25
    tasks = _beyond(outcomes.task.codes, centred, noise)
    severity = 0.0
    if outcomes.grader is not None and not np.any(outcomes.grader.codes < 0):
        severity = _beyond(outcomes.grader.codes, apart, noise)
    elif outcomes.grader is not None:
        named = outcomes.grader.codes > NOBODY + 1
        severity = _beyond(outcomes.grader.codes[named], apart[named], noise) if named.any() else 0.0
    return Assumed(
        tasks_differ=_TO_LOGITS * math.sqrt(tasks),
        severity=_TO_LOGITS * math.sqrt(severity),
        ties=float(np.mean(outcomes.halves == 1)),
        lost=lost,
        source=f"from {len(score)} judgments of a pilot; their rates were not looked at",
    )


def _means(codes: NDArray[np.int64], values: Floats) -> Floats:
    times = np.bincount(codes)
    means: Floats = np.bincount(codes, values) / np.maximum(times, 1)
    return means


def _beyond(codes: NDArray[np.int64], values: Floats, noise: float) -> float:
    """How the means of clusters vary beyond what noise gives."""
    times = np.bincount(codes)
    means = _means(codes, values)[times > 0]
    return 0.0 if len(means) < 2 else max(0.0, float(means.var(ddof=1)) - noise * float((1 / times[times > 0]).mean()))
