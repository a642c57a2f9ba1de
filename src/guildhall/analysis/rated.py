"""Rates of many groups of judgments at once: a breakdown of 300 models has thousands of cells.

Judgments are reduced once to losses, ties and wins of each sample. Groups (models, or the cells of a breakdown) stand
one after the other in arrays, and every sum over the tasks or samples of a group is the sum of a stretch of them.

What the errors of several models' rates have in common: the same tasks, and the same graders. Tasks that happen to be
easy lift every model's rate at once. No scatter about a line shows that, so it is found from the judgments
themselves.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import SHARE_OF_CELLS, Crossing, crossed
from guildhall.analysis.intervals import Share
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.spreads import Spread, Spreads, joint_df
from guildhall.analysis.tables import Codes, Floats, distinct
from guildhall.domain.estimates import Convention
from guildhall.errors import NothingJudged

CONVENTIONS: dict[Convention, tuple[float, float, float]] = {
    "win": (0.0, 0.0, 1.0),
    "win_or_tie": (0.0, 1.0, 1.0),
    "half_tie": (0.0, 0.5, 1.0),
}
"""What a loss, a tie and a win are worth."""


class Groups:
    """Judgments by group: by the codes of `Outcomes.model`, in their order; only those that occur.

    `counts` (loss, tie, win) and `task` have a row for each sample, those of a task together, `sizes` says how many
    samples each task of each group has, and `n_tasks` how many tasks each group has.
    """

    def __init__(self, outcomes: Outcomes) -> None:
        if not len(outcomes.halves):
            raise NothingJudged("win rates", n_excluded=outcomes.n_excluded)
        n_tasks, n_samples = len(outcomes.task.names), max(len(outcomes.sample.names), 1) + 1
        key = outcomes.model.codes.astype(np.int64) * n_tasks + outcomes.task.codes
        key = key * n_samples + outcomes.sample.codes + 1
        keys, self.sample = distinct(key, len(outcomes.model.names) * n_tasks * n_samples)
        self.counts = np.bincount(self.sample * 3 + outcomes.halves, minlength=3 * len(keys)).reshape(-1, 3)
        of_task = keys // n_samples
        group, self.task = np.divmod(of_task, n_tasks)
        self._tasks, self._samples = _starts(of_task), _starts(group)
        self.codes = group[self._samples]
        self.sizes = np.diff(self._tasks, append=len(keys))
        self.n_samples = np.diff(self._samples, append=len(keys))
        self.n_tasks = np.diff(np.searchsorted(self._tasks, self._samples), append=len(self.sizes))
        self.totals: NDArray[np.int64] = np.add.reduceat(self.counts, self._samples)
        self.halves = outcomes.halves
        self.grader = np.full(len(self.halves), -1) if outcomes.grader is None else outcomes.grader.codes
        self.task_of, self.these_graders = outcomes.task.codes, outcomes.these_graders
        self.stratum = None if outcomes.stratum is None else outcomes.stratum.codes
        unknown = np.array([], dtype=np.int64) if outcomes.unknown is None else outcomes.unknown["model"]
        self.n_excluded = np.bincount(unknown[unknown >= 0], minlength=len(outcomes.model.names))[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names_of_tasks(self) -> Codes:
        """The task behind each entry of `sizes`."""
        return self.task[self._tasks]

    @cached_property
    def group(self) -> Codes:
        """The place of the group that each judgment is in."""
        return np.repeat(np.arange(len(self)), self.n_samples)[self.sample]

    def task_means(self, convention: Convention) -> Floats:
        """Each task's own rate, in the order of the groups' tasks."""
        by_sample = self.counts @ np.array(CONVENTIONS[convention]) / self.counts.sum(axis=1)
        means: Floats = np.add.reduceat(by_sample, self._tasks) / self.sizes
        return means

    @cached_property
    def weights(self) -> Floats:
        """How much each judgment weighs in its group's rate."""
        shares = np.repeat(np.repeat(self.n_tasks, self.n_tasks) * self.sizes, self.sizes) * self.counts.sum(axis=1)
        weights: Floats = (1.0 / shares)[self.sample]
        return weights

    def errors(self, convention: Convention, values: Floats) -> Floats:
        """What each judgment adds to the error of its group's rate."""
        worth = np.array(CONVENTIONS[convention])[self.halves]
        errors: Floats = (worth - values[self.group]) * self.weights
        return errors

    @cached_property
    def crossing(self) -> Crossing:
        """Who judged which task, in every group."""
        return Crossing(
            self.weights,
            group=self.group,
            task=self.task_of,
            grader=self.grader,
            stratum=self.stratum,
            these_graders=self.these_graders,
        )


