"""Everything to be said about agreement in one file of ratings: agreement, the floors below it, and whether an
automatic grader may stand in for a person.

May an automatic grader stand in for a person? Two tests, both against the same remaining people. The first asks
whether the grader is within d points of people: theta = A_HH - A_HX, where each held-out person and the grader X are
compared with the same remaining people. Averaged over who is held out, that is a sample's own A_HH minus its A_HX, so
pairing needs no loop. The second is the alternative annotator test (Calderon, Reichart and Dror 2025), which compares
the grader with each person by name.

What an automatic grader must beat: the best constant verdict, and chance at telling better samples from worse. On
public figures "always the human" agrees with people more often than people agree with each other. So agreement is
printed beside the best constant verdict's on the same samples, and beside discrimination within a model.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from guildhall.analysis.agreement import (
    Agreement,
    AgreementInterval,
    agreement,
    agreement_by_model,
    cross_agreement,
    cross_errors,
    mean_over_models,
    pair_agreement,
    pair_errors,
    ratings_by,
    spread_of,
    units_of,
)
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate, labels_of
from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import FEWEST_CLUSTERS, mean_interval, mean_of_rows, reach_of, share_interval
from guildhall.analysis.ratings_table import Counts, RatingsTable
from guildhall.analysis.spreads import NO_SPREAD
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate
from guildhall.errors import UnknownName


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


def within_points(ratings: RatingsTable, *, d: float, level: float = 0.95) -> WithinPoints:
    """Whether the automatic grader agrees with people to within `d` of how people agree with each other.

    Estimand: theta = A_HH - A_HX over samples with two people and a verdict, paired by sample. Resampling unit: the
    task where named, else the sample. "Within" when the one-sided bound of theta is below `d`, fixed beforehand.
    """
    human, auto = ratings.counts(human=True), ratings.counts(human=False)
    gaps = pair_agreement(human) - cross_agreement(human, auto)
    valid = ~np.isnan(gaps)
    units, unit = units_of(ratings)
    what = "A_HH - A_HX: how much less the grader agrees with people than people with each other"
    n, left_out = int(valid.sum()), int((~valid).sum())
    if not n:
        why = "no sample was judged by two people and by the grader"
        none = Estimate(
            value=None,
            estimand=what,
            method="none",
            level=level,
            unit=unit,
            n_samples=0,
            n_excluded=left_out,
            why_no_interval=why,
        )
        return WithinPoints(none, d, None, None)
    value = float(gaps[valid].mean())
    people = ratings_by(ratings, human=True, which=valid)
    among, beside = pair_errors(people, human), cross_errors(people, human, auto)
    weight = among.weight / n
    gap_of_rows = among.values - beside.values - value
    spread = crossed(
        weight * gap_of_rows,
        units[people.sample],
        people.rater,
        weight=weight,
        order=2,
        through_graders=weight * (gap_of_rows + among.values),
        share=float(people.half.mean()) / 2.0,
    )
    made = mean_interval(value, spread, level=level, unit=unit, words=", paired")
    gap = Estimate(value=value, estimand=what, level=level, unit=unit, n_samples=n, n_excluded=left_out, **made)
    if gap.interval is None:
        return WithinPoints(gap, d, None, None)
    bound = value + reach_of(spread, level=level, one_sided=True)
    return WithinPoints(gap, d, bound, bound < d)


def alternative_annotator_test(
    ratings: RatingsTable, *, epsilon: float = 0.2, rate: float = 0.05
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
        leads = person_leads.astype(np.float64) - grader_leads
        p_values[name] = _p_value(leads, units_of(ratings)[0][samples[usable]], epsilon)
    if not advantage:
        return None
    won = _benjamini_yekutieli(np.array(list(p_values.values())), rate)
    share = float(won.mean())
    return AlternativeAnnotator(epsilon, advantage, p_values, share, share >= 0.5)


def _agreement_with(others: np.ndarray[tuple[int, ...], np.dtype[np.int64]], score: Floats) -> Floats:
    apart = np.abs(np.array([0.0, 0.5, 1.0]) - score[:, None])
    values: Floats = 1.0 - (others * apart).sum(axis=1) / others.sum(axis=1)
    return values


def _p_value(leads: Floats, units: Codes, epsilon: float) -> float:
    """One-sided t test of mean(leads) < epsilon; the samples of one task go together."""
    value, spread = mean_of_rows(leads, units)
    if not spread.variance > NO_SPREAD:
        return 0.0 if value < epsilon else 1.0
    return float(special.stdtr(spread.df, (value - epsilon) / math.sqrt(spread.variance)))


def _benjamini_yekutieli(p_values: Floats, rate: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    n = len(p_values)
    order = np.argsort(p_values)
    limits = rate * np.arange(1, n + 1) / (n * float((1.0 / np.arange(1, n + 1)).sum()))
    below = np.flatnonzero(p_values[order] <= limits)
    rejected = np.zeros(n, dtype=np.bool_)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected


VERDICTS = ("always-human", "always-tie", "always-model")
"""The constant verdicts 0, 0.5 and 1, from the model's side."""


