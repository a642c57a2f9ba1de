"""Could graders tell who made what?"""

from __future__ import annotations

from guildhall.analysis.blinding import GuessRows, blinding_index
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, figure
from guildhall.study.rows import NOT_ASKED


def chapter(evidence: Evidence) -> FigureGroup | None:
    """The index on pairs of a person's and a model's work; with a model as baseline there is no such pair."""
    if evidence.baseline != "expert":
        return None
    figures = []
    for model, mine in evidence.rows.keep(evidence.rows.guess != NOT_ASKED).by_model():
        index = blinding_index(GuessRows(mine.guess, mine.score > 0.5, mine.grader.codes))
        figures += [
            figure(f"{model}: {where}", measured) for where, measured in index.items() if measured.value is not None
        ]
    if not figures:
        return None
    words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
    return FigureGroup(name="blinding", title="Did the blind hold?", words=words, figures=tuple(figures))
