"""Does stated confidence foretell the outcome?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.calibration import calibrate
from guildhall.domain.findings import FigureGroup
from guildhall.errors import NotEnoughData
from guildhall.study.evidence import Evidence, codes, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    stated = [row for row in evidence.rows if row.confidence is not None]
    if not stated:
        return None
    figures = []
    for model in sorted({row.model for row in stated}):
        mine = [row for row in stated if row.model == model]
        try:
            found = calibrate(
                np.array([(row.confidence or 0.0) / 100 for row in mine]),
                np.array([row.score for row in mine]),
                codes([row.task for row in mine]),
                against="half-tie win rate against the baseline",
            )
        except NotEnoughData:
            continue
        figures += [
            figure(f"{model}: Brier score", found.brier),
            figure(f"{model}: over-confidence", found.overconfidence),
        ]
    words = "Stated confidence claims that the work is right, not that it beats an expert: read it with that in mind."
    return (
        FigureGroup(name="calibration", title="Stated confidence against outcomes", words=words, figures=tuple(figures))
        if figures
        else None
    )
