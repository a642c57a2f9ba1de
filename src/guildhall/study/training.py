"""Training a calibrator: from evidence to a versioned artefact with its model card."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from guildhall.analysis.calibrator import Calibrated, Evidence, calibrate_judges
from guildhall.analysis.tables import Floats
from guildhall.domain.estimates import Estimate
from guildhall.domain.trained import TrainedGain, TrainedGrader
from guildhall.domain.values import sha256


def train(evidence: Evidence, *, name: str, folds: int, seed: int, now: datetime) -> TrainedGrader:
    """Fit a calibrator and measure it out of fold."""
    fitted = calibrate_judges(evidence, folds=folds, seed=seed)
    _, features = evidence.features()
    learnt = np.column_stack([features, evidence.people, evidence.cluster])
    return _artefact(fitted, name=name, learnt=learnt, now=now)


def _artefact(fitted: Calibrated, *, name: str, learnt: Floats, now: datetime) -> TrainedGrader:
    return TrainedGrader(
        name=name,
        features=fitted.features,
        coefficients=tuple(tuple(row) for row in fitted.model.coefficients.tolist()),
        centre=tuple(fitted.model.centre.tolist()),
        scale=tuple(fitted.model.scale.tolist()),
        ridge=fitted.ridge,
        learnt_from=sha256(np.ascontiguousarray(learnt, dtype="<f8").tobytes()),
        n_samples=len(learnt),
        folds=fitted.folds,
        seed=fitted.seed,
        looks=fitted.looks,
        agreement=fitted.agreement.to_estimate(),
        log_loss=fitted.log_loss.to_estimate(),
        unseen_models=fitted.unseen_models.to_estimate(),
        gains=tuple(
            TrainedGain(
                judge=gain.judge,
                judge_agreement=gain.judge_agreement,
                agreement=gain.agreement.to_estimate(),
                judge_log_loss=gain.judge_log_loss,
                log_loss=gain.log_loss.to_estimate(),
            )
            for gain in fitted.gains
        ),
        made_at=now,
    )


def write_trained(trained: TrainedGrader, path: Path) -> tuple[Path, Path]:
    """The artefact as JSON, and its card beside it."""
    card = path.with_suffix(".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trained.model_dump_json(indent=2) + "\n", encoding="utf-8")
    card.write_text(model_card(trained), encoding="utf-8")
    return path, card


def model_card(trained: TrainedGrader) -> str:
    """What the artefact is, what it learnt from, and every figure including those against it."""
    rows = "\n".join(
        f"| {gain.judge} | {gain.judge_agreement:.4f} | {_shown(gain.agreement)} | {gain.judge_log_loss:.4f} "
        f"| {_shown(gain.log_loss)} |"
        for gain in trained.gains
    )
    return f"""# {trained.name}, version {trained.version}

A {trained.kind}, made {trained.made_at:%Y-%m-%d}. It turns what judges said about a pair into the probability that
people see a loss, a tie or a win.

- Learnt from {trained.n_samples} samples, digest `{trained.learnt_from[:16]}`.
- Figures are out of fold: {trained.folds} folds of whole tasks, seed {trained.seed}, ridge chosen inside the training
  parts (all data: {trained.ridge:g}). Held-out folds were looked at {trained.looks} times.
- Agreement with people {_shown(trained.agreement)}; log loss {_shown(trained.log_loss)}.
- On models it learnt nothing from: agreement {_shown(trained.unseen_models)}.

| judge | its agreement | gained over it | its log loss | saved against it |
| --- | --- | --- | --- | --- |
{rows}

{_verdict(trained.gains)}

Features: {", ".join(trained.features)}.
"""


def _verdict(gains: Sequence[TrainedGain]) -> str:
    best = max(gains, key=lambda gain: gain.judge_agreement)
    ends = best.agreement.interval
    if ends is not None and ends[0] > 0:
        return f"It agrees with people more often than the best single judge, {best.judge}."
    return (
        f"It is not shown to agree with people more often than the best single judge, {best.judge}. What it adds, if "
        "anything, is probabilities."
    )


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "none"
    if estimate.interval is None:
        return f"{estimate.value:.4f}"
    return f"{estimate.value:.4f} [{estimate.interval[0]:.4f}, {estimate.interval[1]:.4f}]"
