"""Win rates of models over tasks, with ties under three named conventions.

Estimand: the mean over tasks of the mean over a task's samples of the mean over a sample's grades, tasks being drawn
from a population. A task judged ninety times weighs as much as one judged nine times.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from guildhall.analysis.intervals import IntervalFields, no_interval, share_intervals
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated
from guildhall.analysis.resampling import resampled_interval
from guildhall.analysis.sequential import confidence_sequence
from guildhall.domain.estimates import Estimate
from guildhall.errors import UnknownName

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
    groups = Groups(outcomes)
    rated = {convention: Rated(groups, convention) for convention in CONVENTIONS}
    rates = {convention: rates_of(one, interval=interval, level=level, seed=seed) for convention, one in rated.items()}
    effects = rated["half_tie"].design_effects() if interval == "t" else [None] * len(groups)
    made = []
    for at, (code, counts) in enumerate(zip(groups.codes.tolist(), groups.totals.tolist(), strict=True)):
        losses, ties, wins = counts
        own = {convention: estimated[at] for convention, estimated in rates.items()}
        made.append(WinRate(outcomes.model.names[code], wins, ties, losses, **own, design_effect=effects[at]))
    return made


def rates_of(rated: Rated, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0) -> list[Estimate]:
    """The rates of many groups, each with its own interval and all that was counted for it."""
    groups, convention = rated.groups, rated.convention
    if interval == "t":
        made = share_intervals(rated.shares(), level=level, words=rated.words())
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
