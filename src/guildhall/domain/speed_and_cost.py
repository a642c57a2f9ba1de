"""Speed and cost of working with models, as a report shows them."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value


class Ratios(Value):
    """One model in one currency (minutes or dollars): how many times faster or cheaper, above 1 the model saves."""

    naive: Estimate
    try_once: Estimate
    try_n: dict[int, Estimate]
    limit: Estimate
    never_won: float | None
    """Share of tasks without a single success, on which the limit rests."""
    break_even_review: float
    """Review, in minutes or dollars, at which trying once neither saves nor loses; below 0 none is short enough."""
    break_even_model: float | None


class ModelSpeedAndCost(Value):
    model: str
    success_rate: float
    n_tasks: int | None
    n_excluded: int
    speed: Ratios | None
    cost: Ratios | None


class SpeedAndCost(Value):
    """Every model's ratios under one meaning of `w`, which every caption names."""

    w: str
    hours_by: str
    """Who says how long the work takes a person: the experts, or an estimate."""
    review_by: str
    """How the time of review is known, or that it is not."""
    success_by: str
    """Who says whether an attempt will do."""
    models: tuple[ModelSpeedAndCost, ...]
    left_out: str
