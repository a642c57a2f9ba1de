"""A calibrator: from what judges said to the probability that people see a loss, a tie or a win.

Everything about it is measured out of fold: folds are whole tasks (or whole items), the ridge is chosen inside each
training part, and single judges are turned into probabilities by confusion tables from the same training parts. What it
gains depends on the split, so gains are given over several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from guildhall.analysis.accountability import clustered_share
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.multinomial import Multinomial, fit_multinomial, log_loss
from guildhall.analysis.splits import OverSplits, fold_by_cluster, margin_over_splits, mean_margin
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate

RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 10
SPLITS = 5
_SCORES = np.array([0.0, 0.5, 1.0])
_WORTH = 1.0 - np.abs(_SCORES[:, None] - _SCORES[None, :])


@dataclass(frozen=True)
class Gain:
    """The calibrator against one single judge, out of fold and paired by sample.

    `agreement` compares on the samples the judge gave a verdict on; `log_loss` on all, a missing verdict being a
    verdict of its own. Above zero the calibrator is better, in both. Each stands for the first split, and beside it for
    all splits together.
    """

    judge: str
    judge_agreement: float
    agreement: Estimate
    agreement_over_splits: OverSplits
    judge_log_loss: float
    log_loss: Estimate
    log_loss_over_splits: OverSplits


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibrator with its honest figures. `looks` counts how often held-out parts were looked at."""

    features: tuple[str, ...]
    model: Multinomial
    ridge: float
    folds: int
    seed: int
    looks: int
    agreement: Estimate
    log_loss: Estimate
    unseen_models: Estimate
    """Agreement on each model's work when no work of that model was learnt from: the real use."""
    unseen_families: Estimate
    """The same with all models of one maker left out together."""
    gains: tuple[Gain, ...]


class _Split(NamedTuple):
    """One deal of tasks to folds, and what the calibrator comes to on it: agreement and log loss of every sample."""

    fold_of: Codes
    agreement: Floats
    losses: Floats


def calibrate_judges(
    evidence: Evidence, *, folds: int = FOLDS, seed: int = 0, splits: int = SPLITS, level: float = 0.95
) -> Calibrated:
    """Fit on every sample people judged, and say what it gains out of fold, including when that is nothing.

    The first split is dealt by `seed`, the others by the numbers after it.
    """
    evidence = evidence.only(evidence.rated)
    names, features = evidence.features()
    dealt = [_split(features, evidence, folds=folds, seed=seed + number) for number in range(splits)]
    first = dealt[0]
    ridge = _best_ridge(features, evidence.people, first.fold_of)
    return Calibrated(
        features=tuple(names),
        model=fit_multinomial(features, evidence.people, ridge=ridge),
        ridge=ridge,
        folds=folds,
        seed=seed,
        looks=splits + 2,
        agreement=_agreement(first.agreement, evidence, "agreement with people, out of fold", level),
        log_loss=mean_margin(
            first.losses, evidence.cluster, what="log loss, out of fold", unit=evidence.unit, level=level
        ),
        unseen_models=_unseen("model", evidence.model, features, evidence, first.fold_of, level),
        unseen_families=_unseen("family of models", evidence.family, features, evidence, first.fold_of, level),
        gains=tuple(
            _gain(judge, scores, dealt, evidence, level) for judge, scores in sorted(evidence.verdicts.items())
        ),
    )


def _split(features: Floats, evidence: Evidence, *, folds: int, seed: int) -> _Split:
    fold_of = fold_by_cluster(evidence.cluster, folds=folds, seed=seed)
    chances = _out_of_fold(features, evidence.people, fold_of, fold_of)
    return _Split(fold_of, agreements(decided(chances), evidence.people), log_loss(chances, evidence.people))


def _out_of_fold(features: Floats, people: Floats, part_of: Codes, inner: Codes) -> Floats:
    """The chances of every row from a fit that saw nothing of its part; the ridge is chosen over `inner` folds."""
    chances = np.empty((len(features), 3))
    for part in np.unique(part_of):
        train, test = part_of != part, part_of == part
        ridge = _best_ridge(features[train], people[train], inner[train])
        chances[test] = fit_multinomial(features[train], people[train], ridge=ridge).probabilities(features[test])
    return chances


