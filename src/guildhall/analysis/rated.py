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

from guildhall.analysis.intervals import FEWEST_SECOND, Share
from guildhall.analysis.outcomes import NOBODY, UNKNOWN, Outcomes
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
        self.halves, self.grader = outcomes.halves, outcomes.grader.codes if outcomes.grader else None
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

    def errors(self, convention: Convention, values: Floats) -> Floats:
        """What each judgment adds to the error of its group's rate."""
        shares = np.repeat(np.repeat(self.n_tasks, self.n_tasks) * self.sizes, self.sizes) * self.counts.sum(axis=1)
        worth = np.array(CONVENTIONS[convention])[self.halves]
        errors: Floats = (worth - values[self.group]) / shares[self.sample]
        return errors

    def second_components(self, errors: Floats) -> tuple[Floats, Codes]:
        """For each group what its graders add to the variance and how many they are, as `second_component` says.

        None of them, and nothing added, where it cannot be said.
        """
        adds, n_graders = np.zeros(len(self)), np.zeros(len(self), dtype=np.int64)
        if self._graded is not None:
            which, of_grader, grader, of_pair, pair = self._graded
            n_graders, n_pairs = (np.bincount(of, minlength=len(self)) for of in (of_grader, of_pair))
            known = n_graders > 0
            by_grader = _variances(_summed(grader, errors[which]), n_graders[known])
            adds[known] = by_grader - _variances(_summed(pair, errors[which]), n_pairs[known])
            told = (n_graders >= FEWEST_SECOND) & (n_pairs != n_graders) & (adds > 0)
            adds, n_graders = np.where(told, adds, 0.0), np.where(told, n_graders, 0)
        return adds, n_graders

    @cached_property
    def _graded(self) -> tuple[Codes | slice, Codes, Codes, Codes, Codes] | None:
        """The judgments of groups in which it may matter who judged and is known of all; None where it is in none.

        Of each its grader and its pair of grader and task, counted over all groups, behind the group of each.
        """
        if self.grader is None:
            return None
        blank, judged = self.grader == UNKNOWN, self.grader != NOBODY
        asked = (self.n_tasks > 1) & (np.bincount(self.group[blank], minlength=len(self)) == 0)
        if not (asked[self.group] & judged).any():
            return None
        which = slice(None) if asked.all() and judged.all() else np.flatnonzero(asked[self.group] & judged)
        of_grader, by_grader = _told_apart(self.group[which], self.grader[which])
        of_pair, by_pair = _told_apart(by_grader, self.task[self.sample[which]])
        return which, of_grader, by_grader, of_grader[of_pair], by_pair


