"""Win rates of models over tasks, with ties under three named conventions.

Estimand: the mean over tasks of the mean over a task's samples of the mean over a sample's grades, tasks being drawn
from a population. A task judged ninety times weighs as much as one judged nine times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import Widened, widened
from guildhall.analysis.intervals import Share, ShareInterval, cluster_variance, matched_df, share_intervals
from guildhall.analysis.measured import Measured
from guildhall.analysis.outcomes import Outcomes, count_samples
from guildhall.analysis.resampling import resampled_interval
from guildhall.analysis.sequential import confidence_sequence
from guildhall.analysis.tables import Codes, Floats
from guildhall.errors import NothingJudged, UnknownName

Convention = Literal["win", "win_or_tie", "half_tie"]
IntervalKind = Literal["t", "two-level", "tasks", "within-sample", "always-valid"]
INTERVALS: tuple[IntervalKind, ...] = ("t", "two-level", "tasks", "within-sample", "always-valid")

CONVENTIONS: dict[Convention, tuple[float, float, float]] = {
    "win": (0.0, 0.0, 1.0),
    "win_or_tie": (0.0, 1.0, 1.0),
    "half_tie": (0.0, 0.5, 1.0),
}
"""What a loss, a tie and a win are worth."""


class WinRate(NamedTuple):
    """One model's record. `design_effect`: how much the graders add to the variance; absent where they cannot."""

    model: str
    wins: int
    ties: int
    losses: int
    win: Measured
    win_or_tie: Measured
    half_tie: Measured
    design_effect: float | None


class Group(NamedTuple):
    """The judgments of one model (or one cell of a breakdown): samples with their tasks, graders where known.

    The samples of a task stand together; `sizes` says how many each task has.
    """

    task: Codes
    sizes: Codes
    counts: NDArray[np.int64]
    sample_of: NDArray[np.intp]
    halves: NDArray[np.int8]
    grader: Codes | None
    n_excluded: int


def win_rates(outcomes: Outcomes, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0) -> list[WinRate]:
    """Each model's win rates, in the order the models appear.

    Interval `t` (default): a t interval over task means, on the logit scale under 1,000 tasks, exact where tasks or
    wins are few; graders who judged several tasks are a second cluster. `tasks`: tasks resampled. `two-level`: tasks,
    then grades within samples (over-covers). `within-sample`: grades only, for these very tasks. `always-valid`: may
    be looked at after every task; tasks count in the order in which they first appear, which must not depend on how
    they turn out. `seed` matters to the resampled kinds only.
    """
    return [
        _win_rate(outcomes.model.names[code], group, interval=interval, level=level, seed=seed)
        for code, group in groups(outcomes)
    ]


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


def _win_rate(name: str, group: Group, *, interval: IntervalKind, level: float, seed: int) -> WinRate:
    losses, ties, wins = (int(count) for count in group.counts.sum(axis=0))
    measured = {
        convention: share_of_wins(group, convention, interval=interval, level=level, seed=seed)
        for convention in CONVENTIONS
    }
    return WinRate(
        name,
        wins,
        ties,
        losses,
        **measured,
        design_effect=grader_design_effect(group, "half_tie") if interval == "t" else None,
    )


def share_of_wins(
    group: Group, convention: Convention, *, interval: IntervalKind = "t", level: float = 0.95, seed: int = 0
) -> Measured:
    """One convention's rate for one group of judgments."""
    means = task_means(group, convention)
    if interval == "t":
        [made] = t_intervals([rated(group, convention)], convention, level=level)
    elif interval == "always-valid":
        running = confidence_sequence(means, level=level).now
        made = ShareInterval(running.interval, running.method)
    else:
        made = resampled_interval(
            group.task, group.counts, CONVENTIONS[convention], kind=interval, level=level, seed=seed
        )
    found = measured_rate(group, means, convention, made, level=level)
    return found._replace(
        unit="grade" if interval == "within-sample" else "task",
        seed=seed if interval in ("two-level", "tasks") else None,
    )


def measured_rate(
    group: Group, means: Floats, convention: Convention, made: ShareInterval, *, level: float
) -> Measured:
    """A rate with its interval and all that was counted for it."""
    return Measured(
        value=float(means.mean()),
        interval=made.interval,
        estimand=f"{convention}: mean over tasks of the mean over samples of the mean over grades",
        method=made.method,
        level=level,
        n_tasks=len(means),
        n_samples=len(group.task),
        n_judgments=len(group.halves),
        n_excluded=group.n_excluded,
        why_no_interval=made.why_no_interval,
    )


def task_means(group: Group, convention: Convention) -> Floats:
    """Each task's own rate, in the order of the group's tasks."""
    sample_means = group.counts @ np.array(CONVENTIONS[convention]) / group.counts.sum(axis=1)
    means: Floats = np.add.reduceat(sample_means, np.cumsum(group.sizes) - group.sizes) / group.sizes
    return means


def spread_of(group: Group, convention: Convention, means: Floats, value: float) -> Widened:
    """Tasks as clusters, and graders as a second one where they judged several tasks."""
    n_tasks = len(means)
    contributions = (means - value) / n_tasks
    variance, df = cluster_variance(contributions), matched_df(contributions)
    if n_tasks < 2 or group.grader is None:
        return Widened(variance, df, "")
    return widened(variance, df, *grade_errors(group, convention, value), group.grader)


class Rated(NamedTuple):
    """Judgments with each task's own rate, the mean of these, and how far it may be off."""

    group: Group
    means: Floats
    value: float
    spread: Widened


def rated(group: Group, convention: Convention) -> Rated:
    """One convention's rate for one group of judgments, before any interval."""
    means = task_means(group, convention)
    value = float(means.mean())
    return Rated(group, means, value, spread_of(group, convention, means, value))


def t_intervals(every: Sequence[Rated], convention: Convention, *, level: float) -> list[ShareInterval]:
    """The intervals of many rates, each for itself."""
    shares = [
        Share(one.value, one.spread.variance, len(one.means), len(one.group.halves), one.spread.df) for one in every
    ]
    found = zip(every, share_intervals(shares, level=level), strict=True)
    return [_told(one, convention, made) for one, made in found]


def _told(one: Rated, convention: Convention, made: ShareInterval) -> ShareInterval:
    if convention == "half_tie" and not one.group.counts[:, [0, 2]].any():
        return ShareInterval(None, "none", "every judgment is a tie; there is no win or loss to learn from")
    return made._replace(method=made.method + one.spread.words) if made.interval else made


def grade_errors(group: Group, convention: Convention, value: float) -> tuple[Floats, Codes]:
    """What each grade adds to the error of the rate, and the task it was given on."""
    shares = len(group.sizes) * np.repeat(group.sizes, group.sizes) * group.counts.sum(axis=1)
    worth = np.array(CONVENTIONS[convention])[group.halves]
    errors: Floats = (worth - value) / shares[group.sample_of]
    return errors, group.task[group.sample_of]


def grader_design_effect(group: Group, convention: Convention) -> float | None:
    """Variance with graders as a second cluster, over the variance with tasks alone; None where they add nothing."""
    one = rated(group, convention)
    variance, together = cluster_variance((one.means - one.value) / len(one.means)), one.spread
    return together.variance / variance if together.words and variance > 0 and math.isfinite(variance) else None
