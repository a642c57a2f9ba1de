"""How long does a first review take?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.intervals import clustered_mean, t_estimate
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    rows = evidence.rows
    first = (rows.exposure == 1) & ~np.isnan(rows.active_s)
    if not first.any():
        return None
    mean = clustered_mean(rows.active_s[first] / 60, rows.task.codes[first], rows.grader.codes[first])
    found = t_estimate(
        mean.value,
        mean.error,
        n_clusters=mean.n_clusters,
        df=mean.df,
        estimand="minutes of active time at a grader's first sight of a task",
        method=f"t over tasks{mean.words}",
        n_judgments=int(first.sum()),
    )
    words = (
        "Only a grader's first meeting with a task counts as review time; time without signs of activity is unknown."
    )
    return FigureGroup(name="review-time", title="Time to review", words=words, figures=(figure("minutes", found),))
