"""Stated confidence against what happened: Brier score, over-confidence, and a reliability curve.

Confidence claims that the work is right, so outcomes are acceptance first and winning second; the caller says which.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import share_interval
from guildhall.analysis.measured import Measured
from guildhall.analysis.t_intervals import clustered_mean, t_estimate
from guildhall.errors import ImpossibleValue, NothingJudged

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Reliable:
    """One bin of the reliability curve: what was claimed on average, and what came true."""

    low: float
    high: float
    claimed: float
    came_true: Measured


@dataclass(frozen=True)
class Calibration:
    against: str
    brier: Measured
    overconfidence: Measured
    curve: tuple[Reliable, ...]


def calibrate(
    confidence: Floats, outcome: Floats, task: Codes, *, against: str, bins: int = 10, level: float = 0.95
) -> Calibration:
    """Confidence in 0..1 against outcomes in 0..1, clustered by task.

    Brier: the mean squared gap. Over-confidence: mean confidence minus mean outcome. Rows are deliverables.
    """
    if not len(confidence):
        raise NothingJudged("calibration")
    for name, values in (("confidence", confidence), ("outcome", outcome)):
        if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
            raise ImpossibleValue(name, "outside 0 to 1", allowed="between 0 and 1 (divide percents by 100)")
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    curve = tuple(
        Reliable(
            low=one / bins,
            high=(one + 1) / bins,
            claimed=float(confidence[place == one].mean()),
            came_true=_rate(outcome[place == one], task[place == one], against, level),
        )
        for one in np.unique(place).tolist()
    )
    return Calibration(
        against=against,
        brier=_mean((confidence - outcome) ** 2, task, f"Brier score against {against}", level),
        overconfidence=_mean(confidence - outcome, task, f"mean confidence minus {against}", level),
        curve=curve,
    )


def _mean(values: Floats, task: Codes, what: str, level: float) -> Measured:
    mean = clustered_mean(values, task)
    return t_estimate(
        mean.value,
        mean.error,
        n_clusters=mean.n_clusters,
        df=mean.df,
        estimand=what,
        method="mean over deliverables, t over tasks",
        level=level,
        n_samples=len(values),
    )


def _rate(outcome: Floats, task: Codes, against: str, level: float) -> Measured:
    mean = clustered_mean(outcome, task)
    found = share_interval(
        mean.value,
        mean.error**2,
        n_clusters=mean.n_clusters,
        n_judgments=len(outcome),
        level=level,
        df=mean.df,
    )
    return Measured(
        mean.value,
        found.interval,
        f"rate of {against}",
        found.method,
        level,
        n_tasks=mean.n_clusters,
        n_samples=len(outcome),
        why_no_interval=found.why_no_interval,
    )
