"""Does stated confidence foretell the outcome? Acceptance first, since confidence claims right work and not victory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.calibration import Grades, Reliable, calibrate
from guildhall.domain.calibrations import ModelCalibration, ReliabilityPoint
from guildhall.errors import NotEnoughData
from guildhall.study.evidence import Evidence
from guildhall.study.rows import NOT_ASKED, Rows

ACCEPTED = "share of graders who found the work usable as it is"


def calibrations_of(evidence: Evidence) -> tuple[ModelCalibration, ...]:
    """Each model against each outcome that graders were asked for; empty where no author stated a confidence."""
    stated = evidence.rows.keep(~np.isnan(evidence.rows.confidence))
    asked = stated.keep(stated.accepted != NOT_ASKED)
    return (
        *_calibrated(asked, asked.accepted.astype(np.float64), ACCEPTED),
        *_calibrated(stated, stated.score, f"half-tie rate against the {evidence.baseline}"),
    )


def _calibrated(rows: Rows, outcome: NDArray[np.float64], against: str) -> Iterator[ModelCalibration]:
    works, first, at = rows.deliverables
    came = np.bincount(at, outcome, minlength=len(works)) / np.maximum(np.bincount(at, minlength=len(works)), 1)
    claimed, task, model = rows.confidence[first] / 100, rows.task.codes[first], rows.model.codes[first]
    order = np.argsort(rows.model.codes, kind="stable")
    ends = np.cumsum(np.bincount(rows.model.codes, minlength=len(rows.model.names)))
    of_model = dict(zip(rows.model.names, np.split(order, ends[:-1]), strict=True)) if len(ends) else {}
    for name in sorted(of_model):
        given, mine = of_model[name], model == rows.model.names.index(name)
        grades = Grades((np.cumsum(mine) - 1)[at[given]], outcome[given], rows.grader.codes[given])
        try:
            found = calibrate(claimed[mine], came[mine], task[mine], against=against, grades=grades)
        except NotEnoughData:
            continue
        yield ModelCalibration(
            model=name,
            against=against,
            brier=found.brier,
            overconfidence=found.overconfidence,
            curve=tuple(_point(one) for one in found.curve),
        )


def _point(one: Reliable) -> ReliabilityPoint:
    return ReliabilityPoint(claimed=one.claimed, came_true=one.came_true)
