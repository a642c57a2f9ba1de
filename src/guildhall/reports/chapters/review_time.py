"""How long does a first review take?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.intervals import clustered_mean, t_estimate
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import figure_section


class ReviewTime:
    """Minutes of active time at a grader's first sight of a task; None where no time was taken."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        pairs = evidence.pairs
        first = (pairs.exposure == 1) & ~np.isnan(pairs.active_s)
        if not first.any():
            return None
        mean = clustered_mean(pairs.active_s[first] / 60, pairs.task.codes[first], pairs.grader.codes[first])
        found = t_estimate(
            mean.value,
            mean.error,
            n_clusters=mean.n_clusters,
            df=mean.df,
            level=evidence.level,
            estimand="minutes of active time at a grader's first sight of a task",
            method=f"t over tasks{mean.words}",
            n_judgments=int(first.sum()),
        )
        words = (
            "Only a grader's first meeting with a task counts as review time; time without signs of activity is "
            "unknown."
        )
        return figure_section("review-time", "Time to review", words, [("minutes", found)], traced=True)
