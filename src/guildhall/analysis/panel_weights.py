"""Votes for the members of a panel, fitted to what people said: who has earned how much of a say.

Model: the chance that people prefer the model's work is the logistic of the members' votes, each times its weight. A
vote is 1, 0 or -1; there is no intercept, since a panel has no opinion of its own. Weights are not negative, and a
ridge pulls them towards each other: where there is little to learn from, all members vote alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.accountability import clustered_share
from guildhall.analysis.calibrator import FOLDS, SPLITS, agreements
from guildhall.analysis.splits import OverSplits, fold_by_cluster, margin_over_splits
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate
from guildhall.errors import NotEnoughData

RIDGES = (0.3, 3.0, 30.0, 300.0)
_STEPS = 50
_FLOOR = 0.01
"""Holds the overall size of the weights, which voting does not depend on."""
_EVEN = 1e-9


@dataclass(frozen=True)
class Ballots:
    """One row for every verdict that members gave on the same order of the same sweep, NaN where one gave none.

    `votes` are scores of 0, 0.5 or 1, a column a member; `sample` says which row of `people` and `cluster` it is about.
    """

    members: tuple[str, ...]
    votes: Floats
    sample: Codes
    people: Floats
    cluster: Codes
    unit: str = "task"


@dataclass(frozen=True)
class FittedPanel:
    """Fitted votes (their mean is 1) with what they gain out of fold over equal votes and over the best member."""

    weights: dict[str, float]
    ridge: float
    folds: int
    seed: int
    looks: int
    agreement: Estimate
    equal_votes: Estimate
    best_member: str
    best_member_agreement: float
    over_equal: OverSplits
    over_best: OverSplits


def fit_panel(
    ballots: Ballots, *, folds: int = FOLDS, seed: int = 0, splits: int = SPLITS, level: float = 0.95
) -> FittedPanel:
    """Fit on everything, and measure out of fold, by whole tasks and over several deals of them."""
    if len(ballots.members) < 2:
        raise NotEnoughData("a panel has two members or more; name them under [[judges]] and let them judge")
    equal = panel_agreement(ballots, np.ones(len(ballots.members)))
    alone = [_member_agreement(ballots, number) for number in range(len(ballots.members))]
    best = int(np.argmax([np.nanmean(one) for one in alone]))
    fold_of = [fold_by_cluster(ballots.cluster, folds=folds, seed=seed + number) for number in range(splits)]
    fitted = [_out_of_fold(ballots, one) for one in fold_of]
    ridge = _best_ridge(ballots, np.ones(len(ballots.people), dtype=bool), fold_of[0])
    weights = fit_weights(ballots, np.ones(len(ballots.people), dtype=bool), ridge=ridge)
    names = [str(code) for code in ballots.cluster.tolist()]

    def share(values: Floats, what: str) -> Estimate:
        return clustered_share(values.tolist(), names, what=what, level=level, unit=ballots.unit)

    def over(other: Floats, what: str) -> OverSplits:
        spoke = ~np.isnan(other)
        margins = [(one - other)[spoke] for one in fitted]
        return margin_over_splits(margins, ballots.cluster[spoke], what=what, unit=ballots.unit, level=level)

    return FittedPanel(
        weights=dict(zip(ballots.members, weights.tolist(), strict=True)),
        ridge=ridge,
        folds=folds,
        seed=seed,
        looks=splits,
        agreement=share(fitted[0], "agreement of the panel with people, out of fold"),
        equal_votes=share(equal, "agreement of equal votes with people"),
        best_member=ballots.members[best],
        best_member_agreement=float(np.nanmean(alone[best])),
        over_equal=over(equal, "agreement gained over equal votes"),
        over_best=over(alone[best], f"agreement gained over {ballots.members[best]}"),
    )


def fit_weights(ballots: Ballots, rows: NDArray[np.bool_], *, ridge: float) -> Floats:
    """The votes learnt from the samples in `rows`; equal ones where nobody is shown to be worth listening to."""
    found = _fitted(_heard(ballots, rows), ridge)
    total = found.sum()
    return found / total * len(found) if total > _EVEN else np.ones(len(found))


class _Heard(NamedTuple):
    """Votes of some samples as 1, 0 or -1, what people said as a share for the model, and how much each row counts."""

    votes: Floats
    target: Floats
    weight: Floats


def _heard(ballots: Ballots, rows: NDArray[np.bool_]) -> _Heard:
    kept = rows[ballots.sample]
    sample = ballots.sample[kept]
    people = ballots.people[sample]
    weight = people.sum(axis=1) / np.bincount(sample, minlength=len(ballots.people))[sample]
    target = (people[:, 1] * 0.5 + people[:, 2]) / people.sum(axis=1)
    return _Heard(_signed(ballots.votes[kept]), target, weight)


def _fitted(heard: _Heard, ridge: float) -> Floats:
    """Weights on the scale of log odds, none below zero."""
    active = np.ones(heard.votes.shape[1], dtype=bool)
    found = np.zeros(len(active))
    while active.any():
        found[:] = 0.0
        found[active] = _newton(heard._replace(votes=heard.votes[:, active]), ridge)
        if (found[active] >= 0).all():
            break
        # Whoever votes against people gets no say; the others are fitted again without it.
        active &= found > 0
    return np.maximum(found, 0.0)


def _newton(heard: _Heard, ridge: float) -> Floats:
    votes, target, weight = heard
    n = votes.shape[1]
    penalty = ridge * (np.eye(n) - np.full((n, n), 1 / n)) + _FLOOR * np.eye(n)
    weights = np.zeros(n)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-votes @ weights))
        gradient = votes.T @ (weight * (target - chance)) - penalty @ weights
        hessian = votes.T @ ((weight * chance * (1 - chance))[:, None] * votes) + penalty
        step = np.linalg.solve(hessian, gradient)
        # Large steps are cut: far out the logistic is flat, and Newton would jump past everything.
        weights = weights + step * min(1.0, 2.0 / max(float(np.abs(step).max()), _EVEN))
        if float(np.abs(step).max()) < _EVEN:
            break
    return weights


def panel_agreement(ballots: Ballots, weights: Floats) -> Floats:
    """Per sample, the mean agreement of the panel's verdicts with people: each row of ballots gives one verdict."""
    sums = _signed(ballots.votes) @ weights
    verdicts = np.where(np.abs(sums) < _EVEN, 0.5, np.where(sums > 0, 1.0, 0.0))
    each = agreements(verdicts, ballots.people[ballots.sample])
    n = np.bincount(ballots.sample, minlength=len(ballots.people))
    means: Floats = np.bincount(ballots.sample, each, minlength=len(ballots.people)) / n
    return means


