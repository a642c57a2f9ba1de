"""The line over release dates: how fast models get better, and how sure the line is.

Models are the unit. Each rate carries its own error and models scatter about any line, so the line is weighted
by both (a random-effects meta-regression), with t on the number of models less two. What all rates have in common,
since they were judged on the same tasks, moves the whole line and is added to the error of its height.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import t_quantile
from guildhall.analysis.rated import NOTHING_SHARED, Shared
from guildhall.analysis.spreads import joint_df
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, TooFew

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
FEWEST = 3


@dataclass(frozen=True)
class Trend:
    """The slope per year and the line itself; `at` gives the line with its interval anywhere."""

    slope_per_year: Estimate
    scatter: float
    centre: float
    middle: float
    covariance: Floats
    expected: Floats
    """The covariance the rates' own errors and the scatter would give: steadier than the one the residuals gave."""
    df: int
    level: float
    shared: Shared = NOTHING_SHARED

    def at(self, years: float) -> Estimate:
        """The line's height at a date given in years on the scale of the input, with its interval."""
        x = np.array([1.0, years - self.centre])
        if self.slope_per_year.interval is None:
            return Estimate(
                value=float(self.middle + (self.slope_per_year.value or 0.0) * x[1]),
                estimand="rate on the line",
                method=self.slope_per_year.method,
                level=self.level,
                unit=self.slope_per_year.unit,
                why_no_interval=self.slope_per_year.why_no_interval,
            )
        value = self.middle + (self.slope_per_year.value or 0.0) * x[1]
        own = float(x @ self.covariance @ x)
        # Few models give a variance that is small by chance now and then; its weight here must not be small by chance.
        df = joint_df((float(x @ self.expected @ x), self.df), self.shared)
        reach = t_quantile(0.5 + self.level / 2, df) * math.sqrt(own + self.shared.variance)
        return Estimate(
            value=float(value),
            interval=(float(value - reach), float(value + reach)),
            estimand="rate on the line",
            method=self.slope_per_year.method,
            level=self.level,
            unit=self.slope_per_year.unit,
        )


_METHOD = "random-effects line over models, Knapp-Hartung t"
_BY_FAMILY = "random-effects line over models; families of variants left out in turn (jackknife), t over families"


def fit_trend(
    years: Floats,
    rates: Floats,
    errors: Floats,
    *,
    family: Codes | None = None,
    shared: Shared = NOTHING_SHARED,
    level: float = 0.95,
) -> Trend:
    """A line through model rates; `errors` are their standard errors, `shared` what they share.

    Variants of one `family` go together: they resemble each other more than models do. Two dates, or two families, say
    nothing of how models scatter, and give no interval.
    """
    if len(years) < 4 or float(np.ptp(years)) == 0:
        raise TooFew("models with different release dates", len(np.unique(years)), needed=4, what="a trend")
    if not (np.isfinite(years).all() and np.isfinite(rates).all() and (errors >= 0).all()):
        raise ImpossibleValue("a date, rate or error", "missing or negative", allowed="known for every model")
    of_family = np.unique(np.arange(len(years)) if family is None else family, return_inverse=True)[1]
    n_families, n_dates = int(of_family.max()) + 1, len(np.unique(years))
    by_family = n_families < len(years)
    centre, df = float(years.mean()), max((n_families if by_family else len(years)) - 2, 1)
    design = np.column_stack([np.ones(len(years)), years - centre])
    apart = np.maximum(errors**2 - shared.variance, 0.0)
    scatter = _scatter(design, rates, apart, max(len(years) - 2, 1))
    weights = 1 / (scatter + apart + 1e-12)
    inverse = np.asarray(np.linalg.inv(design.T @ (weights[:, None] * design)), dtype=np.float64)
    line = inverse @ design.T @ (weights * rates)
    residual = rates - design @ line
    covariance = inverse * float(weights @ residual**2) / df
    if by_family:
        covariance = _left_out(design, rates, weights, of_family)
    error = math.sqrt(max(float(covariance[1, 1]), 0.0))
    why = None if error > 1e-12 else "all models lie on one line exactly"
    if n_dates < FEWEST or n_families < FEWEST:
        few = f"{n_dates} release dates" if n_dates < FEWEST else f"{n_families} families of models"
        why = f"{few}; how models scatter about a line needs at least {FEWEST}"
    reach = t_quantile(0.5 + level / 2, df) * error
    slope = Estimate(
        value=float(line[1]),
        interval=(float(line[1] - reach), float(line[1] + reach)) if why is None else None,
        estimand="change of the rate per year",
        method=_BY_FAMILY if by_family else _METHOD,
        level=level,
        unit="family" if by_family else "model",
        n_samples=len(years),
        why_no_interval=why,
    )
    expected = covariance if by_family else inverse
    return Trend(slope, math.sqrt(scatter), centre, float(line[0]), covariance, expected, df, level, shared)


def _left_out(design: Floats, rates: Floats, weights: Floats, family: Codes) -> Floats:
    """The jackknife's covariance of the line, one family left out at a time; a family that alone holds it is kept."""
    lines = []
    for one in range(int(family.max()) + 1):
        kept = family != one
        if np.ptp(design[kept, 1]) > 0:
            own = design[kept]
            lines.append(np.linalg.solve(own.T @ (weights[kept, None] * own), own.T @ (weights[kept] * rates[kept])))
    apart = np.array(lines) - np.mean(lines, axis=0)
    found: Floats = apart.T @ apart * (len(lines) - 1) / len(lines)
    return found


def _scatter(design: Floats, rates: Floats, variances: Floats, df: int) -> float:
    """Variance of models about the line beyond their own error, by moments; never negative."""
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    residual = rates - hat @ rates
    expected = float(((1 - np.diag(hat)) * variances).sum())
    return max((float(residual @ residual) - expected) / df, 0.0)