class Rated:
    """The rate of each group under one convention, and how far it may be off, tasks and graders crossed.

    With `borrow` (a family for each group) groups of few tasks take the graders' component of their family.
    """

    def __init__(self, groups: Groups, convention: Convention, *, borrow: Codes | None = None) -> None:
        sizes = groups.n_tasks
        self.groups, self.convention = groups, convention
        self.means = groups.task_means(convention)
        self.values = _sums(self.means, sizes) / sizes
        self.seen = _sums(np.square(self.means - np.repeat(self.values, sizes)), sizes)
        self.errors = groups.errors(convention, self.values)
        self.spreads: Spreads = groups.crossing.spreads(self.errors, share_of_cells=SHARE_OF_CELLS, borrow=borrow)

    def shares(self) -> list[Share]:
        """The rates with all that is known of their variance."""
        columns = (getattr(self.spreads, name).tolist() for name in Spread._fields)
        spreads, judged = map(Spread._make, zip(*columns, strict=True)), self.groups.totals.sum(axis=1)
        return [Share(*one) for one in zip(self.values.tolist(), spreads, judged.tolist(), strict=True)]


def _starts(keys: Codes) -> Codes:
    """Where each run of equal keys begins."""
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1))


def _sums(cells: Floats, sizes: Codes) -> Floats:
    """Sums of stretches of so many cells each; none is empty."""
    return np.add.reduceat(cells, np.cumsum(sizes) - sizes)


class WithoutOne(NamedTuple):
    """The rate of a group without one of its graders, for each group and grader; NaN where nothing would be left."""

    group: Codes
    grader: Codes
    rate: Floats


def without_one_grader(groups: Groups, convention: Convention) -> WithoutOne:
    """Every rate again with each named grader left out, from what each changes of samples, tasks and groups."""
    named = groups.grader >= 0
    width, worth = int(groups.grader.max(initial=0)) + 1, np.array(CONVENTIONS[convention])
    times, means = groups.counts.sum(axis=1), groups.task_means(convention)
    rates = _sums(means, groups.n_tasks) / groups.n_tasks
    of_samples = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
    of_tasks = np.repeat(np.arange(len(groups)), groups.n_tasks)
    at, grader = np.flatnonzero(named), groups.grader[named].astype(np.int64)
    before, after = worth[groups.halves], np.zeros(len(at))
    gone = np.ones(len(at), dtype=np.bool_)
    levels = (
        (groups.sample, groups.counts @ worth / times, times),
        (of_samples, means, groups.sizes),
        (of_tasks, rates, groups.n_tasks),
    )
    for parents, values, numbers in levels:
        keys, place = distinct(parents[at] * width + grader, len(values) * width)
        change = np.bincount(place, after - before[at], len(keys))
        lost = np.bincount(place, gone, len(keys))
        at, grader = np.divmod(keys, width)
        left, before = numbers[at] - lost, values
        gone = left < 0.5
        after = np.where(gone, 0.0, (values[at] * numbers[at] + change) / np.where(gone, 1.0, left))
    return WithoutOne(at, grader, np.where(gone, np.nan, after))


class Shared(NamedTuple):
    """A variance that all rates have in common, and its degrees of freedom."""

    variance: float
    df: float


NOTHING_SHARED = Shared(0.0, np.inf)


def shared_error(outcomes: Outcomes, convention: Convention) -> Shared:
    """The mean covariance between the rates of two models, with tasks and graders crossed; never below 0.

    The variance of a sum is what the models' own variances leave: covariances of all pairs.
    """
    groups = Groups(outcomes)
    if (n := len(groups)) < 2:
        return NOTHING_SHARED
    rated = Rated(groups, convention)
    # All models as one group: their errors add up where they share tasks and graders.
    grader = None if groups.these_graders else groups.grader
    together = crossed(rated.errors / n, groups.task_of, grader, weight=groups.weights, stratum=groups.stratum)
    total = together.variance - float(np.nansum(rated.spreads.variance)) / n**2
    parts = (together.variance - together.of_graders, together.df), (together.of_graders, together.df_graders)
    return Shared(max(0.0, total) * n / (n - 1), joint_df(*parts))
