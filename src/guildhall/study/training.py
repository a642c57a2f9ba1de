"""Training a calibrator: from evidence to a versioned artefact with its model card, and using it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from guildhall.analysis.calibrator import SPLITS, Calibrated, calibrate_judges, decided
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.multinomial import Multinomial
from guildhall.analysis.tables import Floats
from guildhall.domain.trained import TrainedGain, TrainedGrader
from guildhall.domain.values import Value, sha256
from guildhall.errors import InputError
from guildhall.study.artefacts import shown, shown_margin, split_margin


def train(
    evidence: Evidence, *, name: str, folds: int, seed: int, now: datetime, splits: int = SPLITS
) -> TrainedGrader:
    """Fit a calibrator on what people judged and measure it out of fold, over several splits."""
    fitted = calibrate_judges(evidence, folds=folds, seed=seed, splits=splits)
    judged = evidence.only(evidence.rated)
    _, features = judged.features()
    learnt = np.column_stack([features, judged.people, judged.cluster])
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
        agreement=fitted.agreement,
        log_loss=fitted.log_loss,
        unseen_models=fitted.unseen_models,
        unseen_families=fitted.unseen_families,
        gains=tuple(
            TrainedGain(
                judge=gain.judge,
                judge_agreement=gain.judge_agreement,
                agreement=gain.agreement,
                agreement_over_splits=split_margin(gain.agreement_over_splits),
                judge_log_loss=gain.judge_log_loss,
                log_loss=gain.log_loss,
                log_loss_over_splits=split_margin(gain.log_loss_over_splits),
            )
            for gain in fitted.gains
        ),
        made_at=now,
    )


class Chances(Value):
    """What a calibrator says of one submission; `seen` where people judged it, and it may have learnt from that."""

    sample: str
    loss: float
    tie: float
    win: float
    verdict: float
    seen: bool


def chances_of(trained: TrainedGrader, samples: Sequence[str], evidence: Evidence) -> list[Chances]:
    """A calibrator's chances for every row of evidence; each feature it learnt from must be there."""
    names, features = evidence.features()
    if missing := set(trained.features) - set(names):
        raise InputError(
            f"{trained.name} learnt from {', '.join(sorted(missing))}, which this study does not have; let the same "
            "judges judge, or train again with `guildhall grade calibrate`"
        )
    model = Multinomial(np.array(trained.coefficients), np.array(trained.centre), np.array(trained.scale))
    chances = model.probabilities(features[:, [names.index(name) for name in trained.features]])
    return [
        Chances(sample=sample, loss=loss, tie=tie, win=win, verdict=verdict, seen=seen)
        for sample, (loss, tie, win), verdict, seen in zip(
            samples, chances.tolist(), decided(chances).tolist(), evidence.rated.tolist(), strict=True
        )
    ]


def model_card(trained: TrainedGrader) -> str:
    """What the artefact is, what it learnt from, and every figure including those against it."""
    rows = "\n".join(
        f"| {gain.judge} | {gain.judge_agreement:.4f} | {shown(gain.agreement)} | {gain.judge_log_loss:.4f} "
        f"| {shown(gain.log_loss)} |"
        for gain in trained.gains
    )
    over = "\n".join(
        f"| {gain.judge} | {shown_margin(gain.agreement_over_splits)} | {shown_margin(gain.log_loss_over_splits)} |"
        for gain in trained.gains
    )
    n_splits = trained.gains[0].agreement_over_splits.n_splits
    return f"""# {trained.name}, version {trained.version}

A {trained.kind}, made {trained.made_at:%Y-%m-%d}. It turns what judges said about a pair into the probability that
people see a loss, a tie or a win.

- Learnt from {trained.n_samples} samples, digest `{trained.learnt_from[:16]}`.
- Figures are out of fold: {trained.folds} folds of whole {trained.agreement.unit}s, seed {trained.seed}, ridge chosen
  inside the training parts (all data: {trained.ridge:g}). Held-out parts were looked at {trained.looks} times.
- Agreement with people {shown(trained.agreement)}; log loss {shown(trained.log_loss)}.
- On models it learnt nothing from: agreement {shown(trained.unseen_models)}.
- On families of models it learnt nothing from: agreement {shown(trained.unseen_families)}.

| judge | its agreement | gained over it | its log loss | saved against it |
| --- | --- | --- | --- | --- |
{rows}

What is gained depends on the deal to folds. Over {n_splits} deals (seeds {trained.seed} to
{trained.seed + n_splits - 1}), mean with a paired interval, and the least and the most of single deals:

| judge | agreement gained | log loss saved |
| --- | --- | --- |
{over}

{_verdict(trained.gains)}

Features: {", ".join(trained.features)}.
"""


def _verdict(gains: Sequence[TrainedGain]) -> str:
    best = max(gains, key=lambda gain: gain.judge_agreement)
    ends = best.agreement_over_splits.mean.interval
    if ends is not None and ends[0] > 0:
        return f"It agrees with people more often than the best single judge, {best.judge}."
    return (
        f"It is not shown to agree with people more often than the best single judge, {best.judge}. What it adds, if "
        "anything, is probabilities."
    )
