"""How bad are the losses?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.shares import clustered_share
from guildhall.domain.findings import FigureGroup
from guildhall.domain.judgments import Severity, SeverityRating
from guildhall.domain.submissions import Submission
from guildhall.study.evidence import Evidence, codes, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    ratings = [
        rating
        for rating in evidence.workspace.store.each(SeverityRating, study=evidence.study.id)
        if not rating.control
    ]
    if not ratings:
        return None
    task = codes([evidence.workspace.store.get(Submission, rating.submission).task for rating in ratings])
    figures = tuple(
        figure(
            str(kind), clustered_share(np.array([one.severity is kind for one in ratings]), task, what=f"share: {kind}")
        )
        for kind in Severity
    )
    words = "Of deliverables that lost, how bad they were, by experts who had not judged the pair."
    return FigureGroup(name="severity", title="How bad the losses are", words=words, figures=figures)
