"""Progress over time: models by release date, and the line through them."""

from __future__ import annotations

from datetime import date

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value


class DatedRate(Value):
    """One model's win-or-tie rate and the day it was released."""

    model: str
    released: date
    rate: Estimate


class TrendFinding(Value):
    """A line over release dates: models are the unit, and scatter about the line beyond their own error.

    `line` holds the line's height with its interval at even steps from the first release to the last. `undated` names
    models without a known date, which take no part.
    """

    points: tuple[DatedRate, ...]
    slope_per_year: Estimate
    line: tuple[tuple[date, Estimate], ...]
    scatter: float
    undated: tuple[str, ...] = ()
