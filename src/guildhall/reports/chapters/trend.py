"""How fast do models get better? The line over release dates, for authors whose date the study file gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.intervals import t_quantile
from guildhall.analysis.rated import NOTHING_SHARED, Shared, shared_error
from guildhall.analysis.trend import Trend, fit_trend
from guildhall.analysis.win_rates import WinRate
from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Column, DatedPoint, Figure, ReportTable, Section, Timeline
from guildhall.errors import TooFew
from guildhall.reports.number_format import basis, shown

STEPS = 24
DAYS_A_YEAR = 365.25
DATED = (Column(name="date", title="released", form="date"), Column(name="model", title="model"))
RATE = Column(name="win_or_tie", title="win or tie", form="percent")


class ReleaseTrend:
    """The trend of win-or-tie rates; None with fewer than four models of known and different dates."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        rates = evidence.rates
        released = {name: day for wave in evidence.waves for name, day in wave.design.released.items()}
        points = [
            DatedPoint(name=one.model, day=released[one.model], rate=one.win_or_tie)
            for one in rates
            if one.model in released and one.win_or_tie.value is not None
        ]
        shared = _shared(evidence, {one.name for one in points})
        models = {author.name: author.model for wave in evidence.waves for author in wave.authors}
        trend = fitted(points, _left_out(rates, released), models=models, shared=shared, level=evidence.level)
        return None if trend is None else trend_section(trend)


class FittedTrend(NamedTuple):
    """The line through dated rates. `left_out` have no date; `unsure` no known error, and bear no weight."""

    points: Sequence[DatedPoint]
    slope: Estimate
    scatter: float
    line: Sequence[tuple[date, Estimate]]
    left_out: Sequence[str] = ()
    unsure: Sequence[str] = ()


def fitted(
    points: Sequence[DatedPoint],
    left_out: Sequence[str] = (),
    *,
    models: Mapping[str, str] | None = None,
    shared: Shared = NOTHING_SHARED,
    level: float = 0.95,
) -> FittedTrend | None:
    """The line, and its height at even steps from the first release to the last; None where there is none.

    Authors of one of `models` released on one day are variants of it, a family that goes together.
    """
    ordered = sorted(points, key=lambda one: (one.day, one.name))
    sure = [one for one in ordered if one.rate.interval is not None]
    try:
        trend = fit_trend(
            np.array([_years(one.day) for one in sure]),
            np.array([one.rate.value for one in sure], dtype=np.float64),
            np.array([_error(one.rate) for one in sure]),
            family=_families(sure, models or {}),
            shared=shared,
            level=level,
        )
    except TooFew:
        return None
    unsure = [f"{one.name} ({one.rate.why_no_interval})" for one in ordered if one.rate.interval is None]
    return FittedTrend(ordered, trend.slope_per_year, trend.scatter, _line(trend, ordered), left_out, unsure)


def trend_section(trend: FittedTrend) -> Section:
    """The line in words, as a figure and as tables."""
    slope = trend.slope
    words = shown(slope, "points")
    said = [
        f"Win or tie changes by {words.value} points a year ({words.interval}); {basis(slope)}. Models scatter about "
        f"the line by {100 * trend.scatter:.1f} points beyond their own error; the band is that of the line."
    ]
    if trend.unsure:
        said.append(f"Shown without weight, since its error is unknown: {', '.join(trend.unsure)}.")
    if trend.left_out:
        said.append(f"Without a release date: {', '.join(trend.left_out)}.")
    plot = Timeline(title="Win or tie by release date", points=tuple(trend.points), line=tuple(trend.line))
    of_slope = (Column(name="figure", title="figure"), Column(name="slope", title="points a year", form="points"))
    return Section(
        name="trend",
        title="Trend over release dates",
        words=tuple(said),
        figures=(Figure(name="trend", says="Win or tie by release date", plot=plot),),
        tables=(
            ReportTable(name="trend-slope", columns=of_slope, rows=(("change of win or tie", slope),), traced=True),
            ReportTable(
                name="trend",
                title="Models by release date",
                columns=(*DATED, RATE),
                rows=tuple((one.day.isoformat(), one.name, one.rate) for one in trend.points),
                folded=True,
            ),
            ReportTable(
                name="trend-line",
                title="The line",
                columns=(DATED[0], RATE),
                rows=tuple((day.isoformat(), at) for day, at in trend.line),
                folded=True,
            ),
        ),
    )


def _left_out(rates: Sequence[WinRate], released: dict[str, date]) -> list[str]:
    return [one.model for one in rates if one.model not in released]


def _shared(evidence: Evidence, models: set[str]) -> Shared:
    """What the dated models' rates have in common, since they were judged on the same tasks by the same graders."""
    dated = np.array([name in models for name in evidence.counted.outcomes.model.names], dtype=np.bool_)
    outcomes = evidence.counted.outcomes.keep(dated[evidence.counted.outcomes.model.codes])
    return shared_error(outcomes, "win_or_tie") if len(outcomes.halves) else NOTHING_SHARED


def _families(points: Sequence[DatedPoint], models: Mapping[str, str]) -> NDArray[np.intp]:
    """Which points are variants of one model."""
    of = [f"{one.day}, {models.get(one.name, one.name)}" for one in points]
    return np.unique(of, return_inverse=True)[1]


def _line(trend: Trend, points: Sequence[DatedPoint]) -> tuple[tuple[date, Estimate], ...]:
    first, last = points[0].day.toordinal(), points[-1].day.toordinal()
    days = [date.fromordinal(round(day)) for day in np.linspace(first, last, STEPS + 1)]
    return tuple((day, trend.at(_years(day))) for day in days)


def _years(day: date) -> float:
    return day.toordinal() / DAYS_A_YEAR


def _error(rate: Estimate) -> float:
    """The rate's standard error, which has an interval."""
    return (rate.half_width or 0.0) / t_quantile(0.5 + rate.level / 2, math.inf)
