"""Win rates of models over tasks, with ties under three named conventions.

Estimand: the mean over tasks of the mean over a task's samples of the mean over a sample's grades, tasks being drawn
from a population. A task judged ninety times weighs as much as one judged nine times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from guildhall.analysis.clusters import Widened, cluster_variance
from guildhall.analysis.intervals import IntervalFields, Share, no_interval, share_intervals
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Group, Groups, Rated
from guildhall.analysis.resampling import resampled_interval
from guildhall.analysis.sequential import confidence_sequence
from guildhall.analysis.tables import Codes, Floats, distinct
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
    rated = {convention: together.rated(convention) for convention in CONVENTIONS}
    rates = {
        convention: rates_of(every, convention, interval=interval, level=level, seed=seed)
        for convention, every in rated.items()
    }
    made = []
    for at, (code, group) in enumerate(found):
        losses, ties, wins = group.counts.sum(axis=0).tolist()
        half = rated["half_tie"][at]
        effect = grader_design_effect(half.means, half.value, half.spread) if interval == "t" else None
        own = {convention: estimated[at] for convention, estimated in rates.items()}
        made.append(WinRate(outcomes.model.names[code], wins, ties, losses, **own, design_effect=effect))
    return made


def rates_of(
    every: Sequence[Rated],
    convention: Convention,
    *,
    interval: IntervalKind = "t",
    level: float = 0.95,
    seed: int = 0,
) -> list[Estimate]:
    """The rates of many groups, each with its own interval and all that was counted for it."""
    worth = CONVENTIONS[convention]
    if interval == "t":
        shares = [
            Share(one.value, one.spread.variance, len(one.means), len(one.group.halves), one.spread.df) for one in every
        ]
        made = share_intervals(shares, level=level, words=[one.spread.words for one in every])
        if convention == "half_tie":
            decided = [one.group.counts[:, [0, 2]].any() for one in every]
            made = [own if any_did else no_interval(ALL_TIES) for own, any_did in zip(made, decided, strict=True)]
    elif interval == "always-valid":
        every_now = [confidence_sequence(one.means, level=level).now for one in every]
        made = [
            IntervalFields(interval=now.interval, method=now.method, why_no_interval=now.why_no_interval)
            for now in every_now
        ]
    else:
        made = [
            resampled_interval(one.group.task, one.group.counts, worth, kind=interval, level=level, seed=seed)
            for one in every
        ]
    return [
        Estimate(
            value=one.value,
            estimand=f"{convention}: mean over tasks of the mean over samples of the mean over grades",
            level=level,
            unit="grade" if interval == "within-sample" else "task",
            n_tasks=len(one.means),
            n_samples=len(one.group.task),
            n_judgments=len(one.group.halves),
            n_excluded=one.group.n_excluded,
            seed=seed if interval in ("two-level", "tasks") else None,
            **own,
        )
        for one, own in zip(every, made, strict=True)
    ]


def named_interval(name: str) -> IntervalKind:
    """The kind of interval called `name`; an unknown name is refused."""
    for known in INTERVALS:
        if name == known:
            return known
    raise UnknownName("interval", name, known=list(INTERVALS))


def groups(outcomes: Outcomes) -> list[tuple[int, Group]]:
    """The judgments split by model, reduced to counts: nothing later looks at single judgments but graders."""
    if not len(outcomes.halves):
        raise NothingJudged("win rates", n_excluded=outcomes.n_excluded)
    n_tasks, n_samples = len(outcomes.task.names), max(len(outcomes.sample.names), 1) + 1
    key = outcomes.model.codes.astype(np.int64) * n_tasks + outcomes.task.codes
    key = key * n_samples + outcomes.sample.codes + 1
    keys, sample_of = distinct(key, len(outcomes.model.names) * n_tasks * n_samples)
    counts = np.bincount(sample_of * 3 + outcomes.halves, minlength=3 * len(keys)).reshape(-1, 3)
    of_task = keys // n_samples
    model, task = np.divmod(of_task, n_tasks)
    starts, ends = _runs(model)
    task_starts, task_ends = _runs(of_task)
    first_task, last_task = np.searchsorted(task_starts, starts), np.searchsorted(task_starts, ends)
    order = np.argsort(sample_of, kind="stable")
    judged = np.r_[0, np.cumsum(counts.sum(axis=1))]
    unknown = np.array([], dtype=np.int64) if outcomes.unknown is None else outcomes.unknown["model"]
    found = []
    spans = zip(*(one.tolist() for one in (starts, ends, first_task, last_task)), strict=True)
    for start, end, first, last in spans:
        rows = order[judged[start] : judged[end]]
        group = Group(
            task=task[start:end],
            sizes=task_ends[first:last] - task_starts[first:last],
            counts=counts[start:end],
            sample_of=sample_of[rows] - start,
            halves=outcomes.halves[rows],
            grader=outcomes.grader.codes[rows] if outcomes.grader else None,
            n_excluded=int((unknown == model[start]).sum()),
        )
        found.append((int(model[start]), group))
    return found


def _runs(keys: Codes) -> tuple[Codes, Codes]:
    """Where each run of equal keys begins and ends."""
    ends = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    return np.concatenate(([0], ends)), np.concatenate((ends, [len(keys)]))


def share_of_wins(
    group: Group, convention: Convention, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0
) -> Estimate:
    """One convention's rate for one group of judgments."""
    [found] = rates_of(Groups([group]).rated(convention), convention, interval=interval, level=level, seed=seed)
    return found


def grader_design_effect(means: Floats, value: float, spread: Widened) -> float | None:
    """Variance with graders as a second cluster, over the variance with tasks alone; None where they add nothing."""
    variance = cluster_variance((means - value) / len(means))
    known = spread.words and variance > 0 and math.isfinite(variance)
    return spread.variance / variance if known else None
