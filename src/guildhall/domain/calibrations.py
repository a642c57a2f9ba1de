"""Stated confidence held against what happened, as a report shows it."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value


class ReliabilityPoint(Value):
    """Deliverables of about one stated confidence: what was claimed on average, and how often it came true."""

    claimed: float
    came_true: Estimate


class ModelCalibration(Value):
    """One model's stated confidence against one outcome; `against` names the outcome."""

    model: str
    against: str
    brier: Estimate
    """Mean squared gap between claim and outcome: 0 is perfect, 0.25 is what always saying 50 % earns at best."""
    overconfidence: Estimate
    """Mean claim minus mean outcome: above 0 the model promises more than it keeps."""
    curve: tuple[ReliabilityPoint, ...]
