"""A calibrator: from what judges said to the probability that people see a loss, a tie or a win.

Everything about it is measured out of fold: folds are whole tasks (or whole items), the ridge is chosen inside each
training part, and single judges are turned into probabilities by confusion tables from the same training parts. What it
gains depends on the split, so gains are given over several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.accountability import clustered_share
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.splits import OverSplits, fold_by_cluster, margin_over_splits, mean_margin
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate


@dataclass(frozen=True)
class TrainingRows:
    """One row a sample: judges' verdicts, further features, people's counts of loss, tie and win.

    `verdicts[judge]` is the mean score of that judge, NaN where it gave none; `extra` likewise is NaN where unknown.
    `cluster` is the task or item; `family` the maker of the model, where makers are known.
    """

    verdicts: Mapping[str, Floats]
    extra: Mapping[str, Floats]
    people: Floats
    cluster: Codes
    model: Codes
    unit: str = "task"
    """What a cluster is: a task, or a single sample where no task is named."""
    family: Codes | None = None

    @property
    def rated(self) -> NDArray[np.bool_]:
        """Which samples some person judged."""
        some: NDArray[np.bool_] = self.people.sum(axis=1) > 0
        return some

    def only(self, rows: NDArray[np.bool_]) -> TrainingRows:
        return TrainingRows(
            {name: values[rows] for name, values in self.verdicts.items()},
            {name: values[rows] for name, values in self.extra.items()},
            self.people[rows],
            self.cluster[rows],
            self.model[rows],
            self.unit,
            None if self.family is None else self.family[rows],
        )

    def features(self) -> tuple[list[str], Floats]:
        """Per judge its score, how tied it is and whether it is missing; between judges their product and spread.

        A further feature that is unknown somewhere gets a column that says where, and stands at zero there.
        """
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
        for name, values in self.extra.items():
            columns[name] = np.nan_to_num(values)
            columns[f"{name}: missing"] = np.isnan(values).astype(np.float64)
        return list(columns), np.column_stack(list(columns.values()))


def evidence_from(
    ratings: RatingsTable, extra: Mapping[str, Floats] | None = None, *, family: Codes | None = None
) -> TrainingRows:
    """The evidence of a table of ratings: every automatic rater is a judge, every sample a row."""
    verdicts = {}
    for code in np.unique(ratings.rater[~ratings.is_human]):
        rows = ~ratings.is_human & (ratings.rater == code)
        n = np.bincount(ratings.sample[rows], minlength=ratings.n_samples)
        total = np.bincount(ratings.sample[rows], ratings.halves[rows] / 2.0, minlength=ratings.n_samples)
        verdicts[ratings.raters[code]] = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    people = ratings.counts(human=True).astype(np.float64)
    cluster, unit = (np.arange(ratings.n_samples), "sample") if ratings.task is None else (ratings.task, "task")
    return TrainingRows(verdicts, extra or {}, people, cluster, ratings.model, unit, family)


_STEPS = 60
_SMALL = 1e-9


class Multinomial(NamedTuple):
    """Coefficients (features + 1 for the intercept) x (classes - 1); the first class is the reference."""

    coefficients: Floats
    centre: Floats
    scale: Floats

    def probabilities(self, features: Floats) -> Floats:
        return _probabilities(_design(features, self.centre, self.scale), self.coefficients)


def fit_multinomial(features: Floats, counts: Floats, *, ridge: float) -> Multinomial:
    """The penalised maximum likelihood of `counts` (rows x classes, any non-negative weights) by Newton's method.

    Features are standardised; the ridge pulls every coefficient but the intercepts towards zero.
    """
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > _SMALL, scale, 1.0)
    design = _design(features, centre, scale)
    n_columns, n_free = design.shape[1], counts.shape[1] - 1
    penalty = np.full((n_columns, n_free), ridge)
    penalty[0] = _SMALL
    weights = counts.sum(axis=1)
    coefficients = np.zeros((n_columns, n_free))
    best = _objective(design, counts, coefficients, penalty)
    for _ in range(_STEPS):
        chances = _probabilities(design, coefficients)
        gradient = design.T @ (counts - weights[:, None] * chances)[:, 1:] - penalty * coefficients
        hessian = _hessian(design, chances[:, 1:], weights) + np.diag(penalty.T.ravel())
        step = np.linalg.solve(hessian, gradient.T.ravel()).reshape(n_free, n_columns).T
        size = 1.0
        while size > _SMALL and _objective(design, counts, coefficients + size * step, penalty) < best:
            size /= 2
        coefficients = coefficients + size * step
        best = _objective(design, counts, coefficients, penalty)
        if np.abs(size * step).max() < _SMALL:
            break
    return Multinomial(coefficients, centre, scale)


def log_loss(chances: Floats, counts: Floats) -> Floats:
    """Per row, the mean of -log p over the ratings counted in it."""
    losses: Floats = -(counts * np.log(np.maximum(chances, 1e-12))).sum(axis=1) / counts.sum(axis=1)
    return losses


def _design(features: Floats, centre: Floats, scale: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), (features - centre) / scale])


def _probabilities(design: Floats, coefficients: Floats) -> Floats:
    scores = np.column_stack([np.zeros(len(design)), design @ coefficients])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=1, keepdims=True)
    return chances


def _objective(design: Floats, counts: Floats, coefficients: Floats, penalty: Floats) -> float:
    chances = _probabilities(design, coefficients)
    return float((counts * np.log(np.maximum(chances, 1e-300))).sum() - 0.5 * (penalty * coefficients**2).sum())


def _hessian(design: Floats, chances: Floats, weights: Floats) -> Floats:
    n_free, width = chances.shape[1], design.shape[1]
    blocks = np.zeros((n_free * width, n_free * width))
    for one in range(n_free):
        for other in range(n_free):
            curve = weights * chances[:, one] * (float(one == other) - chances[:, other])
            blocks[one * width : (one + 1) * width, other * width : (other + 1) * width] = design.T @ (
                curve[:, None] * design
            )
    return blocks


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
    evidence: TrainingRows, *, folds: int = FOLDS, seed: int = 0, splits: int = SPLITS, level: float = 0.95
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


def _split(features: Floats, evidence: TrainingRows, *, folds: int, seed: int) -> _Split:
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
    what: str, group: Codes | None, features: Floats, evidence: TrainingRows, fold_of: Codes, level: float
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


def _gain(judge: str, scores: Floats, dealt: list[_Split], evidence: TrainingRows, level: float) -> Gain:
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


def _agreement(values: Floats, evidence: TrainingRows, what: str, level: float) -> Estimate:
    clusters = [str(code) for code in evidence.cluster.tolist()]
    return clustered_share(values.tolist(), clusters, what=what, level=level, unit=evidence.unit)
