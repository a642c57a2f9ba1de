"""Could graders tell who made what?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.blinding import GuessRows, blinding_index
from guildhall.domain.findings import FigureGroup
from guildhall.study.evidence import Evidence, codes, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    asked = [row for row in evidence.rows if row.guess is not None]
    if not asked:
        return None
    figures = []
    for model in sorted({row.model for row in asked}):
        mine = [row for row in asked if row.model == model]
        index = blinding_index(
            GuessRows(
                guess=np.array([row.guess for row in mine], dtype=np.int8),
                preferred=np.array([row.score > 0.5 for row in mine]),
                grader=codes([row.grader for row in mine]),
            )
        )
        figures += [
            figure(f"{model}: {where}", measured) for where, measured in index.items() if measured.value is not None
        ]
    words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
    return FigureGroup(name="blinding", title="Did the blind hold?", words=words, figures=tuple(figures))
