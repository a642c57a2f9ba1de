"""A trained grader: a versioned artefact that says what it learnt from and how far to trust it."""

from __future__ import annotations

from pydantic import AwareDatetime

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Digest, Id, Value


class TrainedGain(Value):
    """The trained grader against one single judge, out of fold; above zero it is better."""

    judge: str
    judge_agreement: float
    agreement: Estimate
    judge_log_loss: float
    log_loss: Estimate


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
    gains: tuple[TrainedGain, ...]
    made_at: AwareDatetime

    @property
    def version(self) -> str:
        return self.content_digest()[:12]
