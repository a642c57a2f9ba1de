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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import SHARE_OF_CELLS, crossed
from guildhall.analysis.intervals import (
    EXACT_BELOW_EVENTS,
    IntervalFields,
    effective_judgments,
    interval_of,
    mean_interval,
    no_interval,
    share_interval,
)
from guildhall.analysis.outcomes import UNKNOWN
from guildhall.analysis.ppi_counts import ScoreCounts, counts_of_rows, ppi_from_counts
from guildhall.analysis.spreads import NO_SPREAD, Spread, joined, tasks_alone
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingToCompare, TooFew

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
FEWEST_LABELLED, _ROUNDING = 3, 1e-20
UNSEEN = 1.3
"""The standard error where no error was seen, times the number of labelled tasks; chosen by simulation."""
UNDRAWN = (
    "nobody knows with what chance each row was to get its label, so this describes the labels that are here; "
    "a column `probability` says it, where labels were drawn"
)


@dataclass(frozen=True)
class PpiRows:
    """One model's rows: `human` is NaN where nobody judged; `task` and `stratum` are codes; all of one length.

    `probability` is the chance with which a row was to get its human label. Where it is None nobody knows how labels
    came about, and without a label on every row they are descriptive only. `grader` names who gave each label (-1 where
    unknown or where there is none). `weight` is what each row weighs in the mean, where tasks are not alike: rows for
    several labels of one piece share its weight; all rows then carry the automatic mean. `known` marks rows whose
    score, in `auto`, is known without any label.
    """

    auto: Floats
    human: Floats
    task: Codes | None = None
    probability: Floats | None = None
    stratum: Codes | None = None
    grader: Codes | None = None
    weight: Floats | None = None
    known: NDArray[np.bool_] | None = None

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
    def drawn(self) -> bool:
        """Whether it is known how labels came about."""
        return self.probability is not None or bool(self.labelled.all())

    @property
    def uniform(self) -> bool:
        """Whether every row had the same chance of a human label, as far as the labelled ones tell."""
        if self.probability is None or not self.labelled.any():
            return True
        return bool(np.ptp(self.probability[self.labelled]) == 0)


@dataclass(frozen=True)
class PpiMean:
    """A prediction-powered mean, the classical one beside it, and what the automatic scores were worth.

    `errors` is what each row adds to the error, for differences paired by task; absent without tasks.
    """

    estimate: Estimate
    classical: Estimate
    lam: float
    effective_human_n: float | None
    n_human: int
    n_auto: int
    n_labelled_tasks: int
    errors: PpiErrors | None
    unseen: float = 0.0
    """What was added to the variance for errors of the automatic grader that so few labels need not show."""


def ppi_mean(
    rows: PpiRows, *, lam: float | None = None, folds: int = 0, level: float = 0.95, what: str = "mean human score"
) -> PpiMean:
    """The prediction-powered mean of one model.

    Interval: the sum of squared task influences, within strata where given, with t over labelled tasks, and what the
    graders of the labels add, tasks and graders crossed; without task and grader rows are the units and the normal
    quantile is used, as in the literature. With few human wins or losses the exact classical interval stands in. Labels
    of which nobody knows how they were drawn give a value without an interval. `lam` fixes lambda (0 is classical);
    `folds` above 1 tunes it for each fold of tasks on the others.
    """
    n_human = int(rows.labelled.sum())
    if n_human < FEWEST_LABELLED:
        raise TooFew("human labels", n_human, needed=FEWEST_LABELLED, what=what)
    counts = _counted(rows) if folds < 2 else None
    solved = _solved_rows(rows, lam, folds) if counts is None else _solved_counts(counts, lam)
    report = _Report(rows, solved, level, what)
    classical = report.classical(solved.plain, solved.plain_spread)
    own = rows.weight is not None and 0 < solved.value < 1  # then an exact interval is its own
    rare = not own and report.too_rare(solved.plain, solved.plain_spread)
    before, after = solved.plain_spread.variance, solved.spread.variance
    rare = rare and (
        rows.weight is None or not 0 < solved.value < 1
    )  # rows with weights have an exact one of their own
    gained = 1.0 if rare or not after > 0 else before / after
    return PpiMean(
        estimate=classical if rare else report.powered(solved.value, solved.spread, gained),
        classical=classical,
        lam=0.0 if rare else solved.lam,
        effective_human_n=n_human * gained if after > 0 and rows.drawn else None,
        n_human=n_human,
        n_auto=len(rows.auto),
        n_labelled_tasks=solved.n_labelled_tasks,
        errors=solved.plain_errors if rare else solved.errors,
        unseen=0.0 if rare else solved.unseen,
    )


