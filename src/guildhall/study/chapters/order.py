"""Does it matter which side stood first?"""

from __future__ import annotations

from guildhall.analysis.shares import clustered_share
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, figure


def chapter(evidence: Evidence) -> FigureGroup:
    rows = evidence.rows
    first, won = rows.model_place == 0, rows.score > 0.5
    figures = [
        figure(
            name,
            clustered_share(
                won[which],
                rows.task.codes[which],
                second=rows.grader.codes[which],
                what=f"share of wins when the model's work was {name}",
            ),
        )
        for name, which in (("at A", first), ("elsewhere", ~first))
        if which.any()
    ]
    words = "Orders are balanced by design, so a difference here is a habit of the graders and not of the result."
    return FigureGroup(name="order", title="Order of the sides", words=words, figures=tuple(figures), in_percent=True)
