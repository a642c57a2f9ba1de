"""What the errors of several models' rates have in common: the same tasks, and the same graders.

Tasks that happen to be easy lift every model's rate at once. No scatter about a line shows that, so it is found from
the judgments themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Groups
from guildhall.analysis.tables import Floats
from guildhall.analysis.win_rates import groups
from guildhall.domain.estimates import Convention


class Shared(NamedTuple):
    """A variance that all rates have in common, and its degrees of freedom."""

    variance: float
    df: float


NOTHING_SHARED = Shared(0.0, np.inf)


def shared_error(outcomes: Outcomes, convention: Convention) -> Shared:
    """The mean covariance between the rates of two models, with tasks and graders as clusters; never below 0."""
    every = [group for _, group in groups(outcomes)]
    if len(every) < 2:
        return NOTHING_SHARED
    together = Groups(every)
    errors = together.grade_errors(convention, np.array([one.value for one in together.rated(convention)]))
    model, task = np.repeat(np.arange(len(every)), together.n_grades), together.task
    grader = np.concatenate(
        [np.full(len(group.halves), -1) if group.grader is None else group.grader for group in every]
    )
    total = _shared_in(model, task, errors)
    if np.all(grader >= 0):
        width = int(grader.max()) + 1
        total += max(0.0, _shared_in(model, grader, errors) - _shared_in(model, task * width + grader, errors))
    pairs = len(every) * (len(every) - 1)
    return Shared(max(0.0, total) / pairs, float(max(1, len(np.unique(task)) - 1)))


def _shared_in(model: NDArray[np.int64], cluster: NDArray[np.int64], errors: Floats) -> float:
    """The sum over clusters, and over all ordered pairs of different models, of the products of their errors."""
    _, at = np.unique(cluster, return_inverse=True)
    _, own = np.unique(at * (int(model.max()) + 1) + model, return_inverse=True)
    together, apart = np.bincount(at, errors), np.bincount(own, errors)
    return float(together @ together - apart @ apart)
