"""Prediction-powered inference: few human and many automatic judgments into one valid interval.

    estimate = lambda x mean of automatic scores + weighted mean of (human - lambda x automatic)

The second term (the rectifier) makes the estimate unbiased whatever the automatic grader gets wrong; lambda is
tuned to make it as narrow as the grader's agreement allows (PPI++). Estimand: the mean over tasks of a task's
mean human score, tasks drawn from a population. Human labels must have been drawn with known probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import (
    EXACT_BELOW_EVENTS,
    NO_SPREAD,
    IntervalFields,
    effective_judgments,
    interval_of,
    no_interval,
    share_interval,
    t_quantile,
)
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingPaired, NothingToCompare, TooFew

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
FEWEST_LABELLED = 3


@dataclass(frozen=True)
class PpiRows:
    """One model's rows: `human` is NaN where nobody judged; `task` and `stratum` are codes; all of one length.

    `probability` is the chance with which a row was to get its human label; None means the same for all.
    """

    auto: Floats
    human: Floats
    task: Codes | None = None
    probability: Floats | None = None
    stratum: Codes | None = None

    def __post_init__(self) -> None:
        if not len(self.auto):
            raise NothingToCompare("a prediction-powered mean")
        if not np.isfinite(self.auto).all():
            raise ImpossibleValue("auto", "missing or NaN", allowed="a score on every row; leave ungradable rows out")
        for name, values in (("auto", self.auto), ("human", self.human[self.labelled])):
            if ((values < 0) | (values > 1)).any():
                raise ImpossibleValue(name, values[(values < 0) | (values > 1)][0], allowed="between 0 and 1")
        if self.probability is not None:
            known = self.probability[self.labelled]
            if not ((known > 0) & (known <= 1)).all():
                raise ImpossibleValue("probability", "0, above 1 or missing", allowed="in (0, 1] on every labelled row")

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.human)

    @property
    def uniform(self) -> bool:
        """Whether every row had the same chance of a human label, as far as the labelled ones tell."""
        if self.probability is None or not self.labelled.any():
            return True
        return bool(np.ptp(self.probability[self.labelled]) == 0)


@dataclass(frozen=True)
class PpiMean:
    """A prediction-powered mean, the classical one beside it, and what the automatic scores were worth.

    `influence` is each task's share in the error, by task code, for differences paired by task.
    """

    estimate: Estimate
    classical: Estimate
    lam: float
    effective_human_n: float | None
    n_human: int
    n_auto: int
    n_labelled_tasks: int
    influence: dict[int, float]


def ppi_mean(
    rows: PpiRows, *, lam: float | None = None, folds: int = 0, level: float = 0.95, what: str = "mean human score"
) -> PpiMean:
    """The prediction-powered mean of one model.

    Interval: the sum of squared task influences, within strata where given, with t over labelled tasks; without
    a task column rows are the units and the normal quantile is used, as in the literature. With few human wins or
    losses the exact classical interval stands in. `lam` fixes lambda (0 is classical); `folds` above 1 tunes it for
    each fold of tasks on the others.
    """
    labelled = rows.labelled
    if labelled.sum() < FEWEST_LABELLED:
        raise TooFew("human labels", int(labelled.sum()), needed=FEWEST_LABELLED, what=what)
    parts = _Parts.of(rows)
    tuned = parts.tune(folds) if lam is None else np.full(len(rows.auto), float(lam))
    value, influence = parts.solve(tuned)
    plain, plain_influence = parts.solve(np.zeros(len(rows.auto)))
    spread, plain_spread = parts.variance(influence), parts.variance(plain_influence)
    report = _Report(rows, parts, level, what)
    classical = report.classical(plain, plain_spread)
    rare = report.too_rare(plain, plain_spread)
    estimate = classical if rare else report.powered(value, spread)
    by_task = np.bincount(parts.task, plain_influence if rare else influence)
    return PpiMean(
        estimate=estimate,
        classical=classical,
        lam=0.0 if rare else float(tuned.mean()),
        effective_human_n=int(labelled.sum()) * (1.0 if rare else plain_spread / spread) if spread > 0 else None,
        n_human=int(labelled.sum()),
        n_auto=len(rows.auto),
        n_labelled_tasks=report.n_labelled_tasks,
        influence=dict(zip(parts.names.tolist(), by_task.tolist(), strict=True)),
    )


def ppi_difference(first: PpiMean, second: PpiMean, *, what: str = "difference", level: float = 0.95) -> Estimate:
    """First minus second, paired by task: what both share on a task cancels. Task codes must mean the same in both."""
    shared = first.influence.keys() & second.influence.keys()
    if not shared:
        raise NothingPaired("first", "second")
    tasks = sorted(first.influence.keys() | second.influence.keys())
    gaps = np.array([first.influence.get(task, 0.0) - second.influence.get(task, 0.0) for task in tasks])
    a, b = first.estimate.value, second.estimate.value
    value = None if a is None or b is None else a - b
    df = min(first.n_labelled_tasks, second.n_labelled_tasks) - 1
    error = math.sqrt(float((gaps**2).sum()) * (df + 1) / max(df, 1))
    if value is None or not error > 0:
        return Estimate(
            value=value,
            estimand=what,
            method="prediction-powered, paired by task",
            why_no_interval="nothing varies",
        )
    reach = t_quantile(0.5 + level / 2, df) * error
    return Estimate(
        value=value,
        interval=(value - reach, value + reach),
        estimand=what,
        method="prediction-powered, paired by task",
        level=level,
        n_tasks=len(tasks),
    )


@dataclass(frozen=True)
class _Parts:
    """Weights of the two terms: `imputed` over automatic scores, `rectifying` over human labels; each sums to 1."""

    auto: Floats
    human: Floats
    task: Codes
    names: Codes
    stratum: Codes
    imputed: Floats
    rectifying: Floats
    single: bool

    @staticmethod
    def of(rows: PpiRows) -> _Parts:
        n, labelled = len(rows.auto), rows.labelled
        names, task = np.unique(np.arange(n) if rows.task is None else rows.task, return_inverse=True)
        stratum = np.zeros(n, dtype=np.intp)
        if rows.stratum is not None:
            stratum = np.unique(rows.stratum, return_inverse=True)[1]
        base = 1 / np.bincount(task)[task]
        share = np.bincount(stratum, base) / base.sum()
        # Where every row had the same chance, unlabelled rows alone carry the imputed mean, as in the literature;
        # under unequal chances they are no fair sample, and all rows do.
        imputing = base * (~labelled if rows.uniform and not labelled.all() else 1.0)
        chance = np.ones(n) if rows.probability is None else np.where(labelled, rows.probability, 1.0)
        return _Parts(
            auto=rows.auto,
            human=np.where(labelled, rows.human, 0.0),
            task=task,
            names=names,
            stratum=stratum,
            imputed=_normed(imputing, stratum, share),
            rectifying=_normed(np.where(labelled, base / chance, 0.0), stratum, share),
            single=rows.task is None and rows.stratum is None and rows.uniform,
        )

    def solve(self, lam: Floats) -> tuple[float, Floats]:
        """The estimate at this lambda and each row's share in its error."""
        residual = self.human - lam * self.auto
        value = float((self.imputed * lam) @ self.auto + self.rectifying @ residual)
        auto_centre = self._centre(self.imputed, lam * self.auto)
        residual_centre = self._centre(self.rectifying, residual)
        influence = self.imputed * (lam * self.auto - auto_centre) + self.rectifying * (residual - residual_centre)
        return value, influence

    def variance(self, influence: Floats) -> float:
        """Sum of squares over tasks; with strata, tasks few in a stratum count for more."""
        by_task = np.bincount(self.task, influence)
        if self.single:
            return float(by_task @ by_task)
        stratum_of = np.zeros(len(by_task), dtype=np.intp)
        stratum_of[self.task] = self.stratum
        carries = np.bincount(stratum_of[np.unique(self.task[self.rectifying > 0])], minlength=stratum_of.max() + 1)
        few = carries / np.maximum(carries - 1, 1)
        return float((by_task**2 * few[stratum_of]).sum())

    def tune(self, folds: int) -> Floats:
        """Lambda for each row: one for all, or for each fold of tasks the one tuned on the other folds."""
        if not (self.imputed > 0).any() or ((self.imputed > 0) <= (self.rectifying > 0)).all():
            return np.zeros(len(self.auto))
        if folds < 2:
            return np.full(len(self.auto), self._best(np.ones(len(self.auto), dtype=bool)))
        fold = self.task % folds
        chosen = np.array([self._best(fold != one) for one in range(folds)])
        return chosen[fold]

    def _best(self, use: NDArray[np.bool_]) -> float:
        if self.single:
            return self._best_single(use)
        human = self.rectifying * (self.human - self._centre(self.rectifying, self.human))
        auto = self.imputed * (self.auto - self._centre(self.imputed, self.auto))
        auto -= self.rectifying * (self.auto - self._centre(self.rectifying, self.auto))
        c, d = np.bincount(self.task[use], human[use]), np.bincount(self.task[use], auto[use])
        return float(np.clip(-(c @ d) / (d @ d), 0, 1)) if d @ d > 0 else 0.0

    def _best_single(self, use: NDArray[np.bool_]) -> float:
        """The closed form of PPI++ for independent rows."""
        labelled, unlabelled = use & (self.rectifying > 0), use & (self.rectifying == 0)
        n, rest = int(labelled.sum()), int(unlabelled.sum())
        human, auto = self.human[labelled], self.auto[labelled]
        covariance = float((human - human.mean()) @ (auto - auto.mean())) / n
        spread = float(self.auto[use].var(ddof=1)) * (1 + n / rest)
        return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0

    def _centre(self, weights: Floats, values: Floats) -> Floats:
        sums = np.bincount(self.stratum, weights)
        means = np.bincount(self.stratum, weights * values) / np.where(sums > 0, sums, 1.0)
        return means[self.stratum]


