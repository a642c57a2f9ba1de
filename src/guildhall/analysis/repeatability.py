"""Does a grader agree with itself? Marks of the same essay by the same grader in several rounds."""

from __future__ import annotations

import numpy as np

from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.analysis.marks import MarkTable
from guildhall.domain.estimates import Estimate
from guildhall.errors import UnknownName


def repeatability(table: MarkTable, grader: str, *, level: float = 0.95) -> Estimate:
    """Mean distance between two of a grader's marks of one essay, over essays it marked at least twice.

    0 means it always repeats itself. Essays weigh equally; interval: t over essays.
    """
    if grader not in table.models:
        raise UnknownName("grader", grader, known=list(table.models))
    mine = table.keep(table.grader == table.models.index(grader))
    distances, essays = [], []
    for essay in np.unique(mine.essay):
        marks = mine.mark[mine.essay == essay]
        if len(marks) > 1:
            upper = np.triu_indices(len(marks), k=1)
            distances.append(float(np.abs(marks[:, None] - marks[None, :])[upper].mean()))
            essays.append(int(essay))
    what = f"mean distance between {grader}'s marks of one essay"
    if not distances:
        why = "no essay was marked more than once"
        return Estimate(
            value=None,
            estimand=what,
            method="none",
            level=level,
            unit="essay",
            n_judgments=len(mine.mark),
            why_no_interval=why,
        )
    value, error, n_essays = mean_of_cluster_means(np.array(distances), np.array(essays))
    return t_estimate(
        value,
        error,
        n_clusters=n_essays,
        estimand=what,
        method="mean over essays, t over essays",
        unit="essay",
        level=level,
        n_judgments=len(mine.mark),
    )
