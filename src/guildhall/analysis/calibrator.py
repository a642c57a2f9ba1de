"""A calibrator: from what judges said to the probability that people see a loss, a tie or a win.

Everything about it is measured out of fold: folds are whole tasks (or whole items), the ridge is chosen inside each
training part, and single judges are turned into probabilities by confusion tables from the same training parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.accountability import clustered_share
from guildhall.analysis.measured import Measured
from guildhall.analysis.multinomial import Multinomial, fit_multinomial, log_loss
from guildhall.analysis.ratings_table import Ratings
from guildhall.analysis.t_intervals import clustered_mean, t_estimate
from guildhall.analysis.tables import Codes, Floats
from guildhall.errors import NotEnoughData

RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 10
_SCORES = np.array([0.0, 0.5, 1.0])
_WORTH = 1.0 - np.abs(_SCORES[:, None] - _SCORES[None, :])


@dataclass(frozen=True)
class Evidence:
    """What a calibrator learns from, one row a sample: judges' verdicts, further features, people's counts.

    `verdicts[judge]` is the mean score of that judge, NaN where it gave none; `cluster` is the task or item.
    """

    verdicts: Mapping[str, Floats]
    extra: Mapping[str, Floats]
    people: Floats
    cluster: Codes
    model: Codes
    unit: str = "task"
    """What a cluster is: a task, or a single sample where no task is named."""

    def features(self) -> tuple[list[str], Floats]:
        """Per judge its score, how tied it is and whether it is missing; between judges their product and spread."""
        columns: dict[str, Floats] = {}
        filled = {}
        for judge, scores in self.verdicts.items():
            missing = np.isnan(scores)
            filled[judge] = np.where(missing, 0.0, scores - 0.5)
            columns[f"{judge}: score"] = filled[judge]
            columns[f"{judge}: undecided"] = np.where(missing, 0.0, 0.5 - np.abs(filled[judge]))
            columns[f"{judge}: missing"] = missing.astype(np.float64)
        names = sorted(filled)
        for index, one in enumerate(names):
            for other in names[index + 1 :]:
                columns[f"{one} x {other}"] = filled[one] * filled[other]
        if len(names) > 1:
            columns["spread of judges"] = np.std(np.column_stack([filled[name] for name in names]), axis=1)
        columns |= dict(self.extra)
        return list(columns), np.column_stack(list(columns.values()))


@dataclass(frozen=True)
class Gain:
    """The calibrator against one single judge, out of fold and paired by sample.

    `agreement` compares on the samples the judge gave a verdict on; `log_loss` on all, a missing verdict being a
    verdict of its own. Above zero the calibrator is better, in both.
    """

    judge: str
    judge_agreement: float
    agreement: Measured
    judge_log_loss: float
    log_loss: Measured


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibrator with its honest figures. `looks` counts how often held-out folds were looked at."""

    features: tuple[str, ...]
    model: Multinomial
    ridge: float
    folds: int
    seed: int
    looks: int
    agreement: Measured
    log_loss: Measured
    unseen_models: Measured
    """Agreement on each model's work when no work of that model was learnt from: the real use."""
    gains: tuple[Gain, ...]


def evidence_from(ratings: Ratings, extra: Mapping[str, Floats] | None = None) -> Evidence:
    """The evidence of a table of ratings: every automatic rater is a judge. Samples nobody rated are left out."""
    people = ratings.counts(human=True).astype(np.float64)
    rated = people.sum(axis=1) > 0
    verdicts = {}
    for code in np.unique(ratings.rater[~ratings.is_human]):
        rows = ~ratings.is_human & (ratings.rater == code)
        n = np.bincount(ratings.sample[rows], minlength=ratings.n_samples)
        total = np.bincount(ratings.sample[rows], ratings.halves[rows] / 2.0, minlength=ratings.n_samples)
        verdicts[ratings.raters[code]] = np.where(n > 0, total / np.maximum(n, 1), np.nan)[rated]
    cluster, unit = (np.arange(ratings.n_samples), "sample") if ratings.task is None else (ratings.task, "task")
    kept = {name: values[rated] for name, values in (extra or {}).items()}
    return Evidence(verdicts, kept, people[rated], cluster[rated], ratings.model[rated], unit)


