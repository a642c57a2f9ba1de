"""Trained graders: versioned artefacts that say what they learnt from and how far to trust them."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from guildhall.domain.estimates import LATER, Estimate
from guildhall.domain.values import Digest, Id, Value, canonical_json, sha256


class SplitMargin(Value):
    """A margin over several deals of tasks to folds: its mean, paired by sample, and how far single deals lie apart."""

    mean: Estimate
    n_splits: int
    least: float
    most: float
    above_zero: int


class TrainedGain(Value):
    """The trained grader against one single judge, out of fold; above zero it is better."""

    judge: str
    judge_agreement: float
    agreement: Estimate
    agreement_over_splits: SplitMargin
    judge_log_loss: float
    log_loss: Estimate
    log_loss_over_splits: SplitMargin


class TrainedGrader(Value):
    """A calibrator with its coefficients and its honest figures; its version is the digest of all of it."""

    name: Id
    kind: str = "multinomial logistic calibrator"
    features: tuple[str, ...]
    coefficients: tuple[tuple[float, ...], ...]
    """One row for the intercept and one a feature; columns are tie and win, against loss."""
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    ridge: float
    learnt_from: Digest
    n_samples: int
    folds: int
    seed: int
    looks: int
    """How often held-out folds were looked at."""
    agreement: Estimate
    log_loss: Estimate
    unseen_models: Estimate
    unseen_families: Estimate
    gains: tuple[TrainedGain, ...]
    made_at: AwareDatetime

    @property
    def version(self) -> str:
        return _version(self)


class FittedWeights(Value):
    """Votes of a panel's members, fitted to people's judgments, beside equal votes and the best single member."""

    name: Id
    kind: str = "panel weights"
    weights: dict[str, float]
    """Members' votes; one is an even share."""
    ridge: float
    learnt_from: Digest
    n_samples: int
    folds: int
    seed: int
    looks: int
    agreement: Estimate
    equal_votes: Estimate
    best_member: str
    best_member_agreement: float
    gain_over_equal: SplitMargin
    gain_over_best: SplitMargin
    made_at: AwareDatetime

    @property
    def version(self) -> str:
        return _version(self)


def _version(trained: Value) -> str:
    """The start of the digest, without what estimates gained later and do not know: studies froze it by this name."""
    return sha256(canonical_json(_known(trained.model_dump(mode="json"))))[:12]


def _known(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _known(item) for name, item in data.items() if item is not None or name not in LATER}
    return [_known(item) for item in data] if isinstance(data, list) else data
