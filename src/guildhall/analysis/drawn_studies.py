"""Planning by drawing: a study is drawn many times over with so many graders and hours, and its intervals are measured.

What is drawn: tasks of different difficulty, graders of different severity and with tastes of their own, ties, and
gradings that are never given. Nothing is known of effects: all models are drawn alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import NOBODY, Outcomes
from guildhall.analysis.ranks import differences
from guildhall.analysis.spreads import LIKE_THESE, THESE
from guildhall.analysis.tables import Coded, Floats
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Estimate

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


@dataclass(frozen=True)
class Offer:
    """What the same hours more would do to the primary interval; widths are None where none could be given."""

    what: str
    gradings: int
    hours: float
    before: float | None
    after: float | None

    @property
    def narrower_per_hour(self) -> float | None:
        """Points off the width for an hour of people's work."""
        if self.before is None or self.after is None or not self.hours:
            return None
        return 100 * (self.before - self.after) / self.hours


ONE_MORE_GRADER, MORE_HOURS = "one more grader", "more hours of these graders"
ONE_MORE_SAMPLE = "one more sample of each model"
NEXT_DRAWS = 120


def next_offers(
    asked: PlannedWork,
    assumed: Assumed,
    *,
    graders: int,
    gradings: int,
    these_graders: bool = False,
    seed: int = 0,
    draws: int = NEXT_DRAWS,
) -> list[Offer]:
    """What the hours that one grader gives on average would do, spent in each way; the best first.

    Every draw is one study that each offer goes on with, so that offers differ by what they offer and not by luck.
    """
    more = max(1, round(gradings / graders))
    rng = np.random.default_rng([seed, graders, gradings])
    seen = []
    for _ in range(draws):
        found = _went_on(asked, assumed, graders, gradings, more, rng)
        rates = [win_rates(replace(outcomes, these_graders=these_graders))[0].half_tie for outcomes in found.values()]
        seen.append([_width(one, THESE if these_graders else LIKE_THESE) for one in rates])
    widths, names = np.array(seen), list(found)
    often = np.isfinite(widths).mean(axis=0) >= 1 / 2
    whole = np.isfinite(widths[:, often]).all(axis=1)
    means = {name: float(widths[whole, at].mean()) if often[at] else None for at, name in enumerate(names)}
    before = means.pop("now")
    made = [Offer(name, more, more * asked.minutes / 60, before, after) for name, after in means.items()]
    return sorted(made, key=lambda one: math.inf if one.after is None else one.after)


def _width(one: Estimate, target: str) -> float:
    """The width of an interval about whom the plan asks; none for another."""
    return 2 * one.half_width if one.half_width is not None and one.target == target else math.nan


def _went_on(
    asked: PlannedWork, assumed: Assumed, graders: int, gradings: int, more: int, rng: np.random.Generator
) -> dict[str, Outcomes]:
    """One study as it stands, and as each offer goes on with it."""
    samples, people = asked.samples + 1, graders + 1
    task = np.repeat(np.arange(asked.tasks), samples)
    sample = np.tile(np.arange(samples), asked.tasks)
    middle = math.log(assumed.rate / (1 - assumed.rate))
    quality = middle + rng.normal(scale=assumed.tasks_differ, size=asked.tasks)[task]
    quality = quality + rng.normal(scale=0.5 * assumed.tasks_differ, size=len(task))
    kind = rng.normal(scale=math.hypot(assumed.severity, assumed.tastes), size=people)
    chance = 1 / (1 + np.exp(-(quality[:, None] + kind)))
    shape = chance.shape
    halves = np.where(rng.random(shape) < assumed.ties, 1, 2 * (rng.random(shape) < chance)).astype(np.int8)
    turn = rng.random(shape)
    old_work, old_grader = sample < asked.samples, np.arange(people) < graders
    base = np.broadcast_to(old_work[:, None] & old_grader, shape)
    # A work gets no more graders than are planned, in the order in which they come to it.
    place = np.argsort(np.argsort(np.where(base, turn, 2.0), axis=1), axis=1)
    now = _first(base & (place < asked.graders_per_set), turn, gradings)
    left = ~now

    def of(taken: NDArray[np.bool_]) -> Outcomes:
        work, by = np.nonzero(taken)
        return Outcomes(
            task=_coded(task[work], asked.tasks),
            model=_coded(np.zeros(len(work), dtype=np.int64), 1),
            sample=_coded(sample[work], samples),
            halves=halves[work, by],
            grader=_coded(by, people),
        )

    return {
        "now": of(now),
        ONE_MORE_GRADER: of(now | _first(left & old_work[:, None] & ~old_grader, turn, more)),
        MORE_HOURS: of(now | _first(left & base, turn, more)),
        ONE_MORE_SAMPLE: of(now | _first(left & ~old_work[:, None] & old_grader, turn, more)),
    }


def _first(which: NDArray[np.bool_], turn: Floats, n: int) -> NDArray[np.bool_]:
    """The first `n` of some pairs of work and grader, by their turn."""
    taken = np.zeros(which.size, dtype=np.bool_)
    places = np.flatnonzero(which.ravel())
    taken[places[np.argsort(turn.ravel()[places])[:n]]] = True
    return taken.reshape(which.shape)


def _coded(codes: NDArray[np.int64], size: int) -> Coded:
    return Coded(codes.astype(np.int32), tuple(str(name) for name in range(size)))


def most_uncertain(outcomes: Outcomes, planned: Mapping[str, int], more: int) -> tuple[str, float] | None:
    """The occupation in which `more` gradings would take most off the variance between tasks, and what share of it.

    An occupation weighs as many tasks as are `planned` in it, and its variance falls as its gradings grow.
    """
    words = (outcomes.groups or {}).get("occupation")
    if words is None:
        return None
    total, score = sum(planned.values()), outcomes.halves / 2
    parts: dict[str, tuple[float, int]] = {}
    for code, name in enumerate(words.names):
        at = words.codes == code
        if at.sum() > 1 and name in planned:
            parts[name] = ((planned[name] / total) ** 2 * float(score[at].var(ddof=1)), int(at.sum()))
    now = sum(own / n for own, n in parts.values())
    if not now or len(parts) < 2:
        return None
    gains = {name: (own / n - own / (n + more)) / now for name, (own, n) in parts.items()}
    best = max(gains, key=lambda name: (gains[name], name))
    return best, gains[best]
