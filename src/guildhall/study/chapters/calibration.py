"""Does stated confidence foretell the outcome?"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.calibration import calibrate
from guildhall.domain.findings import FigureGroup
from guildhall.errors import NotEnoughData
from guildhall.study.evidence import Evidence, figure


def chapter(evidence: Evidence) -> FigureGroup | None:
    figures = []
    for model, mine in evidence.rows.keep(~np.isnan(evidence.rows.confidence)).by_model():
        try:
            found = calibrate(
                mine.confidence / 100, mine.score, mine.task.codes, against="half-tie win rate against the baseline"
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