def unseen_errors(errors: PpiErrors, lam: float) -> float:
    """By how much the variance falls short of what errors would add that the labels did not happen to show."""
    tasks, at = np.unique(errors.task[errors.weight > 0], return_inverse=True)
    shown = np.square(np.bincount(at, errors.rectified[errors.weight > 0])).sum()
    return max(0.0, float((UNSEEN * lam * errors.weight.sum() / len(tasks)) ** 2 - shown))


class PpiErrors(NamedTuple):
    """What each row adds to the error: as a whole, and through its human label, with the label's weight."""

    task: Codes
    grader: Codes
    whole: Floats
    rectified: Floats
    weight: Floats


class _Solved(NamedTuple):
    """The estimate with its spread, the classical one (lambda 0) with its own, and what each row adds to them."""

    value: float
    spread: Spread
    plain: float
    plain_spread: Spread
    lam: float
    single: bool
    n_labelled_tasks: int
    errors: PpiErrors | None
    plain_errors: PpiErrors | None
    unseen: float = 0.0


def _counted(rows: PpiRows) -> ScoreCounts | None:
    """Rows that are independent units with scores in halves, as counts; None for all others."""
    units = rows.task is None and rows.grader is None and rows.stratum is None and rows.uniform and rows.weight is None
    return counts_of_rows(rows.auto, rows.human) if units and not rows.labelled.all() else None


def _solved_counts(counts: ScoreCounts, lam: float | None) -> _Solved:
    found, plain = ppi_from_counts(counts, lam=lam), ppi_from_counts(counts, lam=0.0)
    n = int(counts.pairs.sum())
    spread, before = (tasks_alone(float(one.variance), n) for one in (found, plain))
    return _Solved(float(found.value), spread, float(plain.value), before, float(found.lam), True, n, None, None)


def _solved_rows(rows: PpiRows, lam: float | None, folds: int) -> _Solved:
    parts = _Parts.of(rows)
    tuned = parts.tune(folds) if lam is None else np.full(len(rows.auto), float(lam))
    n = len(np.unique(parts.task[parts.rectifying > 0]))
    grader, made = np.full(len(rows.auto), UNKNOWN) if rows.grader is None else rows.grader, []
    for one in (tuned, np.zeros(len(rows.auto))):
        value, influence, rectified = parts.solve(one)
        errors = PpiErrors(parts.names[parts.task], grader, influence, rectified, parts.rectifying)
        made.append((value, _spread(parts, errors, n), errors))
    (value, spread, powered), (plain, plain_spread, classical) = made
    unseen = 0.0 if rows.weight is None else unseen_errors(powered, float(tuned.mean()))
    spread = spread._replace(variance=spread.variance + unseen, by_tasks=spread.by_tasks + unseen)
    return _Solved(
        value=value,
        spread=spread,
        plain=plain,
        plain_spread=plain_spread,
        lam=float(tuned.mean()),
        single=parts.single,
        n_labelled_tasks=n,
        errors=None if rows.task is None else powered,
        plain_errors=None if rows.task is None else classical,
        unseen=unseen,
    )


