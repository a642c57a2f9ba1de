"""Prediction-powered Bradley-Terry scores: a few human and many automatic comparisons of pairs.

The likelihood of the automatic outcomes on unlabelled pairs is corrected, on labelled pairs, by the difference
between human and automatic outcomes. A tie is half a win for either side. Scores are natural log-odds, mean 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import FEWEST_CLUSTERS, about, reach_of
from guildhall.analysis.spreads import Spread, joined, tasks_alone
from guildhall.domain.estimates import Estimate
from guildhall.errors import DisconnectedGraph, SeparatedModels, TooFew

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_NO_END = 15.0
"""Log-odds past which a likelihood that still climbs has no maximum."""


@dataclass(frozen=True)
class PairRows:
    """Comparisons of `left` with `right` (codes into `models`); scores from the left side, `human` NaN where none."""

    models: tuple[str, ...]
    left: Codes
    right: Codes
    auto: Floats
    human: Floats
    task: Codes | None = None
    grader: Codes | None = None
    """Who gave each human score; -1 where unknown or where there is none."""


@dataclass(frozen=True)
class PpiRatings:
    models: tuple[str, ...]
    scores: tuple[Estimate, ...]
    lam: float
    covariance: Floats
    effective_human_n: float


def ppi_ratings(rows: PairRows, *, lam: float | None = None, level: float = 0.95) -> PpiRatings:
    """Scores with sandwich intervals clustered by task (by row without tasks), the graders of the human scores crossed
    with them where they are named; lambda minimises their total variance.

    Refuses pairs that fall into groups, and models that won or lost everything, whose score has no end.
    """
    fit = _PairFit(rows)
    if lam is None:
        first = fit.scores_at(1.0 if fit.n_alone else 0.0)
        lam = fit.best_lambda(first) if fit.n_alone else 0.0
    scores = fit.scores_at(lam)
    covariance = fit.covariance(scores, lam)
    classical = float(np.trace(fit.covariance(scores, 0.0)))
    spreads = fit.spreads(scores, lam, covariance)
    reach = [reach_of(one, level=level) for one in spreads]
    return PpiRatings(
        models=rows.models,
        scores=tuple(
            Estimate(
                value=float(score),
                interval=(float(score - width), float(score + width)),
                level=level,
                estimand=f"Bradley-Terry score of {model}, natural log-odds, mean 0, ties half",
                method=f"prediction-powered likelihood, lambda {lam:.3f}, sandwich by {fit.unit}{spread.words}",
                **about(spread),
                unit=fit.unit,
                n_tasks=fit.n_tasks if rows.task is not None else None,
                n_samples=len(rows.auto),
                n_judgments=fit.n_labelled,
            )
            for model, score, width, spread in zip(rows.models, scores, reach, spreads, strict=True)
        ),
        lam=lam,
        covariance=covariance,
        effective_human_n=fit.n_labelled * classical / float(np.trace(covariance)),
    )


class _PairFit:
    """Newton's method on the corrected likelihood; gauge: scores sum to 0."""

    def __init__(self, rows: PairRows) -> None:
        self.rows, self.size = rows, len(rows.models)
        self.labelled = ~np.isnan(rows.human)
        self.n_labelled = int(self.labelled.sum())
        self.n_alone = len(rows.auto) - self.n_labelled
        self.task = np.arange(len(rows.auto)) if rows.task is None else np.unique(rows.task, return_inverse=True)[1]
        self.unit = "row" if rows.task is None else "task"
        self.n_tasks = int(self.task.max()) + 1
        self.n_labelled_tasks = len(np.unique(self.task[self.labelled]))
        self.human = np.where(self.labelled, rows.human, 0.0)
        if self.n_labelled_tasks < FEWEST_CLUSTERS:
            found = f"{self.unit}s with human labels"
            raise TooFew(found, self.n_labelled_tasks, needed=FEWEST_CLUSTERS, what="prediction-powered ratings")
        self._require_linked()

    def scores_at(self, lam: float) -> Floats:
        """The scores at which the corrected likelihood is flat."""
        weight, target = self._weights(lam), self._targets(lam)
        scores = np.zeros(self.size)
        for _ in range(200):
            chance = self._chance(scores)
            slope = self._to_models(target - weight * chance)
            step = np.linalg.solve(self._curvature(weight * chance * (1 - chance)), slope)
            scores = scores + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
            if np.abs(step).max() < 1e-12:
                centred: Floats = scores - scores.mean()
                return centred
            if np.abs(scores).max() > _NO_END:
                break
        worst = int(np.abs(scores).argmax())
        raise SeparatedModels([self.rows.models[worst]])

    def best_lambda(self, scores: Floats) -> float:
        human, auto = self._influence(scores)
        return float(np.clip(-(human * auto).sum() / (auto**2).sum(), 0, 1))

    def covariance(self, scores: Floats, lam: float) -> Floats:
        human, auto = self._influence(scores)
        total = human + lam * auto
        few = self.n_labelled_tasks / max(self.n_labelled_tasks - 1, 1)
        product: Floats = total.T @ total * few
        return product

    def spreads(self, scores: Floats, lam: float, covariance: Floats) -> list[Spread]:
        """Of each score: what tasks say, and what the graders of the human scores add."""
        of_tasks = [tasks_alone(own, self.n_labelled_tasks) for own in np.diag(covariance).tolist()]
        if self.rows.grader is None:
            return of_tasks
        which, chance = self.labelled, self._chance(scores)
        moved = ((self.human - chance) - lam * (self.rows.auto - chance))[which] / self.n_labelled
        inverse = np.linalg.inv(self._curvature(chance * (1 - chance) / len(chance)))
        rows = moved[:, None] * (inverse[self.rows.left[which]] - inverse[self.rows.right[which]])
        task, grader = self.task[which], self.rows.grader[which]
        return [joined(own, crossed(one, task, grader)) for own, one in zip(of_tasks, rows.T, strict=True)]

    def _influence(self, scores: Floats) -> tuple[Floats, Floats]:
        """What each task adds to the error of each score: the human part, and the part that lambda multiplies."""
        chance = self._chance(scores)
        human = np.where(self.labelled, (self.human - chance) / self.n_labelled, 0.0)
        auto = np.where(self.labelled, -1 / self.n_labelled, 1 / max(self.n_alone, 1)) * (self.rows.auto - chance)
        inverse = np.linalg.inv(self._curvature(chance * (1 - chance) / len(chance)))
        return self._by_task(human) @ inverse, self._by_task(auto) @ inverse

    def _weights(self, lam: float) -> Floats:
        return np.where(self.labelled, (1 - lam) / self.n_labelled, lam / max(self.n_alone, 1))

    def _targets(self, lam: float) -> Floats:
        corrected = (self.human - lam * self.rows.auto) / self.n_labelled
        return np.where(self.labelled, corrected, lam * self.rows.auto / max(self.n_alone, 1))

    def _chance(self, scores: Floats) -> Floats:
        gap = scores[self.rows.left] - scores[self.rows.right]
        return 0.5 * (1 + np.tanh(gap / 2))

    def _to_models(self, values: Floats) -> Floats:
        won, lost = np.bincount(self.rows.left, values, self.size), np.bincount(self.rows.right, values, self.size)
        return np.asarray(won - lost, dtype=np.float64)

    def _curvature(self, weight: Floats) -> Floats:
        flat = np.bincount(self.rows.left * self.size + self.rows.right, weight, self.size**2)
        both = flat.reshape(self.size, self.size)
        both = both + both.T
        curvature: Floats = np.diag(both.sum(axis=1)) - both
        # The mean of all scores is free; fixing it keeps the system solvable without moving the differences.
        return curvature + np.full_like(curvature, np.trace(curvature) / self.size**2)

    def _by_task(self, values: Floats) -> Floats:
        rows = np.zeros((self.n_tasks, self.size))
        np.add.at(rows, (self.task, self.rows.left), values)
        np.add.at(rows, (self.task, self.rows.right), -values)
        return rows

    def _require_linked(self) -> None:
        group = np.arange(self.size)
        left, right = self.rows.left[self.labelled], self.rows.right[self.labelled]
        for _ in range(self.size):
            lower = np.minimum(group[left], group[right])
            np.minimum.at(group, left, lower)
            np.minimum.at(group, right, lower)
        if len(np.unique(group)) > 1:
            groups = [[self.rows.models[i] for i in np.flatnonzero(group == one)] for one in np.unique(group)]
            raise DisconnectedGraph(groups)
