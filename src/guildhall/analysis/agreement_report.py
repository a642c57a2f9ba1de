"""Everything to be said about agreement in one file of ratings, in one value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from guildhall.analysis.agreement import Agreement, AgreementInterval, agreement, agreement_by_model, mean_over_models
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate
from guildhall.analysis.floors import ConstantVerdict, best_constant, discrimination_within_model
from guildhall.analysis.ratings_table import Ratings
from guildhall.analysis.stand_in import AlternativeAnnotator, WithinPoints, alternative_annotator_test, within_points
from guildhall.domain.estimates import Estimate
from guildhall.errors import UnknownName

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
    ratings: Ratings,
    *,
    interval: AgreementInterval = "population",
    within: float | None = None,
    epsilon: float = 0.2,
    level: float = 0.95,
) -> AgreementReport:
    """All agreement figures; `within` is the d of the paired test, fixed beforehand, and None leaves it out."""
    by_model = agreement_by_model(ratings, interval=interval, level=level)
    human = ratings.counts(human=True)
    unit = "sample" if ratings.task is None else "task"
    units = np.arange(ratings.n_samples) if ratings.task is None else ratings.task
    return AgreementReport(
        overall=agreement(ratings, interval=interval, level=level),
        by_model=by_model,
        mean_over_models=mean_over_models(by_model),
        constant=best_constant(ratings, level=level),
        discrimination=discrimination_within_model(ratings, level=level),
        chance_corrected={
            "alpha_nominal": alpha_estimate(human, units, unit=unit, metric="nominal", level=level),
            "alpha_ordinal": alpha_estimate(human, units, unit=unit, metric="ordinal", level=level),
            "alpha_interval": alpha_estimate(human, units, unit=unit, metric="interval", level=level),
            "gwet_ac1": gwet_estimate(human, units, unit=unit, metric="nominal", level=level),
            "gwet_ac2": gwet_estimate(human, units, unit=unit, metric="ordinal", level=level),
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