def calibrate_judges(evidence: Evidence, *, folds: int = FOLDS, seed: int = 0, level: float = 0.95) -> Calibrated:
    """Fit on everything, and say what it gains out of fold, including when that is nothing."""
    names, features = evidence.features()
    fold_of = fold_by_cluster(evidence.cluster, folds=folds, seed=seed)
    chances = _out_of_fold(features, evidence.people, fold_of, fold_of)
    ridge = _best_ridge(features, evidence.people, fold_of)
    agreement, losses = agreements(decided(chances), evidence.people), log_loss(chances, evidence.people)
    return Calibrated(
        features=tuple(names),
        model=fit_multinomial(features, evidence.people, ridge=ridge),
        ridge=ridge,
        folds=folds,
        seed=seed,
        looks=2,
        agreement=_agreement(agreement, evidence, "agreement with people, out of fold", level),
        log_loss=_mean(losses, evidence.cluster, "log loss, out of fold", level, evidence.unit),
        unseen_models=_unseen_models(features, evidence, fold_of, level),
        gains=tuple(
            _gain(judge, scores, agreement, losses, evidence, fold_of, level)
            for judge, scores in sorted(evidence.verdicts.items())
        ),
    )


def _out_of_fold(features: Floats, people: Floats, part_of: Codes, inner: Codes) -> Floats:
    """The chances of every row from a fit that saw nothing of its part; the ridge is chosen over `inner` folds."""
    chances = np.empty((len(features), 3))
    for part in np.unique(part_of):
        train, test = part_of != part, part_of == part
        ridge = _best_ridge(features[train], people[train], inner[train])
        chances[test] = fit_multinomial(features[train], people[train], ridge=ridge).probabilities(features[test])
    return chances


def _unseen_models(features: Floats, evidence: Evidence, fold_of: Codes, level: float) -> Measured:
    what = "agreement with people on models left out one at a time"
    if len(np.unique(evidence.model)) < 2:
        return Measured(None, None, what, "none", level, why_no_interval="there is only one model")
    chances = _out_of_fold(features, evidence.people, evidence.model, fold_of)
    return _agreement(agreements(decided(chances), evidence.people), evidence, what, level)


def decided(chances: Floats) -> Floats:
    """The verdict (0, 0.5 or 1) that can expect to agree most with people."""
    verdicts: Floats = _SCORES[np.argmax(chances @ _WORTH, axis=1)]
    return verdicts


def agreements(verdicts: Floats, people: Floats) -> Floats:
    """Per sample the mean of 1 - |verdict - rating| over people's ratings."""
    apart = np.abs(verdicts[:, None] - _SCORES[None, :])
    values: Floats = 1.0 - (people * apart).sum(axis=1) / people.sum(axis=1)
    return values


def fold_by_cluster(cluster: Codes, *, folds: int, seed: int) -> Codes:
    """A fold for every row, whole clusters together, dealt by seed."""
    names, at = np.unique(cluster, return_inverse=True)
    if len(names) < folds:
        raise NotEnoughData(f"{folds} folds need at least as many tasks, and here are {len(names)}; use fewer folds")
    dealt = np.empty(len(names), dtype=np.intp)
    dealt[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % folds
    return dealt[at]


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


def _gain(
    judge: str, scores: Floats, agreement: Floats, losses: Floats, evidence: Evidence, fold_of: Codes, level: float
) -> Gain:
    spoke = ~np.isnan(scores)
    alone = agreements(np.where(spoke, scores, 0.5), evidence.people)
    by_table = log_loss(confusion_chances(scores, evidence.people, fold_of), evidence.people)
    gained, saved = (agreement - alone)[spoke], by_table - losses
    saved_what = f"log loss saved against {judge}'s confusion table"
    return Gain(
        judge,
        float(alone[spoke].mean()),
        _mean(gained, evidence.cluster[spoke], f"agreement gained over {judge}", level, evidence.unit),
        float(by_table.mean()),
        _mean(saved, evidence.cluster, saved_what, level, evidence.unit),
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


def _agreement(values: Floats, evidence: Evidence, what: str, level: float) -> Measured:
    clusters = [str(code) for code in evidence.cluster.tolist()]
    return clustered_share(values.tolist(), clusters, what=what, level=level, unit=evidence.unit)


def _mean(values: Floats, cluster: Codes, what: str, level: float, unit: str) -> Measured:
    mean = clustered_mean(values, cluster)
    return t_estimate(
        mean.value,
        mean.error,
        n_clusters=mean.n_clusters,
        df=mean.df,
        estimand=what,
        method=f"mean over samples, t over {unit}s",
        unit=unit,
        level=level,
        n_samples=len(values),
    )
