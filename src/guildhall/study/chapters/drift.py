"""Do graders of a later wave judge as those before them did?"""

from __future__ import annotations

from guildhall.domain.findings import Figure, FigureGroup
from guildhall.study.evidence import Evidence


def chapter(evidence: Evidence) -> FigureGroup | None:
    if evidence.drift is None:
        return None
    drift = evidence.drift
    figures = [Figure(name="all anchors", estimate=drift.estimate)]
    figures += [Figure(name=name, estimate=estimate) for name, estimate in drift.by_model if len(drift.by_model) > 1]
    words = (
        "Anchors are pairs of the earlier wave that were judged again, unseen, by graders who had not met them. "
        f"Each figure is the later half-tie rate less the earlier one on the same work. {drift.words}"
    )
    return FigureGroup(name="drift", title="Drift between waves", words=words, figures=tuple(figures))
