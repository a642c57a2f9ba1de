"""Stated confidence against what happened: Brier score, over-confidence, and a reliability curve.

Confidence claims that the work is right, so outcomes are acceptance first and winning second; the caller says which.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import mean_of_rows, share_interval, t_estimate
from guildhall.analysis.spreads import Spread
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingJudged

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Reliable:
    """One bin of the reliability curve: what was claimed on average, and what came true."""

    low: float
    high: float
    claimed: float
    came_true: Estimate


@dataclass(frozen=True)
class SingleGrades:
    """The single grades of which a deliverable's outcome is the mean: the deliverable's row, what, and by whom."""

    row: Codes
    outcome: Floats
    grader: Codes


@dataclass(frozen=True)
class Calibration:
    against: str
    brier: Estimate
    overconfidence: Estimate
    curve: tuple[Reliable, ...]


def calibrate(
    confidence: Floats,
    outcome: Floats,
    task: Codes,
    *,
    against: str,
    grades: SingleGrades | None = None,
    bins: int = 10,
    level: float = 0.95,
) -> Calibration:
    """Confidence in 0..1 against outcomes in 0..1, clustered by task.

    Brier: the mean squared gap. Over-confidence: mean confidence minus mean outcome. Rows are deliverables. `grades`
    tell who gave which outcome: graders who met several tasks are a second cluster.
    """
    if not len(confidence):
        raise NothingJudged("calibration")
    for name, values in (("confidence", confidence), ("outcome", outcome)):
        if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
            raise ImpossibleValue(name, "outside 0 to 1", allowed="between 0 and 1 (divide percents by 100)")
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gap, ones, rows = confidence - outcome, np.ones(len(outcome)), _Rows(outcome, task, grades)
    curve = tuple(
        Reliable(
            low=one / bins,
            high=(one + 1) / bins,
            claimed=float(confidence[place == one].mean()),
            came_true=_rate(rows.mean(outcome, ones, place == one), int((place == one).sum()), against, level),
        )
        for one in np.unique(place).tolist()
    )
    brier, over = rows.mean(gap**2, -2 * gap), rows.mean(gap, -ones)
    return Calibration(
        against=against,
        brier=_mean(brier, f"Brier score against {against}", level, len(gap)),
        overconfidence=_mean(over, f"mean confidence minus {against}", level, len(gap)),
        curve=curve,
    )


@dataclass(frozen=True)
class _Rows:
    """Deliverables, and where known the grades behind their outcomes."""

    outcome: Floats
    task: Codes
    grades: SingleGrades | None

    def mean(self, values: Floats, slope: Floats, which: NDArray[np.bool_] | None = None) -> tuple[float, Spread]:
        """The mean of a figure of each deliverable; `slope` is how fast the figure changes with the outcome."""
        which = np.ones(len(values), dtype=np.bool_) if which is None else which
        if self.grades is None:
            return mean_of_rows(values[which], self.task[which])
        value, row = float(values[which].mean()), self.grades.row
        shares = np.bincount(row, minlength=len(values)) * int(which.sum())
        # A deliverable's own error is spread evenly over its grades; each adds how far it moved the outcome.
        moved = (values - value)[row] + slope[row] * (self.grades.outcome - self.outcome[row])
        mine = which[row]
        errors = (moved / shares[row])[mine]
        weight = (1.0 / shares[row])[mine]
        return value, crossed(errors, self.task[row][mine], self.grades.grader[mine], weight=weight)


def _mean(mean: tuple[float, Spread], what: str, level: float, n: int) -> Estimate:
    method = "mean over deliverables, t over tasks"
    return t_estimate(*mean, estimand=what, method=method, level=level, n_samples=n)


def _rate(mean: tuple[float, Spread], n: int, against: str, level: float) -> Estimate:
    value, spread = mean
    made = share_interval(value, spread, n_judgments=n, level=level)
    return Estimate(
        value=value, estimand=f"rate of {against}", level=level, n_tasks=spread.n_tasks, n_samples=n, **made
    )
