"""Win rates of models over tasks, with ties under three named conventions.

Estimand: the mean over tasks of the mean over a task's samples of the mean over a sample's grades, tasks being drawn
from a population. A task judged ninety times weighs as much as one judged nine times.

Win-rate intervals by resampling: whole tasks, tasks then grades, or grades alone. Everything is drawn from counts: a
task that a round picks w times has its grades drawn w times over, which is one binomial draw for wins and one for
ties per sample.
"""

from __future__ import annotations

import math
from dataclasses import replace as replaced
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from guildhall.analysis.intervals import (
    FEWEST_CLUSTERS,
    IntervalFields,
    interval_of,
    no_interval,
    share_intervals,
    t_quantile,
    too_few,
)
from guildhall.analysis.lattice import Part, gathered, law_of_sum, resampled, ways_to_fall
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated
from guildhall.analysis.sequential import confidence_sequence
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate
from guildhall.errors import UnknownName

ROUNDS = {"tasks": 10_000, "two-level": 2_000}
ROUNDS_A_BATCH = 500

Worth = tuple[float, float, float]


def resampled_interval(
    task: Codes,
    counts: NDArray[np.int64],
    worth: Worth,
    *,
    kind: Literal["two-level", "tasks", "within-sample"],
    level: float,
    seed: int,
) -> IntervalFields:
    """The interval of a mean over tasks; `task` (sorted) and `counts` (loss, tie, win) have a row per sample."""
    if kind == "within-sample":
        return _within_sample(task, counts, worth, level=level)
    starts = np.flatnonzero(np.r_[True, task[1:] != task[:-1]])
    n_tasks = len(starts)
    if n_tasks < FEWEST_CLUSTERS:
        return too_few(n_tasks, "task")
    draw = _draw_tasks if kind == "tasks" else _draw_tasks_and_grades
    rng = np.random.default_rng(seed)
    means = np.concatenate([draw(starts, counts, worth, rng=rng) for _ in range(ROUNDS[kind] // ROUNDS_A_BATCH)])
    tail = (1 - level) / 2
    if kind == "tasks":
        # Plain percentiles are too narrow by the factor sqrt((n-1)/n) z/t; asking for wider ones repairs that.
        tail = float(special.ndtr(-math.sqrt(n_tasks / (n_tasks - 1)) * t_quantile(1 - tail, n_tasks - 1)))
    low, high = np.quantile(means, [tail, 1 - tail]).tolist()
    if low == high:
        return no_interval("every resampled rate is the same; resampling cannot say how sure this is")
    words = "tasks resampled, expanded percentiles" if kind == "tasks" else "tasks, then grades resampled, percentiles"
    return interval_of((low, high), f"{words}, {ROUNDS[kind]} rounds")


def _draw_tasks(starts: Any, counts: NDArray[np.int64], worth: Worth, *, rng: np.random.Generator) -> Floats:
    sizes = np.diff(np.r_[starts, len(counts)])
    means = np.add.reduceat(counts @ np.array(worth) / counts.sum(axis=1), starts) / sizes
    picked = rng.integers(0, len(starts), size=(ROUNDS_A_BATCH, len(starts)))
    rates: Floats = means[picked].mean(axis=1)
    return rates


def _draw_tasks_and_grades(starts: Any, counts: NDArray[np.int64], worth: Worth, *, rng: np.random.Generator) -> Floats:
    sizes = np.diff(np.r_[starts, len(counts)])
    picked = rng.multinomial(len(starts), np.full(len(starts), 1 / len(starts)), size=ROUNDS_A_BATCH)
    grades = counts.sum(axis=1)
    drawn = np.repeat(picked, sizes, axis=1) * grades
    wins = rng.binomial(drawn, counts[:, 2] / grades)
    not_wins = np.maximum(grades - counts[:, 2], 1)
    ties = rng.binomial(drawn - wins, counts[:, 1] / not_wins)
    values = (worth[2] * wins + worth[1] * ties + worth[0] * (drawn - wins - ties)) / grades
    rates: Floats = (np.add.reduceat(values, starts, axis=1) / sizes).sum(axis=1) / len(starts)
    return rates


def _within_sample(task: Codes, counts: NDArray[np.int64], worth: Worth, *, level: float) -> IntervalFields:
    """The exact law of resampling each sample's grades: no random numbers, no rounds."""
    _, task_of, samples_in = np.unique(task, return_inverse=True, return_counts=True)
    kinds, times = np.unique(np.column_stack([counts, samples_in[task_of]]), axis=0, return_counts=True)
    sizes = np.stack([kinds[:, :3].sum(axis=1), kinds[:, 3]], axis=1)
    doubled = np.array([round(2 * value) for value in worth], dtype=np.int64)
    parts = []
    for k, n_samples in np.unique(sizes, axis=0).tolist():
        rows = (sizes == (k, n_samples)).all(axis=1)
        masses = gathered(resampled(kinds[rows, :3]), ways_to_fall(k)[0] @ doubled)
        parts.append(Part(masses, 2 * k * n_samples, times[rows]))
    law = law_of_sum(parts, scale=1.0 / len(samples_in))
    if law is None:
        return no_interval("no sample has grades that differ; resampling within samples says nothing")
    return interval_of(law.interval(level), f"grades resampled within samples, {law.method}")


IntervalKind = Literal["decided", "crossed", "t", "two-level", "tasks", "within-sample", "always-valid"]
INTERVALS: tuple[IntervalKind, ...] = (
    "decided",
    "crossed",
    "t",
    "two-level",
    "tasks",
    "within-sample",
    "always-valid",
)


ALL_TIES = "every judgment is a tie; there is no win or loss to learn from"


class WinRate(NamedTuple):
    """One model's record."""

    model: str
    wins: int
    ties: int
    losses: int
    win: Estimate
    win_or_tie: Estimate
    half_tie: Estimate


def win_rates(
    outcomes: Outcomes, *, interval: IntervalKind = "decided", level: float = 0.95, seed: int = 0
) -> list[WinRate]:
    """Each model's win rates, in the order the models appear.

    Interval `decided` (default): exact where tasks or wins are few, else a t interval on the logit scale over tasks
    and graders crossed. `crossed`: the latter wherever there is one. `t`: tasks alone, for these very graders. `tasks`:
    tasks resampled. `two-level`: tasks, then grades within samples (over-covers). `within-sample`: grades only, for
    these very tasks. `always-valid`: may be looked at after every task; tasks count in the order in which they first
    appear, which must not depend on how they turn out. `seed` matters to the resampled kinds only.
    """
    if interval == "t":
        outcomes = replaced(outcomes, grader=None)
    groups = Groups(outcomes)
    rates = {
        convention: rates_of(Rated(groups, convention), interval=interval, level=level, seed=seed)
        for convention in CONVENTIONS
    }
    made = []
    for at, (code, counts) in enumerate(zip(groups.codes.tolist(), groups.totals.tolist(), strict=True)):
        losses, ties, wins = counts
        own = {convention: estimated[at] for convention, estimated in rates.items()}
        made.append(WinRate(outcomes.model.names[code], wins, ties, losses, **own))
    return made


def rates_of(rated: Rated, *, interval: IntervalKind = "decided", level: float = 0.95, seed: int = 0) -> list[Estimate]:
    """The rates of many groups, each with its own interval and all that was counted for it."""
    groups, convention = rated.groups, rated.convention
    if interval == "decided" or interval == "crossed" or interval == "t":
        made = share_intervals(rated.shares(), level=level, crossed_only=interval == "crossed")
        if convention == "half_tie":
            decided = (groups.totals[:, 0] + groups.totals[:, 2] > 0).tolist()
            made = [own if any_did else no_interval(ALL_TIES) for own, any_did in zip(made, decided, strict=True)]
    elif interval == "always-valid":
        ends = np.cumsum(groups.n_tasks)[:-1]
        every_now = [confidence_sequence(means, level=level).now for means in np.split(rated.means, ends)]
        made = [
            IntervalFields(interval=now.interval, method=now.method, why_no_interval=now.why_no_interval)
            for now in every_now
        ]
    else:
        by_group = (np.split(one, np.cumsum(groups.n_samples)[:-1]) for one in (groups.task, groups.counts))
        made = [
            resampled_interval(task, counts, CONVENTIONS[convention], kind=interval, level=level, seed=seed)
            for task, counts in zip(*by_group, strict=True)
        ]
    counted = (rated.values, groups.n_tasks, groups.n_samples, groups.totals.sum(axis=1), groups.n_excluded)
    return [
        Estimate(
            value=value,
            estimand=f"{convention}: mean over tasks of the mean over samples of the mean over grades",
            level=level,
            unit="grade" if interval == "within-sample" else "task",
            n_tasks=n_tasks,
            n_samples=n_samples,
            n_judgments=n_judgments,
            n_excluded=n_excluded,
            seed=seed if interval in ("two-level", "tasks") else None,
            **own,
        )
        for value, n_tasks, n_samples, n_judgments, n_excluded, own in zip(
            *(column.tolist() for column in counted), made, strict=True
        )
    ]


def named_interval(name: str) -> IntervalKind:
    """The kind of interval called `name`; an unknown name is refused."""
    for known in INTERVALS:
        if name == known:
            return known
    raise UnknownName("interval", name, known=list(INTERVALS))
