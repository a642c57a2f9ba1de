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
        value = self.middle + (self.slope_per_year.value or 0.0) * x[1]
        own = float(x @ self.covariance @ x)
        # Few models give a variance that is small by chance now and then; its weight here must not be small by chance.
        df = joint_df((float(x @ self.expected @ x), self.df), self.shared)
        reach = t_quantile(0.5 + self.level / 2, df) * math.sqrt(own + self.shared.variance)
        return Estimate(
            value=float(value),
            interval=(float(value - reach), float(value + reach)),
            estimand="rate on the line",
            method=_METHOD,
            level=self.level,
            unit="model",
        )


_METHOD = "random-effects line over models, Knapp-Hartung t"


def fit_trend(
    years: Floats, rates: Floats, errors: Floats, *, shared: Shared = NOTHING_SHARED, level: float = 0.95
) -> Trend:
    """A line through model rates; `errors` are their standard errors (0 where unknown), `shared` what they share."""
    if len(years) < 4 or float(np.ptp(years)) == 0:
        raise TooFew("models with different release dates", len(np.unique(years)), needed=4, what="a trend")
    if not (np.isfinite(years).all() and np.isfinite(rates).all() and (errors >= 0).all()):
        raise ImpossibleValue("a date, rate or error", "missing or negative", allowed="known for every model")
    centre, df = float(years.mean()), len(years) - 2
    design = np.column_stack([np.ones(len(years)), years - centre])
    apart = np.maximum(errors**2 - shared.variance, 0.0)
    scatter = _scatter(design, rates, apart, df)
    weights = 1 / (scatter + apart + 1e-12)
    inverse = np.asarray(np.linalg.inv(design.T @ (weights[:, None] * design)), dtype=np.float64)
    line = inverse @ design.T @ (weights * rates)
    residual = rates - design @ line
    covariance = inverse * float(weights @ residual**2) / df
    error = math.sqrt(covariance[1, 1])
    why = None if error > 1e-12 else "all models lie on one line exactly"
    reach = t_quantile(0.5 + level / 2, df) * error
    slope = Estimate(
        value=float(line[1]),
        interval=(float(line[1] - reach), float(line[1] + reach)) if why is None else None,
        estimand="change of the rate per year",
        method=_METHOD,
        level=level,
        unit="model",
        n_samples=len(years),
        why_no_interval=why,
    )
    return Trend(slope, math.sqrt(scatter), centre, float(line[0]), covariance, inverse, df, level, shared)


def _scatter(design: Floats, rates: Floats, variances: Floats, df: int) -> float:
    """Variance of models about the line beyond their own error, by moments; never negative."""
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    residual = rates - hat @ rates
    expected = float(((1 - np.diag(hat)) * variances).sum())
    return max((float(residual @ residual) - expected) / df, 0.0)
