"""How fast do models get better? The line over release dates, for authors whose date the study file gives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from pydantic import TypeAdapter

from guildhall.analysis.shared_errors import NOTHING_SHARED, Shared, shared_error
from guildhall.analysis.trend import fit_trend
from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import ModelRecord
from guildhall.domain.trends import DatedRate, TrendFinding
from guildhall.errors import TooFew
from guildhall.study.evidence import Evidence

STEPS = 24
DAYS_A_YEAR = 365.25
_Z = 1.96
"""Turns half an interval at 95 % into a standard error."""


def trend_of(evidence: Evidence, headline: Sequence[ModelRecord]) -> TrendFinding | None:
    """The trend of win-or-tie rates; None with fewer than four models of known and different dates."""
    released = release_dates(evidence)
    points = [
        DatedRate(model=one.model, released=released[one.model], rate=one.win_or_tie)
        for one in headline
        if one.model in released and one.win_or_tie.value is not None
    ]
    undated = [one.model for one in headline if one.model not in released]
    try:
        return fitted(points, undated=undated, shared=_shared(evidence, {one.model for one in points}))
    except TooFew:
        return None


def _shared(evidence: Evidence, models: set[str]) -> Shared:
    """What the dated models' rates have in common, since they were judged on the same tasks by the same graders."""
    dated = np.array([name in models for name in evidence.outcomes.model.names], dtype=np.bool_)
    outcomes = evidence.outcomes.keep(dated[evidence.outcomes.model.codes])
    return shared_error(outcomes, "win_or_tie") if len(outcomes.halves) else NOTHING_SHARED


def fitted(
    points: Sequence[DatedRate], *, undated: Sequence[str] = (), shared: Shared = NOTHING_SHARED
) -> TrendFinding:
    """The line through dated rates, with its interval; `TooFew` below four models."""
    ordered = sorted(points, key=lambda one: (one.released, one.model))
    years = np.array([_years(one.released) for one in ordered])
    rates = np.array([one.rate.value for one in ordered], dtype=np.float64)
    trend = fit_trend(years, rates, np.array([_error(one.rate) for one in ordered]), shared=shared)
    first, last = ordered[0].released.toordinal(), ordered[-1].released.toordinal()
    days = [date.fromordinal(round(day)) for day in np.linspace(first, last, STEPS + 1)]
    return TrendFinding(
        points=tuple(ordered),
        slope_per_year=trend.slope_per_year,
        line=tuple((day, trend.at(_years(day))) for day in days),
        scatter=trend.scatter,
        undated=tuple(undated),
    )


def release_dates(evidence: Evidence) -> dict[str, date]:
    """Release dates as the frozen studies hold them, the earlier waves' included."""
    found: dict[str, date] = {}
    for study in evidence.waves():
        found |= TypeAdapter(dict[str, date]).validate_python(study.design.get("released", {}))
    return found


def _years(day: date) -> float:
    return day.toordinal() / DAYS_A_YEAR


def _error(rate: Estimate) -> float:
    """The rate's standard error; 0 where it is unknown, so that scatter about the line alone speaks."""
    return 0.0 if rate.interval is None else (rate.interval[1] - rate.interval[0]) / (2 * _Z)
