"""May an automatic grader stand in for a person? Two tests, both against the same remaining people.

The first asks whether the grader is within d points of people: theta = A_HH - A_HX, where each held-out person and
the grader X are compared with the same remaining people. Averaged over who is held out, that is a sample's own
A_HH minus its A_HX, so pairing needs no loop. The second is the alternative annotator test (Calderon, Reichart and
Dror 2025), which compares the grader with each person by name.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from guildhall.analysis.agreement import cross_agreement, pair_agreement, sums_by_unit
from guildhall.analysis.clusters import cluster_variance, matched_df
from guildhall.analysis.intervals import FEWEST_CLUSTERS, difference_interval, t_quantile
from guildhall.analysis.ratings_table import Ratings
from guildhall.analysis.tables import Floats
from guildhall.domain.estimates import Estimate


class WithinPoints(NamedTuple):
    """`within` is None where the data cannot tell; `upper_bound` is one-sided."""

    gap: Estimate
    d: float
    upper_bound: float | None
    within: bool | None


class AlternativeAnnotator(NamedTuple):
    """Per person: how often the grader does at least as well, and the p-value of doing so but for epsilon."""

    epsilon: float
    advantage: dict[str, float]
    p_values: dict[str, float]
    winning_rate: float
    passes: bool


def within_points(ratings: Ratings, *, d: float, level: float = 0.95) -> WithinPoints:
    """Whether the automatic grader agrees with people to within `d` of how people agree with each other.

    Estimand: theta = A_HH - A_HX over samples with two people and a verdict, paired by sample. Resampling unit: the
    task where named, else the sample. "Within" when the one-sided bound of theta is below `d`, fixed beforehand.
    """
    human, auto = ratings.counts(human=True), ratings.counts(human=False)
    gaps = pair_agreement(human) - cross_agreement(human, auto)
    valid = ~np.isnan(gaps)
    unit = "sample" if ratings.task is None else "task"
    units = np.arange(len(gaps)) if ratings.task is None else ratings.task
    value = float(gaps[valid].mean()) if valid.any() else None
    errors = sums_by_unit((gaps[valid] - (value or 0.0)) / max(1, int(valid.sum())), units[valid])
    made = difference_interval(value or 0.0, errors, level=level, unit=unit)
    what = "A_HH - A_HX: how much less the grader agrees with people than people with each other"
    n, left_out = int(valid.sum()), int((~valid).sum())
    gap = Estimate(value=value, estimand=what, level=level, unit=unit, n_samples=n, n_excluded=left_out, **made)
    if value is None or gap.interval is None:
        return WithinPoints(gap, d, None, None)
    bound = value + t_quantile(level, matched_df(errors)) * math.sqrt(cluster_variance(errors))
    return WithinPoints(gap, d, bound, bound < d)


def alternative_annotator_test(
    ratings: Ratings, *, epsilon: float = 0.2, rate: float = 0.05
) -> AlternativeAnnotator | None:
    """The alternative annotator test; None where no person shares samples with another and with a verdict.

    For each person, on each sample also rated by others: who agrees better with those others, the person or the
    grader (its mean verdict)? The grader wins against a person when the rate at which it does at least as well exceeds
    the person's less `epsilon` (0.2 for experts) at a false discovery rate of `rate` (Benjamini-Yekutieli), and
    passes when it wins against half of them. Persons with fewer than 3 such samples are left out.
    """
    advantage: dict[str, float] = {}
    p_values: dict[str, float] = {}
    human, auto = ratings.counts(human=True), ratings.counts(human=False)
    for code, name in enumerate(ratings.raters):
        rows = np.flatnonzero(ratings.is_human & (ratings.rater == code))
        samples, own = ratings.sample[rows], ratings.halves[rows]
        others = human[samples].copy()
        others[np.arange(len(rows)), own] -= 1
        usable = (others.sum(axis=1) > 0) & (auto[samples].sum(axis=1) > 0)
        if usable.sum() < FEWEST_CLUSTERS:
            continue
        person, grader = (
            _agreement_with(others[usable], own[usable] / 2.0),
            cross_agreement(others, auto[samples])[usable],
        )
        person_leads, grader_leads = person >= grader - 1e-12, grader >= person - 1e-12
        advantage[name] = float(grader_leads.mean())
        p_values[name] = _p_value(person_leads.astype(np.float64) - grader_leads, epsilon)
    if not advantage:
        return None
    won = _benjamini_yekutieli(np.array(list(p_values.values())), rate)
    share = float(won.mean())
    return AlternativeAnnotator(epsilon, advantage, p_values, share, share >= 0.5)


def _agreement_with(others: np.ndarray[tuple[int, ...], np.dtype[np.int64]], score: Floats) -> Floats:
    apart = np.abs(np.array([0.0, 0.5, 1.0]) - score[:, None])
    values: Floats = 1.0 - (others * apart).sum(axis=1) / others.sum(axis=1)
    return values


def _p_value(leads: Floats, epsilon: float) -> float:
    """One-sided t test of mean(leads) < epsilon."""
    n, spread = len(leads), float(leads.std(ddof=1))
    if spread == 0.0:
        return 0.0 if leads.mean() < epsilon else 1.0
    return float(special.stdtr(n - 1, (float(leads.mean()) - epsilon) / (spread / math.sqrt(n))))


def _benjamini_yekutieli(p_values: Floats, rate: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    n = len(p_values)
    order = np.argsort(p_values)
    limits = rate * np.arange(1, n + 1) / (n * float((1.0 / np.arange(1, n + 1)).sum()))
    below = np.flatnonzero(p_values[order] <= limits)
    rejected = np.zeros(n, dtype=np.bool_)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected
