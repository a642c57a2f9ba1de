"""Do graders agree with each other?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from guildhall.analysis.agreement import agreement
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.ratings_table import Ratings
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, codes, figure
from guildhall.study.judged import Row


def chapter(evidence: Evidence) -> FigureGroup | None:
    samples = [f"{row.task}/{row.model}/{row.sample}" for row in evidence.rows]
    if len(set(samples)) == len(samples):
        return None
    found = agreement(_ratings(evidence.rows, samples)).human_human
    words = (
        "How often two graders of one deliverable agree: 1 minus the gap between their verdicts, averaged over pairs."
    )
    return FigureGroup(
        name="agreement", title="Agreement between graders", words=words, figures=(figure("between graders", found),)
    )


def _ratings(rows: Sequence[Row], samples: Sequence[str]) -> Ratings:
    _, first, sample = np.unique(samples, return_index=True, return_inverse=True)
    models, model = np.unique([rows[at].model for at in first], return_inverse=True)
    raters, rater = np.unique([row.grader for row in rows], return_inverse=True)
    return Ratings(
        models=tuple(models.tolist()),
        raters=tuple(raters.tolist()),
        sample=sample,
        rater=rater.astype(np.int32),
        is_human=np.ones(len(rows), dtype=np.bool_),
        halves=to_halves(np.array([row.score for row in rows])),
        model=model.astype(np.int32),
        task=codes([rows[at].task for at in first]).astype(np.int32),
    )
