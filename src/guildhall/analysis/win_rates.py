"""Win rates of models over tasks, with ties under three named conventions.

Estimand: the mean over tasks of the mean over a task's samples of the mean over a sample's grades, tasks being drawn
from a population. A task judged ninety times weighs as much as one judged nine times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from guildhall.analysis.clusters import cluster_variance
from guildhall.analysis.intervals import IntervalFields, Share, no_interval, share_intervals
from guildhall.analysis.outcomes import Outcomes, count_samples
from guildhall.analysis.rated import CONVENTIONS, Group, Groups, Rated
from guildhall.analysis.resampling import resampled_interval
from guildhall.analysis.sequential import confidence_sequence
from guildhall.analysis.tables import Codes
from guildhall.domain.estimates import Convention, Estimate
from guildhall.errors import NothingJudged, UnknownName

IntervalKind = Literal["t", "two-level", "tasks", "within-sample", "always-valid"]
INTERVALS: tuple[IntervalKind, ...] = ("t", "two-level", "tasks", "within-sample", "always-valid")


ALL_TIES = "every judgment is a tie; there is no win or loss to learn from"


class WinRate(NamedTuple):
    """One model's record. `design_effect`: how much the graders add to the variance; absent where they cannot."""

    model: str
    wins: int
    ties: int
    losses: int
    win: Estimate
    win_or_tie: Estimate
    half_tie: Estimate
    design_effect: float | None


def win_rates(outcomes: Outcomes, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0) -> list[WinRate]:
    """Each model's win rates, in the order the models appear.

    Interval `t` (default): a t interval over task means, on the logit scale under 1,000 tasks, exact where tasks or
    wins are few; graders who judged several tasks are a second cluster. `tasks`: tasks resampled. `two-level`: tasks,
    then grades within samples (over-covers). `within-sample`: grades only, for these very tasks. `always-valid`: may
    be looked at after every task; tasks count in the order in which they first appear, which must not depend on how
    they turn out. `seed` matters to the resampled kinds only.
    """
    found = groups(outcomes)
    together = Groups([group for _, group in found])
    rates: dict[Convention, list[Estimate]] = {}
    effects: list[float | None] = [None] * len(found)
    for convention in CONVENTIONS:
        every = together.rated(convention)
        rates[convention] = _estimated_all(every, convention, interval=interval, level=level, seed=seed)
        if interval == "t" and convention == "half_tie":
            effects = [grader_design_effect(one) for one in every]
    made = []
    for at, (code, group) in enumerate(found):
        losses, ties, wins = group.counts.sum(axis=0).tolist()
        own_rates = {convention: estimated[at] for convention, estimated in rates.items()}
        name = outcomes.model.names[code]
        made.append(WinRate(name, wins, ties, losses, **own_rates, design_effect=effects[at]))
    return made


def named_interval(name: str) -> IntervalKind:
    """The kind of interval called `name`; an unknown name is refused."""
    for known in INTERVALS:
        if name == known:
            return known
    raise UnknownName("interval", name, known=list(INTERVALS))


def groups(outcomes: Outcomes) -> list[tuple[int, Group]]:
    """The judgments split by model."""
    if not len(outcomes.halves):
        raise NothingJudged("win rates", n_excluded=outcomes.n_excluded)
    samples = count_samples(outcomes)
    starts, ends = _runs(samples.model)
    task_starts, task_ends = _runs(samples.model.astype(np.int64) * len(outcomes.task.names) + samples.task)
    first_task, last_task = np.searchsorted(task_starts, starts), np.searchsorted(task_starts, ends)
    order = np.argsort(samples.sample_of, kind="stable")
    judged = np.r_[0, np.cumsum(samples.counts.sum(axis=1))]
    unknown = np.array([], dtype=np.int64) if outcomes.unknown is None else outcomes.unknown["model"]
    found = []
    spans = zip(*(one.tolist() for one in (starts, ends, first_task, last_task)), strict=True)
    for start, end, first, last in spans:
        rows = order[judged[start] : judged[end]]
        found.append(
            (
                int(samples.model[start]),
                Group(
                    task=samples.task[start:end],
                    sizes=task_ends[first:last] - task_starts[first:last],
                    counts=samples.counts[start:end],
                    sample_of=samples.sample_of[rows] - start,
                    halves=outcomes.halves[rows],
                    grader=outcomes.grader.codes[rows] if outcomes.grader else None,
                    n_excluded=int((unknown == samples.model[start]).sum()),
                ),
            )
        )
    return found


def _runs(keys: Codes) -> tuple[Codes, Codes]:
    """Where each run of equal keys begins and ends."""
    ends = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    return np.concatenate(([0], ends)), np.concatenate((ends, [len(keys)]))


def share_of_wins(
    group: Group, convention: Convention, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0
) -> Estimate:
    """One convention's rate for one group of judgments."""
    [found] = _estimated_all(Groups([group]).rated(convention), convention, interval=interval, level=level, seed=seed)
    return found


def _estimated_all(
    every: Sequence[Rated], convention: Convention, *, interval: IntervalKind, level: float, seed: int
) -> list[Estimate]:
    if interval == "t":
        made = t_intervals(every, convention, level=level)
    elif interval == "always-valid":
        made = [_always_valid(one, level=level) for one in every]
    else:
        worth = CONVENTIONS[convention]
        made = [
            resampled_interval(one.group.task, one.group.counts, worth, kind=interval, level=level, seed=seed)
            for one in every
        ]
    unit = "grade" if interval == "within-sample" else "task"
    drawn = seed if interval in ("two-level", "tasks") else None
    return [
        rate_estimate(one, convention, own, level=level, unit=unit, seed=drawn)
        for one, own in zip(every, made, strict=True)
    ]


def _always_valid(one: Rated, *, level: float) -> IntervalFields:
    now = confidence_sequence(one.means, level=level).now
    return IntervalFields(interval=now.interval, method=now.method, why_no_interval=now.why_no_interval)


def rate_estimate(
    one: Rated,
    convention: Convention,
    made: IntervalFields,
    *,
    level: float,
    unit: str = "task",
    seed: int | None = None,
) -> Estimate:
    """A rate with its interval and all that was counted for it."""
    return Estimate(
        value=one.value,
        estimand=f"{convention}: mean over tasks of the mean over samples of the mean over grades",
        level=level,
        unit=unit,
        n_tasks=len(one.means),
        n_samples=len(one.group.task),
        n_judgments=len(one.group.halves),
        n_excluded=one.group.n_excluded,
        seed=seed,
        **made,
    )


def t_intervals(every: Sequence[Rated], convention: Convention, *, level: float) -> list[IntervalFields]:
    """The intervals of many rates, each for itself."""
    shares = [
        Share(one.value, one.spread.variance, len(one.means), len(one.group.halves), one.spread.df) for one in every
    ]
    found = share_intervals(shares, level=level, words=[one.spread.words for one in every])
    return [
        no_interval(ALL_TIES) if convention == "half_tie" and not one.group.counts[:, [0, 2]].any() else made
        for one, made in zip(every, found, strict=True)
    ]


def grader_design_effect(one: Rated) -> float | None:
    """Variance with graders as a second cluster, over the variance with tasks alone; None where they add nothing."""
    variance = cluster_variance((one.means - one.value) / len(one.means))
    known = one.spread.words and variance > 0 and math.isfinite(variance)
    return one.spread.variance / variance if known else None
