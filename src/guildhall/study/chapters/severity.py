"""How bad are the losses?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from guildhall.analysis.shares import SeverityRows, per_hundred_deliverables, severity_shares
from guildhall.domain.authors import ModelRun
from guildhall.domain.findings import Figure, FigureGroup
from guildhall.domain.judgments import Severity, SeverityRating
from guildhall.domain.submissions import Submission
from guildhall.study.evidence import Evidence, codes, figure

UNCONDITIONAL = (Severity.CATASTROPHIC, Severity.BAD)
"""What is also told per 100 deliverables, lost or not."""
CLASSES = tuple(str(kind) for kind in Severity)
Rated = tuple[SeverityRating, Submission]


def chapter(evidence: Evidence) -> FigureGroup | None:
    """Shares of ratings among deliverables that lost, clustered by task: of all, and of each model where several."""
    rated = _rated(evidence)
    if not any(not rating.control for rating, _ in rated):
        return None
    figures = [figure(name, share) for name, share in severity_shares(_rows(rated)).items()]
    for model, own in _by_model(rated).items():
        if any(not rating.control for rating, _ in own):
            figures += [figure(f"{model}: {name}", share) for name, share in severity_shares(_rows(own)).items()]
    words = "Of deliverables that lost, how bad they were, by experts who had not judged the pair."
    return FigureGroup(
        name="severity", title="How bad the losses are", words=words, figures=tuple(figures), in_percent=True
    )


def per_hundred(evidence: Evidence) -> FigureGroup | None:
    """The same of all deliverables, lost or not; None where none that did not lose was rated."""
    rated = _rated(evidence)
    if not _tells_of_all(rated):
        return None
    words = (
        "Of 100 deliverables, lost or not, how many are so bad. Some that did not lose are rated too, and are weighted "
        "back by how they were drawn."
    )
    figures = list(_per_hundred(rated, ""))
    for model, own in _by_model(rated).items():
        figures += _per_hundred(own, f"{model}: ") if _tells_of_all(own) else ()
    return FigureGroup(name="severity-per-100", title="Per 100 deliverables", words=words, figures=tuple(figures))


def _per_hundred(rated: Sequence[Rated], whose: str) -> list[Figure]:
    rows = _rows(rated)
    return [figure(f"{whose}{kind}", per_hundred_deliverables(rows, str(kind))) for kind in UNCONDITIONAL]


def _tells_of_all(rated: Sequence[Rated]) -> bool:
    """Whether lost work and other work were both rated: without controls nothing is known of work that did not lose."""
    return len({rating.control for rating, _ in rated}) == 2


def _rated(evidence: Evidence) -> list[Rated]:
    store = evidence.workspace.store
    ratings = store.each(SeverityRating, study=evidence.study.id)
    return [(rating, store.get(Submission, rating.submission)) for rating in ratings]


def _by_model(rated: Sequence[Rated]) -> dict[str, list[Rated]]:
    """Each model's own, in the order of names; empty where there is one model only, whose figures are those of all."""
    found: dict[str, list[Rated]] = {}
    for rating, work in rated:
        if isinstance(work.author, ModelRun):
            found.setdefault(work.author.name, []).append((rating, work))
    return dict(sorted(found.items())) if len(found) > 1 else {}


def _rows(rated: Sequence[Rated]) -> SeverityRows:
    return SeverityRows(
        classes=CLASSES,
        rating=np.array([CLASSES.index(rating.severity) for rating, _ in rated], dtype=np.intp),
        task=codes([work.task for _, work in rated]),
        sample=codes([rating.submission for rating, _ in rated]),
        eligible=np.array([not rating.control for rating, _ in rated]),
        drawn=np.array([rating.sampling_rate for rating, _ in rated]),
    )