@dataclass(frozen=True)
class _Report:
    rows: PpiRows
    parts: _Parts
    level: float
    what: str

    @property
    def n_labelled_tasks(self) -> int:
        return len(np.unique(self.parts.task[self.parts.rectifying > 0]))

    def too_rare(self, value: float, variance: float) -> bool:
        n_human, n_tasks = int(self.rows.labelled.sum()), self.n_labelled_tasks
        effective = effective_judgments(value, variance, n_clusters=n_tasks, n_judgments=n_human)
        return float(effective) * min(value, 1 - value) < EXACT_BELOW_EVENTS

    def classical(self, value: float, variance: float) -> Estimate:
        if self.parts.single and variance > NO_SPREAD and not self.too_rare(value, variance):
            return self._estimate(value, interval_of(self._normal(value, variance), "human labels only, normal"))
        found = share_interval(
            value,
            variance,
            n_clusters=self.n_labelled_tasks,
            n_judgments=int(self.rows.labelled.sum()),
            level=self.level,
        )
        found["method"] = f"human labels only, {found['method']}"
        return self._estimate(value, found)

    def powered(self, value: float, variance: float) -> Estimate:
        if not variance > NO_SPREAD:
            return self._estimate(value, no_interval("nothing varies, so nothing says how sure this is"))
        if self.parts.single:
            return self._estimate(value, interval_of(self._normal(value, variance), "PPI++, normal"))
        reach = t_quantile(0.5 + self.level / 2, self.n_labelled_tasks - 1) * math.sqrt(variance)
        return self._estimate(value, interval_of((value - reach, value + reach), "PPI++, t over labelled tasks"))

    def _normal(self, value: float, variance: float) -> tuple[float, float]:
        reach = NormalDist().inv_cdf(0.5 + self.level / 2) * math.sqrt(variance)
        return value - reach, value + reach

    def _estimate(self, value: float, made: IntervalFields) -> Estimate:
        return Estimate(
            value=value,
            level=self.level,
            estimand=f"{self.what}, tasks drawn from a population",
            unit="row" if self.rows.task is None else "task",
            n_tasks=None if self.rows.task is None else int(self.parts.task.max()) + 1,
            n_samples=len(self.rows.auto),
            n_judgments=int(self.rows.labelled.sum()),
            **made,
        )


def _normed(weights: Floats, stratum: Codes, share: Floats) -> Floats:
    """Scale weights to each stratum's share; a stratum without any weight is refused."""
    sums = np.bincount(stratum, weights, minlength=len(share))
    if (sums <= 0).any():
        raise NothingToCompare("a stratum without human labels, or without automatic scores beside them")
    return weights * (share / sums)[stratum]
