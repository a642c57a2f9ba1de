"""How long does a first review take?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.t_intervals import clustered_mean, t_estimate
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, codes, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    first = [row for row in evidence.rows if row.active_s is not None and row.exposure == 1]
    if not first:
        return None
    minutes = np.array([row.active_s or 0.0 for row in first]) / 60
    mean = clustered_mean(minutes, codes([row.task for row in first]))
    found = t_estimate(
        mean.value,
        mean.error,
        n_clusters=mean.n_clusters,
        df=mean.df,
        estimand="minutes of active time at a grader's first sight of a task",
        method="t over tasks",
        n_judgments=len(first),
    )
    words = (
        "Only a grader's first meeting with a task counts as review time; time without signs of activity is unknown."
    )
    return FigureGroup(name="review-time", title="Time to review", words=words, figures=(figure("minutes", found),))
