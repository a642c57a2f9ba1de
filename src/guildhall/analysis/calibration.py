"""Stated confidence against what happened: Brier score, over-confidence, and a reliability curve. And a judge's
verdicts against people's, and against what should not matter.

Confidence claims that the work is right, so outcomes are acceptance first and winning second; the caller says which.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import crossed
from guildhall.analysis.effects import JudgedRows, clustered_slope, length_effect, position_effect, slope_estimate
from guildhall.analysis.intervals import mean_of_rows, share_interval, t_estimate
from guildhall.analysis.pairs import Pairs
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


def what_sways(
    judge: Pairs, people: Pairs | None, *, words: Mapping[str, int], kin: Collection[str], level: float = 0.95
) -> dict[str, Estimate]:
    """What place, length (`words` of each work) and being of its own maker's models (`kin`) do to a judge's scores."""
    counts = np.array([words.get(name, -1) for name in judge.submission.names], dtype=np.float64)
    own, other = counts[judge.submission.codes], counts[judge.base]
    known = bool(len(own)) and min(own.min(), other.min()) >= 0
    rows = JudgedRows(
        task=judge.task.codes.astype(np.intp),
        model=judge.model.codes.astype(np.intp),
        grader=judge.grader.codes.astype(np.intp),
        sample=judge.submission.codes.astype(np.intp),
        score=judge.score,
        shown_first=judge.model_place == 0,
        log_length_ratio=np.log((own + 1) / (other + 1)) if known else None,
    )
    found = {"score at A less score elsewhere": position_effect(rows, level=level)}
    if known:
        found["score for each doubling of length"] = length_effect(rows, level=level)
    theirs, said = ({} if people is None else mean_scores(people)), mean_scores(judge)
    if both := sorted(theirs.keys() & said.keys()):
        gap = np.array([said[work][0] - theirs[work][0] for work in both])
        task = np.unique([said[work][2] for work in both], return_inverse=True)[1]
        slope = clustered_slope(gap, np.array([float(said[work][1] in kin) for work in both]), absorb=(), task=task)
        found["kinder than people to its own maker's models"] = slope_estimate(
            slope,
            what="judge minus people, on its own maker's work less on others'",
            n_judgments=len(judge),
            level=level,
            method="difference of differences, least squares clustered by task (jackknife errors)",
        )
    return found


def mean_scores(pairs: Pairs) -> dict[str, tuple[float, str, str]]:
    """Each work's mean score, with its model and its task."""
    code, first, at = pairs.deliverables
    means = np.bincount(at, pairs.score) / np.bincount(at)
    return {
        pairs.submission.names[one]: (mean, pairs.model.names[model], pairs.task.names[task])
        for one, mean, model, task in zip(
            code.tolist(),
            means.tolist(),
            pairs.model.codes[first].tolist(),
            pairs.task.codes[first].tolist(),
            strict=True,
        )
    }


CALLS = {"worse": (-1.0, 1 / 3), "neither worse nor better": (1 / 3, 2 / 3), "better": (2 / 3, 2.0)}


def what_verdicts_mean(judge: Pairs, people: Pairs, *, level: float = 0.95) -> dict[str, Estimate]:
    """People's mean score of the works that a judge's mean verdict calls worse, better, or neither."""
    said, found = mean_scores(judge), {}
    f = np.array([said[name][0] if name in said else np.nan for name in people.submission.names])
    f = f[people.submission.codes]
    for word, (low, high) in CALLS.items():
        at = (f >= low) & (f < high)
        if at.any():
            value, spread = mean_of_rows(people.score[at], people.task.codes[at], people.grader.codes[at])
            n = int(at.sum())
            made = share_interval(value, spread, n_judgments=n, level=level)
            what = f"people's half-tie score of work that it calls {word}"
            one = Estimate(value=value, estimand=what, level=level, n_tasks=spread.n_tasks, n_judgments=n, **made)
            found[f"people's score where it says {word}"] = one
    return found