class Rated:
    """The rate of each group under one convention, and how far it may be off.

    Tasks are clusters (`by_tasks`), and graders a second one where they judged several tasks (`variance`, `df`).
    """

    def __init__(self, groups: Groups, convention: Convention) -> None:
        sizes = groups.n_tasks
        self.groups, self.convention = groups, convention
        self.means = groups.task_means(convention)
        self.values = _sums(self.means, sizes) / sizes
        apart = self.means - np.repeat(self.values, sizes)
        errors = apart / np.repeat(sizes, sizes)
        self.seen = _sums(np.square(apart), sizes)
        self.by_tasks, self.df_of_tasks = _variances(errors, sizes), _matched_dfs(errors, sizes)
        self.adds, self.n_graders = groups.second_components(groups.errors(convention, self.values))
        with np.errstate(divide="ignore", invalid="ignore"):
            below = self.by_tasks**2 / self.df_of_tasks + self.adds**2 / (self.n_graders - 1)  # as in `joint_df`
            self.df = np.where(self.n_graders > 0, (self.by_tasks + self.adds) ** 2 / below, self.df_of_tasks)

    def shares(self) -> list[Share]:
        """The rates with all that is known of their variance."""
        return self._shares(self.by_tasks + self.adds, self.df)

    def shares_by_tasks(self) -> list[Share]:
        """The same with what tasks alone say of it."""
        return self._shares(self.by_tasks, self.df_of_tasks)

    def _shares(self, variance: Floats, df: Floats) -> list[Share]:
        judged = self.groups.totals.sum(axis=1)
        columns = (self.values, variance, self.groups.n_tasks, judged, df)
        return [Share(*one) for one in zip(*(column.tolist() for column in columns), strict=True)]

    def words(self) -> list[str]:
        """What methods say of graders."""
        return [f"; graders as second cluster ({n})" if n else "" for n in self.n_graders.tolist()]

    def design_effects(self) -> list[float | None]:
        """Variance with graders as a second cluster, over that of tasks alone; None where they add nothing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (self.by_tasks + self.adds) / self.by_tasks
        known = (self.n_graders > 0) & (self.by_tasks > 0)
        return [one if is_known else None for one, is_known in zip(found.tolist(), known.tolist(), strict=True)]


def _starts(keys: Codes) -> Codes:
    """Where each run of equal keys begins."""
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1))


def _summed(by: Codes, errors: Floats) -> Floats:
    return np.asarray(np.bincount(by, errors), dtype=np.float64)


def _told_apart(outer: Codes, inner: Codes) -> tuple[Codes, Codes]:
    """The outer code (rising) of each pair of codes that occurs, and which pair each row is of."""
    n_inner = int(inner.max()) + 1
    pairs, code = distinct(outer.astype(np.int64) * n_inner + inner, (int(outer.max()) + 1) * n_inner)
    return pairs // n_inner, code


def _sums(cells: Floats, sizes: Codes) -> Floats:
    """Sums of stretches of so many cells each; none is empty."""
    return np.add.reduceat(cells, np.cumsum(sizes) - sizes)


def _variances(errors: Floats, sizes: Codes) -> Floats:
    """`cluster_variance` of each stretch."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = _sums(np.square(errors), sizes) * sizes / (sizes - 1)
    return np.where(sizes > 1, found, np.nan)


def _matched_dfs(errors: Floats, sizes: Codes) -> Floats:
    """`matched_df` of each stretch."""
    squares = np.square(errors)
    total, fourth = _sums(squares, sizes), _sums(np.square(squares), sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = np.where(total > 0, sizes * fourth / total**2, 1.0)
        matched = np.maximum(1.0, np.minimum(sizes - 1.0, 2.0 * sizes / (kurtosis - 1.0)))
    return np.where(kurtosis > 1.0, matched, sizes - 1.0)


class Shared(NamedTuple):
    """A variance that all rates have in common, and its degrees of freedom."""

    variance: float
    df: float


NOTHING_SHARED = Shared(0.0, np.inf)


def shared_error(outcomes: Outcomes, convention: Convention) -> Shared:
    """The mean covariance between the rates of two models, with tasks and graders as clusters; never below 0."""
    groups = Groups(outcomes)
    if len(groups) < 2:
        return NOTHING_SHARED
    errors = groups.errors(convention, Rated(groups, convention).values)
    model, task, grader = groups.group, outcomes.task.codes, groups.grader
    total = _shared_in(model, task, errors)
    if grader is not None and np.all(grader != UNKNOWN) and np.any(judged := grader != NOBODY):
        model, task, grader, errors = model[judged], task[judged], grader[judged], errors[judged]
        width = int(grader.max()) + 1
        total += max(0.0, _shared_in(model, grader, errors) - _shared_in(model, task * width + grader, errors))
    pairs = len(groups) * (len(groups) - 1)
    return Shared(max(0.0, total) / pairs, float(max(1, len(np.unique(task)) - 1)))


def _shared_in(model: NDArray[np.int64], cluster: NDArray[np.int64], errors: Floats) -> float:
    """The sum over clusters, and over all ordered pairs of different models, of the products of their errors."""
    _, at = np.unique(cluster, return_inverse=True)
    _, own = np.unique(at * (int(model.max()) + 1) + model, return_inverse=True)
    together, apart = np.bincount(at, errors), np.bincount(own, errors)
    return float(together @ together - apart @ apart)