def _unseen(
    what: str, group: Codes | None, features: Floats, evidence: Evidence, fold_of: Codes, level: float
) -> Estimate:
    words = f"agreement with people, one {what} left out at a time"
    if group is None or len(np.unique(group)) < 2:
        why = f"there is only one {what}" if group is not None else f"no {what} is named"
        return Estimate(value=None, estimand=words, method="none", level=level, why_no_interval=why)
    chances = _out_of_fold(features, evidence.people, group, fold_of)
    return _agreement(agreements(decided(chances), evidence.people), evidence, words, level)


def decided(chances: Floats) -> Floats:
    """The verdict (0, 0.5 or 1) that can expect to agree most with people."""
    verdicts: Floats = _SCORES[np.argmax(chances @ _WORTH, axis=1)]
    return verdicts


def agreements(verdicts: Floats, people: Floats) -> Floats:
    """Per sample the mean of 1 - |verdict - rating| over people's ratings."""
    apart = np.abs(verdicts[:, None] - _SCORES[None, :])
    values: Floats = 1.0 - (people * apart).sum(axis=1) / people.sum(axis=1)
    return values


def _best_ridge(features: Floats, people: Floats, fold_of: Codes) -> float:
    """The ridge with the least log loss over the training part's own folds; the strongest where there is only one."""
    inner = fold_of % 3
    if len(np.unique(inner)) < 2:
        return RIDGES[-1]
    totals = []
    for ridge in RIDGES:
        losses = [
            log_loss(
                fit_multinomial(features[inner != part], people[inner != part], ridge=ridge).probabilities(
                    features[inner == part]
                ),
                people[inner == part],
            ).sum()
            for part in np.unique(inner)
        ]
        totals.append(float(np.sum(losses)))
    return RIDGES[int(np.argmin(totals))]


def _gain(judge: str, scores: Floats, dealt: list[_Split], evidence: Evidence, level: float) -> Gain:
    spoke = ~np.isnan(scores)
    alone = agreements(np.where(spoke, scores, 0.5), evidence.people)
    tables = [log_loss(confusion_chances(scores, evidence.people, one.fold_of), evidence.people) for one in dealt]
    gained = [(one.agreement - alone)[spoke] for one in dealt]
    saved = [table - one.losses for table, one in zip(tables, dealt, strict=True)]
    what, what_loss = f"agreement gained over {judge}", f"log loss saved against {judge}'s confusion table"
    where, unit = evidence.cluster[spoke], evidence.unit
    return Gain(
        judge=judge,
        judge_agreement=float(alone[spoke].mean()),
        agreement=mean_margin(gained[0], where, what=what, unit=unit, level=level),
        agreement_over_splits=margin_over_splits(gained, where, what=what, unit=unit, level=level),
        judge_log_loss=float(tables[0].mean()),
        log_loss=mean_margin(saved[0], evidence.cluster, what=what_loss, unit=unit, level=level),
        log_loss_over_splits=margin_over_splits(saved, evidence.cluster, what=what_loss, unit=unit, level=level),
    )


def confusion_chances(scores: Floats, people: Floats, fold_of: Codes) -> Floats:
    """People's outcome given a judge's verdict, from the other folds, one rating added to every cell.

    A mean over several verdicts is rounded to the nearest of loss, tie and win; no verdict is a row of its own.
    """
    said = np.where(np.isnan(scores), 3, np.round(2 * np.nan_to_num(scores))).astype(np.intp)
    chances = np.empty((len(scores), 3))
    for fold in np.unique(fold_of):
        table = np.ones((4, 3))
        np.add.at(table, said[fold_of != fold], people[fold_of != fold])
        chances[fold_of == fold] = (table / table.sum(axis=1, keepdims=True))[said[fold_of == fold]]
    return chances


def _agreement(values: Floats, evidence: Evidence, what: str, level: float) -> Estimate:
    clusters = [str(code) for code in evidence.cluster.tolist()]
    return clustered_share(values.tolist(), clusters, what=what, level=level, unit=evidence.unit)