def _spread(parts: _Parts, errors: PpiErrors, n_labelled_tasks: int) -> Spread:
    """What tasks say of it, labelled or not, and what the graders of the labels add."""
    tasks, labelled = tasks_alone(parts.variance(errors.whole), n_labelled_tasks), errors.weight > 0
    if parts.single:
        return tasks
    people = crossed(
        errors.rectified[labelled],
        parts.task[labelled],
        errors.grader[labelled],
        weight=errors.weight[labelled],
        stratum=parts.stratum[labelled],
        share_of_cells=SHARE_OF_CELLS,
    )
    return joined(tasks, people)


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
    known: NDArray[np.bool_]
    shrunk: bool

    @staticmethod
    def of(rows: PpiRows) -> _Parts:
        n, labelled = len(rows.auto), rows.labelled
        names, task = np.unique(np.arange(n) if rows.task is None else rows.task, return_inverse=True)
        stratum = np.zeros(n, dtype=np.intp)
        if rows.stratum is not None:
            stratum = np.unique(rows.stratum, return_inverse=True)[1]
        base = 1 / np.bincount(task)[task] if rows.weight is None else rows.weight
        known = np.zeros(n, dtype=np.bool_) if rows.known is None else rows.known
        share, open_ = (np.bincount(stratum, one) / base.sum() for one in (base, base * ~known))
        # Where every row had the same chance, unlabelled rows alone carry the imputed mean, as in the literature;
        # under unequal chances they are no fair sample, and all rows do.
        unlabelled_alone = rows.weight is None and rows.uniform and not labelled.all()
        imputing = base * (~labelled if unlabelled_alone else 1.0)
        chance = np.ones(n) if rows.probability is None else np.where(labelled, rows.probability, 1.0)
        return _Parts(
            auto=rows.auto,
            human=np.where(labelled, rows.human, 0.0),
            task=task,
            names=names,
            stratum=stratum,
            imputed=_normed(imputing, stratum, share),
            rectifying=_normed(np.where(labelled, base / chance, 0.0), stratum, open_),
            single=rows.task is None and rows.stratum is None and rows.uniform,
            known=known,
            shrunk=rows.weight is not None,
        )

    def solve(self, lam: Floats) -> tuple[float, Floats, Floats]:
        """The estimate at this lambda, each row's share in its error, and what of that its human label moves."""
        residual = self.human - lam * self.auto
        error = self._centre(self.rectifying, residual)
        filled = np.where(self.known, self.auto, lam * self.auto + error)
        rectified = self.rectifying * (residual - error)
        influence = self.imputed * (filled - self._centre(self.imputed, filled)) + rectified
        return float(self.imputed @ filled), influence, rectified

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
        none, whole = (self.solve(np.full(len(self.auto), lam))[1] for lam in (0.0, 1.0))
        c, d = np.bincount(self.task[use], none[use]), np.bincount(self.task[use], (whole - none)[use])
        if not d @ d > _ROUNDING:
            return 0.0
        lam = -(c @ d) / (d @ d)
        if self.shrunk:  # by how far chance alone could give it: a judge that is noise then costs little
            doubt = np.square(d * (c + lam * d)).sum() / np.square(d @ d)
            lam *= max(0.0, 1.0 - doubt / lam**2) if lam > 0 else 0.0
        return float(np.clip(lam, 0, 1))

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
    solved: _Solved
    level: float
    what: str

    def too_rare(self, value: float, spread: Spread) -> bool:
        n_human, n_tasks = int(self.rows.labelled.sum()), self.solved.n_labelled_tasks
        effective = effective_judgments(value, spread.variance, n_clusters=n_tasks, n_judgments=n_human)
        return float(effective) * min(value, 1 - value) < EXACT_BELOW_EVENTS

    def classical(self, value: float, spread: Spread) -> Estimate:
        if not self.rows.drawn:
            return self._estimate(value, no_interval(UNDRAWN, spread))
        if self.solved.single and spread.variance > NO_SPREAD and not self.too_rare(value, spread):
            ends = self._normal(value, spread.variance)
            return self._estimate(value, interval_of(ends, "human labels only, normal", spread))
        found = share_interval(value, spread, n_judgments=int(self.rows.labelled.sum()), level=self.level)
        found["method"] = f"human labels only, {found['method']}"
        return self._estimate(value, found)

    def powered(self, value: float, spread: Spread, gained: float) -> Estimate:
        if not self.rows.drawn:
            return self._estimate(value, no_interval(UNDRAWN, spread))
        if not spread.variance > NO_SPREAD:
            return self._estimate(value, no_interval("nothing varies, so nothing says how sure this is", spread))
        if self.solved.single:
            return self._estimate(value, interval_of(self._normal(value, spread.variance), "PPI++, normal", spread))
        found = mean_interval(value, spread, level=self.level, unit="labelled task")
        if self.rows.weight is not None and 0 < value < 1:
            worth = round(int(self.rows.labelled.sum()) * max(1.0, gained))
            found = share_interval(value, spread, n_judgments=worth, level=self.level, unit="labelled task")
        found["method"] = f"PPI++, {found['method']}"
        return self._estimate(value, found)

    def _normal(self, value: float, variance: float) -> tuple[float, float]:
        reach = NormalDist().inv_cdf(0.5 + self.level / 2) * math.sqrt(variance)
        return value - reach, value + reach

    def _estimate(self, value: float, made: IntervalFields) -> Estimate:
        return Estimate(
            value=value,
            level=self.level,
            estimand=f"{self.what}, tasks drawn from a population",
            unit="row" if self.rows.task is None else "task",
            n_tasks=None if self.rows.task is None else len(np.unique(self.rows.task)),
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
