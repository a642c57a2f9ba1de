"""Do graders agree with each other?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.agreement import agreement
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.ratings_table import Ratings
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, figure
from guildhall.study.rows import Rows


def chapter(evidence: Evidence) -> FigureGroup | None:
    ratings = _ratings(evidence.rows)
    if ratings.n_samples == len(evidence.rows):
        return None
    found = agreement(ratings).human_human
    words = (
        "How often two graders of one deliverable agree: 1 minus the gap between their verdicts, averaged over pairs."
    )
    return FigureGroup(
        name="agreement", title="Agreement between graders", words=words, figures=(figure("between graders", found),)
    )


def _ratings(rows: Rows) -> Ratings:
    """Every verdict of these graders, of whatever kind, as one between equals: each deliverable is a sample."""
    _, first, sample = np.unique(rows.submission.codes, return_index=True, return_inverse=True)
    return Ratings(
        models=rows.model.names,
        raters=rows.grader.names,
        sample=sample,
        rater=rows.grader.codes,
        is_human=np.ones(len(rows), dtype=np.bool_),
        halves=to_halves(rows.score),
        model=rows.model.codes[first],
        task=rows.task.codes[first],
    )