class ConstantVerdict(NamedTuple):
    """The constant that agrees best with people, and whether the grader's agreement is surely above it."""

    verdict: str
    agreement: Estimate
    margin: Estimate
    beaten: bool


def best_constant(ratings: RatingsTable, *, level: float = 0.95) -> ConstantVerdict | None:
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
    (units, unit), n_ratings = units_of(ratings), int(human[valid].sum())
    people, floor = ratings_by(ratings, human=True, which=valid), float(constants[best].mean())
    beside, own = (cross_errors(people, human, one) for one in (_always(best, len(human)), auto))
    made = share_interval(floor, spread_of(people, units, beside, floor), n_judgments=n_ratings, level=level, unit=unit)
    agreement = Estimate(
        value=floor,
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
    gained = own._replace(values=own.values - beside.values)
    apart = mean_interval(value, spread_of(people, units, gained, value), level=level, unit=unit, words=", paired")
    what = f"agreement of the grader minus {VERDICTS[best]}, paired by sample"
    margin = replace(agreement, value=value, estimand=what, **apart)
    return ConstantVerdict(VERDICTS[best], agreement, margin, bool(margin.interval and margin.interval[0] > 0))


def discrimination_within_model(ratings: RatingsTable, *, level: float = 0.95) -> Estimate:
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
    of_sample = np.zeros(len(human))
    of_sample[valid] = 2.0 * (concordant - value * comparable) / comparable.sum()
    rated = ratings_by(ratings, human=True, which=valid)
    weight = 1.0 / human[rated.sample].sum(axis=1)
    spread = crossed(of_sample[rated.sample] * weight, units_of(ratings)[0][rated.sample], rated.rater, weight=weight)
    made = share_interval(value, spread, n_judgments=len(people), level=level, unit=unit)
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


NAMED: dict[str, AgreementInterval] = {"population": "population", "fixed-samples": "fixed-samples"}


class AgreementReport(NamedTuple):
    """Agreement overall and by model, beside the floors an automatic grader has to beat."""

    overall: Agreement
    by_model: dict[str, Agreement]
    mean_over_models: dict[str, float | None]
    constant: ConstantVerdict | None
    discrimination: Estimate
    chance_corrected: dict[str, Estimate]
    within: WithinPoints | None
    alternative: AlternativeAnnotator | None
    n_ratings_excluded: int


def agreement_report(
    ratings: RatingsTable,
    *,
    interval: AgreementInterval = "population",
    within: float | None = None,
    epsilon: float = 0.2,
    level: float = 0.95,
) -> AgreementReport:
    """All agreement figures; `within` is the d of the paired test, fixed beforehand, and None leaves it out."""
    by_model = agreement_by_model(ratings, interval=interval, level=level)
    labels, unit = labels_of(ratings)
    return AgreementReport(
        overall=agreement(ratings, interval=interval, level=level),
        by_model=by_model,
        mean_over_models=mean_over_models(by_model),
        constant=best_constant(ratings, level=level),
        discrimination=discrimination_within_model(ratings, level=level),
        chance_corrected={
            "alpha_nominal": alpha_estimate(labels, unit=unit, metric="nominal", level=level),
            "alpha_ordinal": alpha_estimate(labels, unit=unit, metric="ordinal", level=level),
            "alpha_interval": alpha_estimate(labels, unit=unit, metric="interval", level=level),
            "gwet_ac1": gwet_estimate(labels, unit=unit, metric="nominal", level=level),
            "gwet_ac2": gwet_estimate(labels, unit=unit, metric="ordinal", level=level),
        },
        within=within_points(ratings, d=within, level=level) if within is not None else None,
        alternative=alternative_annotator_test(ratings, epsilon=epsilon),
        n_ratings_excluded=ratings.n_excluded,
    )


def named_interval(name: str) -> AgreementInterval:
    """The interval called `name`; an unknown name is refused."""
    if name not in NAMED:
        raise UnknownName("interval", name, known=list(NAMED))
    return NAMED[name]
