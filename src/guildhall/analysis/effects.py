"""What sways graders besides quality: place, length, kinship, severity, time. Each is an estimate in score points.

A score is the author's side of a comparison: 1 won, 0.5 tied, 0 lost. Effects compare like with like: within
the same author (and grader, where both vary), clustered by task, since judgments of one task go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.analysis.regress import Codes, Floats, clustered_slope, slope_estimate
from guildhall.domain.estimates import Estimate
from guildhall.errors import NothingJudged

_AGAINST_OTHERS = "difference from the other graders on the same samples, t over tasks"


@dataclass(frozen=True)
class JudgedRows:
    """Judgments as parallel arrays; the codes' meaning is the caller's. Columns a question needs may be absent."""

    task: Codes
    model: Codes
    grader: Codes
    sample: Codes
    score: Floats
    shown_first: NDArray[np.bool_] | None = None
    log_length_ratio: Floats | None = None
    kin: NDArray[np.bool_] | None = None
    days: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.score):
            raise NothingJudged("grader effects")


def position_effect(rows: JudgedRows, *, level: float = 0.95) -> Estimate:
    """Score when shown first minus score when shown second, within author."""
    first = None if rows.shown_first is None else rows.shown_first.astype(float)
    return _effect(rows, first, "score shown first minus shown second", (rows.model,), level)


def length_effect(rows: JudgedRows, *, level: float = 0.95) -> Estimate:
    """Score points per doubling of one's length against the other side, within author."""
    doublings = None if rows.log_length_ratio is None else rows.log_length_ratio / np.log(2)
    return _effect(rows, doublings, "score per doubling of length against the other side", (rows.model,), level)


def kin_effect(rows: JudgedRows, *, what: str = "self-preference", level: float = 0.95) -> Estimate:
    """What graders add for kin, given how good the author is and how kind the grader.

    With `kin` meaning the same model it is self-preference, with the same maker family preference.
    """
    kin = None if rows.kin is None else rows.kin.astype(float)
    return _effect(rows, kin, what, (rows.model, rows.grader), level)


def drift_effect(rows: JudgedRows, *, per_days: float = 30.0, level: float = 0.95) -> Estimate:
    """Change of a grader's scores per `per_days`, within author and grader."""
    time = None if rows.days is None else rows.days / per_days
    return _effect(rows, time, f"change of score per {per_days:g} days", (rows.model, rows.grader), level)


def _effect(rows: JudgedRows, covariate: Floats | None, what: str, absorb: tuple[Codes, ...], level: float) -> Estimate:
    within = "author" if len(absorb) == 1 else "author and grader"
    method = f"least squares within {within}, clustered by task (jackknife errors)"
    if covariate is None:
        why = "the judgments do not say"
        return Estimate(
            value=None,
            estimand=what,
            method=method,
            level=level,
            n_judgments=len(rows.score),
            why_no_interval=why,
        )
    slope = clustered_slope(rows.score, covariate, absorb=absorb, cluster=rows.task)
    return slope_estimate(slope, what=what, n_judgments=len(rows.score), level=level, method=method)


def grader_severities(rows: JudgedRows, names: Mapping[int, str], *, level: float = 0.95) -> dict[str, Estimate]:
    """Per grader how far its scores lie from the other graders' on the same samples; positive is kind.

    Samples nobody else judged say nothing and are left out and counted. Interval: t over tasks.
    """
    _, sample = np.unique(rows.sample, return_inverse=True)
    total, count = np.bincount(sample, rows.score)[sample], np.bincount(sample)[sample]
    mine = _sums_of_same_grader(sample, rows.grader, rows.score)
    others = count - mine.count
    found = {}
    for code, name in names.items():
        judged = rows.grader == code
        shared = judged & (others > 0)
        if not shared.any():
            found[name] = _never_shared(name, int(judged.sum()), level)
            continue
        gap = rows.score[shared] - (total[shared] - mine.total[shared]) / others[shared]
        value, error, n_tasks = mean_of_cluster_means(gap, rows.task[shared])
        found[name] = t_estimate(
            value,
            error,
            n_clusters=n_tasks,
            estimand=f"severity of {name}",
            method=_AGAINST_OTHERS,
            level=level,
            n_judgments=len(gap),
            n_excluded=int(judged.sum() - shared.sum()),
        )
    return found


def _never_shared(name: str, n_judged: int, level: float) -> Estimate:
    why = "no sample was judged by anybody else"
    return Estimate(
        value=None,
        estimand=f"severity of {name}",
        method=_AGAINST_OTHERS,
        level=level,
        n_excluded=n_judged,
        why_no_interval=why,
    )


@dataclass(frozen=True)
class _Sums:
    total: Floats
    count: Codes


def _sums_of_same_grader(sample: Codes, grader: Codes, score: Floats) -> _Sums:
    _, cell = np.unique(np.column_stack([sample, grader]), axis=0, return_inverse=True)
    cell = cell.ravel()
    return _Sums(np.asarray(np.bincount(cell, score)[cell], dtype=np.float64), np.bincount(cell)[cell])
