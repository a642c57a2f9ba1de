"""Who marks whom how, at any size: medians of every grader-author pair, and each grader's bias, from counts.

Marks take few distinct values, so a median is found by counting, never by sorting: ten million marks among three
hundred models cost one pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.histogram import joint_counts
from guildhall.analysis.tables import Codes, Floats
from guildhall.errors import NothingMarked


class CrossMarks(NamedTuple):
    """`medians[grader, author]`; NaN where nothing was marked. Bias above zero is leniency."""

    medians: Floats
    counts: NDArray[np.int64]
    received: Floats
    given: Floats
    bias: Floats


def cross_marks(grader: Codes, author: Codes, mark: Codes, values: Floats, *, n_models: int) -> CrossMarks:
    """Medians and bias from coded marks: `values[mark[i]]`, rising, is what grader i gave author i.

    `bias` is the median a grader gave minus the median of all marks; marks to oneself included, as published.
    """
    if not len(mark):
        raise NothingMarked
    counts = joint_counts([grader, author, mark], (n_models, n_models, len(values)))
    medians = _medians(counts, values)
    given = _medians(counts.sum(axis=1), values)
    overall = _medians(counts.sum(axis=(0, 1)), values)
    return CrossMarks(medians, counts.sum(axis=2), _medians(counts.sum(axis=0), values), given, given - overall)


def _medians(counts: NDArray[np.int64], values: Floats) -> Floats:
    """Medians along the last axis of counts of rising values: the mean of the two middle marks, as usual."""
    reached = np.cumsum(counts, axis=-1)
    total = reached[..., -1:]
    lower = (reached <= (total - 1) // 2).sum(axis=-1)
    upper = (reached <= total // 2).sum(axis=-1)
    last = len(values) - 1
    medians = 0.5 * (values[np.minimum(lower, last)] + values[np.minimum(upper, last)])
    return np.where(total[..., 0] > 0, medians, np.nan)
