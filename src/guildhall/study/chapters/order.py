"""Does it matter which side stood first?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.shares import clustered_share
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, codes, figure


def chapter(evidence: Evidence) -> FigureGroup:
    task = codes([row.task for row in evidence.rows])
    first = np.array([row.model_place == 0 for row in evidence.rows])
    score = np.array([row.score for row in evidence.rows])
    figures = [
        figure(
            name,
            clustered_share(score[which] > 0.5, task[which], what=f"share of wins when the model's work was {name}"),
        )
        for name, which in (("at A", first), ("elsewhere", ~first))
        if which.any()
    ]
    words = "Orders are balanced by design, so a difference here is a habit of the graders and not of the result."
    return FigureGroup(name="order", title="Order of the sides", words=words, figures=tuple(figures))