def _member_agreement(ballots: Ballots, member: int) -> Floats:
    """The same for one member by itself, on the rows it voted in; NaN for samples it gave no verdict on."""
    spoke = ~np.isnan(ballots.votes[:, member])
    sample = ballots.sample[spoke]
    each = agreements(ballots.votes[spoke, member], ballots.people[sample])
    n = np.bincount(sample, minlength=len(ballots.people))
    total = np.bincount(sample, each, minlength=len(ballots.people))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _out_of_fold(ballots: Ballots, fold_of: Codes) -> Floats:
    """Every sample's agreement under weights that saw nothing of its fold."""
    found = np.empty(len(ballots.people))
    for fold in np.unique(fold_of):
        train = fold_of != fold
        weights = fit_weights(ballots, train, ridge=_best_ridge(ballots, train, fold_of))
        found[~train] = panel_agreement(ballots, weights)[~train]
    return found


def _best_ridge(ballots: Ballots, rows: NDArray[np.bool_], fold_of: Codes) -> float:
    """The ridge with the least log loss over the training part's own folds; the strongest where there is only one."""
    inner = fold_of % 3
    parts = [part for part in np.unique(inner[rows]) if (rows & (inner != part)).any()]
    if len(parts) < 2:
        return RIDGES[-1]
    train = [_heard(ballots, rows & (inner != part)) for part in parts]
    test = [_heard(ballots, rows & (inner == part)) for part in parts]
    totals = [
        sum(_loss(held, _fitted(learnt, ridge)) for learnt, held in zip(train, test, strict=True)) for ridge in RIDGES
    ]
    return RIDGES[int(np.argmin(totals))]


def _loss(heard: _Heard, weights: Floats) -> float:
    odds = heard.votes @ weights
    return float((heard.weight * (np.logaddexp(0.0, odds) - heard.target * odds)).sum())


def _signed(votes: Floats) -> Floats:
    signed: Floats = np.nan_to_num(2.0 * votes - 1.0)
    return signed
