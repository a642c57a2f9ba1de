"""How bad are the losses?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import select

from guildhall.analysis.shares import SeverityRows, per_hundred_deliverables, severity_shares
from guildhall.domain.findings import Figure, FigureGroup
from guildhall.domain.judgments import Severity, SeverityRating
from guildhall.domain.submissions import Submission
from guildhall.store.fields import JsonText, read_fields
from guildhall.store.shelves import shelf_of
from guildhall.study.evidence import Evidence, codes, figure
from guildhall.study.works import author_name

UNCONDITIONAL = (Severity.CATASTROPHIC, Severity.BAD)
"""What is also told per 100 deliverables, lost or not."""
EXPERT = "expert"
CLASSES = tuple(str(kind) for kind in Severity)


class Rated(NamedTuple):
    """A rating, the task of the work it rates, and the work's author where that is a model."""

    rating: SeverityRating
    task: str
    model: str | None


def chapter(evidence: Evidence) -> FigureGroup | None:
    """Shares of ratings among deliverables that lost, clustered by task: of all, and of each model where several."""
    rated = _rated(evidence)
    if not any(not one.rating.control for one in rated):
        return None
    figures = [figure(name, share) for name, share in severity_shares(_rows(rated)).items()]
    for model, own in _by_model(rated).items():
        if any(not one.rating.control for one in own):
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
    return len({one.rating.control for one in rated}) == 2


def _rated(evidence: Evidence) -> list[Rated]:
    store, study = evidence.workspace.store, evidence.study.id
    ratings, works = shelf_of(SeverityRating).table, shelf_of(Submission).table
    rated = works.c.key.in_(select(ratings.c.submission).where(ratings.c.study == study))
    known: dict[str, tuple[str, str | None]] = {}
    for chunk in read_fields(
        store,
        Submission,
        {"author": (JsonText, "author")},
        columns=("key", "task"),
        narrowed=lambda query: query.where(rated),
    ):
        names = [author_name(author) for author in chunk["author"]]
        models = (None if name == EXPERT else name for name in names)
        known.update(zip(chunk["key"], zip(chunk["task"], models, strict=True), strict=True))
    return [Rated(rating, *known[rating.submission]) for rating in store.each(SeverityRating, study=study)]


def _by_model(rated: Sequence[Rated]) -> dict[str, list[Rated]]:
    """Each model's own, in the order of names; empty where there is one model only, whose figures are those of all."""
    found: dict[str, list[Rated]] = {}
    for one in rated:
        if one.model is not None:
            found.setdefault(one.model, []).append(one)
    return dict(sorted(found.items())) if len(found) > 1 else {}


def _rows(rated: Sequence[Rated]) -> SeverityRows:
    ratings = [one.rating for one in rated]
    return SeverityRows(
        classes=CLASSES,
        rating=np.array([CLASSES.index(rating.severity) for rating in ratings], dtype=np.intp),
        task=codes([one.task for one in rated]),
        sample=codes([rating.submission for rating in ratings]),
        eligible=np.array([not rating.control for rating in ratings]),
        drawn=np.array([rating.sampling_rate for rating in ratings]),
        rater=codes([rating.grader.key for rating in ratings]),
    )
