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
    """Shares of ratings among deliverables that lost, clustered by task."""
    rows = _rows(evidence)
    if rows is None:
        return None
    words = "Of deliverables that lost, how bad they were, by experts who had not judged the pair."
    figures = tuple(figure(name, share) for name, share in severity_shares(rows).items())
    return FigureGroup(name="severity", title="How bad the losses are", words=words, figures=figures)


def per_hundred(evidence: Evidence) -> FigureGroup | None:
    """The same of all deliverables, lost or not; None where none that did not lose was rated."""
    rows = _rows(evidence)
    if rows is None or rows.eligible.all():
        return None
    words = (
        "Of 100 deliverables, lost or not, how many are so bad. Some that did not lose are rated too, and are weighted "
        "back by how they were drawn."
    )
    figures = tuple(figure(str(kind), per_hundred_deliverables(rows, str(kind))) for kind in UNCONDITIONAL)
    return FigureGroup(name="severity-per-100", title="Per 100 deliverables", words=words, figures=figures)


def _rows(evidence: Evidence) -> SeverityRows | None:
    store = evidence.workspace.store
    ratings = list(store.each(SeverityRating, study=evidence.study.id))
    if not any(not rating.control for rating in ratings):
        return None
    classes = tuple(str(kind) for kind in Severity)
    return SeverityRows(
        classes=classes,
        rating=np.array([classes.index(rating.severity) for rating in ratings], dtype=np.intp),
        task=codes([store.get(Submission, rating.submission).task for rating in ratings]),
        sample=codes([rating.submission for rating in ratings]),
        eligible=np.array([not rating.control for rating in ratings]),
        drawn=np.array([rating.sampling_rate for rating in ratings]),
    )
