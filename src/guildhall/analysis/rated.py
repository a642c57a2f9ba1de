"""Rates of many groups of judgments at once, before any interval: a breakdown of 300 models has thousands of cells.

Groups stand one after the other in arrays, and every sum over the tasks, graders or grades of a group is the sum of a
stretch of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import FEWEST_SECOND, Widened, widened_by
from guildhall.analysis.tables import Codes, Floats, distinct

Convention = Literal["win", "win_or_tie", "half_tie"]
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


def rated(groups: Sequence[Group], convention: Convention) -> list[Rated]:
    """One convention's rate for each group of judgments.

    Tasks are clusters, and graders a second one where they judged several tasks.
    """
    means, n_tasks = task_means(groups, convention), np.array([len(group.sizes) for group in groups])
    values = _sums(means, n_tasks) / n_tasks
    errors = (means - np.repeat(values, n_tasks)) / np.repeat(n_tasks, n_tasks)
    variances, dfs = _variances(errors, n_tasks), _matched_dfs(errors, n_tasks)
    seconds = _second_components(groups, convention, values)
    alone = zip(variances.tolist(), dfs.tolist(), strict=True)
    spreads = [widened_by(variance, df, second) for (variance, df), second in zip(alone, seconds, strict=True)]
    by_group = np.split(means, np.cumsum(n_tasks)[:-1])
    return [Rated(*one) for one in zip(groups, by_group, values.tolist(), spreads, strict=True)]


def task_means(groups: Sequence[Group], convention: Convention) -> Floats:
    """Each task's own rate, in the order of the groups' tasks."""
    counts, sizes = (np.concatenate([getattr(group, name) for group in groups]) for name in ("counts", "sizes"))
    means: Floats = _sums(counts @ np.array(CONVENTIONS[convention]) / counts.sum(axis=1), sizes) / sizes
    return means


def grade_errors(groups: Sequence[Group], convention: Convention, values: Floats) -> Floats:
    """What each grade adds to the error of its group's rate."""
    n_tasks, n_grades = (np.array([len(getattr(group, name)) for group in groups]) for name in ("sizes", "halves"))
    sizes = np.concatenate([group.sizes for group in groups])
    counts = np.concatenate([group.counts for group in groups])
    shares = np.repeat(np.repeat(n_tasks, n_tasks) * sizes, sizes) * counts.sum(axis=1)
    worth = np.array(CONVENTIONS[convention])[np.concatenate([group.halves for group in groups])]
    errors: Floats = (worth - np.repeat(values, n_grades)) / shares[_samples(groups, n_grades)]
    return errors


def _samples(groups: Sequence[Group], n_grades: Codes) -> Codes:
    """Each grade's sample, counted over all groups."""
    n_samples = np.array([len(group.task) for group in groups])
    before: Codes = np.repeat(np.cumsum(n_samples) - n_samples, n_grades)
    return np.concatenate([group.sample_of for group in groups]) + before


def _second_components(
    groups: Sequence[Group], convention: Convention, values: Floats
) -> list[tuple[float, int] | None]:
    """For each group what its graders add to the variance and how many they are, as `second_component` says."""
    nothing: list[tuple[float, int] | None] = [None] * len(groups)
    known = [at for at, group in enumerate(groups) if _graders_known(group)]
    if not known:
        return nothing
    asked = [groups[at] for at in known]
    errors = grade_errors(asked, convention, values[known])
    n_grades = np.array([len(group.halves) for group in asked])
    of = np.repeat(np.arange(len(asked)), n_grades)
    grader = np.concatenate([group.grader for group in asked if group.grader is not None])
    task = np.concatenate([group.task for group in asked])[_samples(asked, n_grades)]
    by_grader, of_grader, code = _summed(of, grader, errors)
    by_pair, of_pair, _ = _summed(code, task, errors)
    n_graders, n_pairs = (np.bincount(one, minlength=len(asked)) for one in (of_grader, of_grader[of_pair]))
    adds = _variances(by_grader, n_graders) - _variances(by_pair, n_pairs)
    told = (n_graders >= FEWEST_SECOND) & (n_pairs != n_graders) & (adds > 0)
    for at in np.flatnonzero(told).tolist():
        nothing[known[at]] = float(adds[at]), int(n_graders[at])
    return nothing


def _graders_known(group: Group) -> bool:
    return len(group.sizes) > 1 and group.grader is not None and bool(group.grader.min() >= 0)


def _summed(outer: Codes, inner: Codes, errors: Floats) -> tuple[Floats, Codes, Codes]:
    """The errors' sum for each pair of codes that occurs, its outer code (rising), and each row's pair."""
    n_inner = int(inner.max()) + 1
    pairs, code = distinct(outer.astype(np.int64) * n_inner + inner, (int(outer.max()) + 1) * n_inner)
    return np.bincount(code, errors).astype(np.float64), pairs // n_inner, code


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
