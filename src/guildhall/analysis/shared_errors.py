"""What the errors of several models' rates have in common: the same tasks, and the same graders.

Tasks that happen to be easy lift every model's rate at once. No scatter about a line shows that, so it is found from
the judgments themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Groups, Rated
from guildhall.analysis.tables import Floats
from guildhall.domain.estimates import Convention


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
    if grader is not None and np.all(grader >= 0):
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
