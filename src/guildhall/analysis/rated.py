"""Rates of many groups of judgments at once, before any interval: a breakdown of 300 models has thousands of cells.

Groups stand one after the other in arrays, and every sum over the tasks, graders or grades of a group is the sum of a
stretch of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import FEWEST_SECOND, Widened, widened_by
from guildhall.analysis.tables import Codes, Floats, distinct
from guildhall.domain.estimates import Convention

CONVENTIONS: dict[Convention, tuple[float, float, float]] = {
    "win": (0.0, 0.0, 1.0),
    "win_or_tie": (0.0, 1.0, 1.0),
    "half_tie": (0.0, 0.5, 1.0),
}
"""What a loss, a tie and a win are worth."""


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


class Rated(NamedTuple):
    """Judgments with each task's own rate, the mean of these, and how far it may be off."""

    group: Group
    means: Floats
    value: float
    spread: Widened


class Groups:
    """Groups of judgments, one after the other, and their rates under any convention."""

    def __init__(self, every: Sequence[Group]) -> None:
        self.every = every
        self.n_tasks, self.n_grades = (np.array([len(getattr(one, of)) for one in every]) for of in ("sizes", "halves"))
        self._sizes, self._counts = (np.concatenate([getattr(one, of) for one in every]) for of in ("sizes", "counts"))

    def rated(self, convention: Convention) -> list[Rated]:
        """Each group's rate. Tasks are clusters, and graders a second one where they judged several tasks."""
        means = self.task_means(convention)
        values = _sums(means, self.n_tasks) / self.n_tasks
        errors = (means - np.repeat(values, self.n_tasks)) / np.repeat(self.n_tasks, self.n_tasks)
        alone = zip(_variances(errors, self.n_tasks).tolist(), _matched_dfs(errors, self.n_tasks).tolist(), strict=True)
        seconds = self._second_components(self.grade_errors(convention, values))
        spreads = [widened_by(*variance_and_df, second) for variance_and_df, second in zip(alone, seconds, strict=True)]
        by_group = np.split(means, np.cumsum(self.n_tasks)[:-1])
        return [Rated(*one) for one in zip(self.every, by_group, values.tolist(), spreads, strict=True)]

    def task_means(self, convention: Convention) -> Floats:
        """Each task's own rate, in the order of the groups' tasks."""
        by_sample = self._counts @ np.array(CONVENTIONS[convention]) / self._counts.sum(axis=1)
        means: Floats = _sums(by_sample, self._sizes) / self._sizes
        return means

    def grade_errors(self, convention: Convention, values: Floats) -> Floats:
        """What each grade adds to the error of its group's rate."""
        shares = np.repeat(np.repeat(self.n_tasks, self.n_tasks) * self._sizes, self._sizes) * self._counts.sum(axis=1)
        worth = np.array(CONVENTIONS[convention])[np.concatenate([one.halves for one in self.every])]
        errors: Floats = (worth - np.repeat(values, self.n_grades)) / shares[self._sample]
        return errors

    @cached_property
    def task(self) -> Codes:
        """The task each grade was given on."""
        return np.concatenate([one.task for one in self.every])[self._sample]

    @cached_property
    def _sample(self) -> Codes:
        """Each grade's sample, counted over all groups."""
        n_samples = np.array([len(one.task) for one in self.every])
        before: Codes = np.repeat(np.cumsum(n_samples) - n_samples, self.n_grades)
        return np.concatenate([one.sample_of for one in self.every]) + before

    def _second_components(self, errors: Floats) -> list[tuple[float, int] | None]:
        """For each group what its graders add to the variance and how many they are, as `second_component` says."""
        found: list[tuple[float, int] | None] = [None] * len(self.every)
        if self._graded is None:
            return found
        grades, of_grader, grader, of_pair, pair = self._graded
        n_graders, n_pairs = (np.bincount(of, minlength=len(self.every)) for of in (of_grader, of_pair))
        known, adds = n_graders > 0, np.zeros(len(self.every))
        by_grader = _variances(_summed(grader, errors[grades]), n_graders[known])
        adds[known] = by_grader - _variances(_summed(pair, errors[grades]), n_pairs[known])
        told = (n_graders >= FEWEST_SECOND) & (n_pairs != n_graders) & (adds > 0)
        for at in np.flatnonzero(told).tolist():
            found[at] = float(adds[at]), int(n_graders[at])
        return found

    @cached_property
    def _graded(self) -> tuple[Codes, Codes, Codes, Codes, Codes] | None:
        """The grades in those groups where it may matter who gave them and is known of all; None where it is in none.

        Of each grade its grader and its pair of grader and task, counted over all groups, behind the group of each.
        """
        asked = np.array([_graders_known(one.sizes, one.grader) for one in self.every])
        if not asked.any():
            return None
        grades = np.flatnonzero(np.repeat(asked, self.n_grades))
        grader = np.concatenate([self.every[at].grader for at in np.flatnonzero(asked).tolist()])
        group = np.repeat(np.arange(len(self.every))[asked], self.n_grades[asked])
        of_grader, by_grader = _told_apart(group, grader)
        of_pair, by_pair = _told_apart(by_grader, self.task[grades])
        return grades, of_grader, by_grader, of_grader[of_pair], by_pair


def _summed(by: Codes, errors: Floats) -> Floats:
    return np.asarray(np.bincount(by, errors), dtype=np.float64)


def _graders_known(sizes: Codes, grader: Codes | None) -> bool:
    return len(sizes) > 1 and grader is not None and bool(grader.min() >= 0)


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
