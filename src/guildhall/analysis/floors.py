"""What an automatic grader must beat: the best constant verdict, and chance at telling better samples from worse.

On public figures "always the human" agrees with people more often than people agree with each other. So agreement is
printed beside the best constant verdict's on the same samples, and beside discrimination within a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.agreement import cross_agreement, population_interval, sums_by_unit
from guildhall.analysis.clusters import cluster_variance, matched_df
from guildhall.analysis.intervals import difference_interval, share_interval
from guildhall.analysis.ratings_table import Counts, Ratings
from guildhall.analysis.tables import Floats
from guildhall.domain.estimates import Estimate

VERDICTS = ("always-human", "always-tie", "always-model")
"""The constant verdicts 0, 0.5 and 1, from the model's side."""


class ConstantVerdict(NamedTuple):
    """The constant that agrees best with people, and whether the grader's agreement is surely above it."""

    verdict: str
    agreement: Estimate
    margin: Estimate
    beaten: bool


def best_constant(ratings: Ratings, *, level: float = 0.95) -> ConstantVerdict | None:
    """The best constant verdict on the samples that both people and an automatic grader rated; None without any.

    `margin`: estimand, the grader's agreement with people minus the constant's, paired by sample; resampling unit,
    the task where named, else the sample. `beaten` when the whole interval of the margin is above zero.
    """
    human, auto = ratings.counts(human=True), ratings.counts(human=False)
    of_grader = cross_agreement(human, auto)
    valid = ~np.isnan(of_grader)
    if not valid.any():
        return None
    constants = [cross_agreement(human[valid], _always(half, int(valid.sum()))) for half in range(3)]
    best = int(np.argmax([values.mean() for values in constants]))
    units, unit = (ratings.task, "task") if ratings.task is not None else (np.arange(ratings.n_samples), "sample")
    units, n_ratings = units[valid], int(human[valid].sum())
    made = population_interval(constants[best], units, level=level, unit=unit, n_ratings=n_ratings)
    agreement = Estimate(
        value=float(constants[best].mean()),
        estimand=f"agreement of {VERDICTS[best]} with people, on the samples the grader judged",
        level=level,
        unit=unit,
        n_samples=int(valid.sum()),
        n_judgments=n_ratings,
        n_excluded=int((~valid).sum()),
        **made,
    )
    differences = of_grader[valid] - constants[best]
    value = float(differences.mean())
    errors = sums_by_unit((differences - value) / len(differences), units)
    apart = difference_interval(value, errors, level=level, unit=unit)
    what = f"agreement of the grader minus {VERDICTS[best]}, paired by sample"
    margin = replace(agreement, value=value, estimand=what, **apart)
    return ConstantVerdict(VERDICTS[best], agreement, margin, bool(margin.interval and margin.interval[0] > 0))


def discrimination_within_model(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """AUC of the automatic verdict for people's mean score, over pairs of samples of the same model.

    Estimand: of two samples of one model that people score differently, how often the grader's mean verdict orders
    them the same way, ties counting half; 0.5 is chance. Resampling unit: the task where named, else the sample.
    """
    human, auto = ratings.counts(human=True), ratings.counts(human=False)
    valid = (human.sum(axis=1) > 0) & (auto.sum(axis=1) > 0)
    unit = "sample" if ratings.task is None else "task"
    unknown = Estimate(
        value=None,
        estimand="AUC of the automatic verdict for people's score, within model",
        method="none",
        level=level,
        unit=unit,
        n_samples=int(valid.sum()),
        n_excluded=int((~valid).sum()),
        why_no_interval="no two samples of a model differ in people's score",
    )
    people, verdicts = _means(human[valid]), _means(auto[valid])
    concordant, comparable = np.zeros(len(people)), np.zeros(len(people))
    for model in np.unique(ratings.model[valid]):
        rows = np.flatnonzero(ratings.model[valid] == model)
        concordant[rows], comparable[rows] = _concordance(people[rows], verdicts[rows])
    if not comparable.sum():
        return unknown
    value = float(concordant.sum() / comparable.sum())
    units = np.arange(len(people)) if ratings.task is None else ratings.task[valid]
    contributions = sums_by_unit(2.0 * (concordant - value * comparable) / comparable.sum(), units)
    made = share_interval(
        value,
        cluster_variance(contributions),
        n_clusters=len(contributions),
        n_judgments=len(people),
        level=level,
        df=matched_df(contributions),
        unit=unit,
    )
    return replace(unknown, value=value, **made)


def _concordance(people: Floats, verdicts: Floats) -> tuple[Floats, Floats]:
    """Per sample: with how many others it is ordered alike (ties half), and with how many it can be compared."""
    levels, person_of = np.unique(people, return_inverse=True)
    marks, verdict_of = np.unique(verdicts, return_inverse=True)
    table = np.bincount(person_of * len(marks) + verdict_of, minlength=len(levels) * len(marks)).reshape(
        len(levels), -1
    )
    below = np.zeros((len(levels) + 1, len(marks) + 1))
    below[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    p, v, top = person_of, verdict_of, len(marks)
    low_low = below[p, v] + 0.5 * (below[p, v + 1] - below[p, v])
    above = below[-1, :] - below[p + 1]
    rows = np.arange(len(p))
    high_high = above[rows, top] - 0.5 * (above[rows, v] + above[rows, v + 1])
    comparable = len(people) - (below[p + 1, top] - below[p, top])
    return low_low + high_high, comparable


def _always(half: int, n: int) -> Counts:
    verdict: NDArray[np.int64] = np.zeros((n, 3), dtype=np.int64)
    verdict[:, half] = 1
    return verdict


def _means(counts: Counts) -> Floats:
    means: Floats = np.round(counts @ np.array([0.0, 0.5, 1.0]) / counts.sum(axis=1), 12)
    return means
