"""How bad are the losses?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.shares import SeverityRows, per_hundred_deliverables, severity_shares
from guildhall.domain.findings import FigureGroup
from guildhall.domain.judgments import Severity, SeverityRating
from guildhall.domain.submissions import Submission
from guildhall.study.evidence import Evidence, codes, figure

UNCONDITIONAL = (Severity.CATASTROPHIC, Severity.BAD)
"""What is also told per 100 deliverables, lost or not."""


def chapter(evidence: Evidence) -> FigureGroup | None:
    """Shares among lost deliverables; per 100 of all deliverables where some that did not lose were rated too."""
    store = evidence.workspace.store
    ratings = list(store.each(SeverityRating, study=evidence.study.id))
    if not any(not rating.control for rating in ratings):
        return None
    classes = tuple(str(kind) for kind in Severity)
    rows = SeverityRows(
        classes=classes,
        rating=np.array([classes.index(rating.severity) for rating in ratings], dtype=np.intp),
        task=codes([store.get(Submission, rating.submission).task for rating in ratings]),
        sample=codes([rating.submission for rating in ratings]),
        eligible=np.array([not rating.control for rating in ratings]),
        drawn=np.array([rating.sampling_rate for rating in ratings]),
    )
    figures = [figure(f"{name}, of those that lost", share) for name, share in severity_shares(rows).items()]
    if not rows.eligible.all():
        figures += [
            figure(f"{kind} per 100 deliverables, lost or not", per_hundred_deliverables(rows, str(kind)))
            for kind in UNCONDITIONAL
        ]
    words = (
        "Of deliverables that lost, how bad they were, by experts who had not judged the pair. Some deliverables that "
        "did not lose are rated too; weighted back by how they were drawn they give the rate per 100 of all."
    )
    return FigureGroup(name="severity", title="How bad the losses are", words=words, figures=tuple(figures))
