"""Intervals of savings: tasks resampled as weights, and what can be said where wins or losses are few.

Savings where wins or losses are few: resampling tasks that hold hardly any cannot say how many there might be. The
share of wins, weighted as the ratio weighs it, then has an exact interval. Each end of a ratio's interval reaches as
reaches as far as the resampled one and as the ratio would move if the wins were at that end, the two taken together.

Where it is known who judged, graders are a sample too. What a judgment moves of a ratio's logarithm is what it moves of
the chance of its task, which is worth the time that task then saves; so `crossed` says what graders add, and the
resampled interval is that of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import SHARE_OF_CELLS, Crossing, crossed
from guildhall.analysis.intervals import IntervalFields, about, reach_of, share_interval
from guildhall.analysis.spreads import NO_SPREAD, Spread
from guildhall.analysis.tables import Codes
from guildhall.domain.estimates import Estimate

if TYPE_CHECKING:
    from guildhall.analysis.savings import TaskLedger


Floats = NDArray[np.float64]
EXACT = "exact"


class WhoJudged(NamedTuple):
    """How often each grader found work on each task to do, of how many judgments; `task` is a place in the ledger."""

    task: Codes
    grader: Codes
    won: Floats
    judged: Floats


def graders_spreads(ledger: TaskLedger, spent: Sequence[Floats], saved: Sequence[Floats]) -> list[Spread | None]:
    """How far log(E[H] / E[T]) may be off, from what each task spends, and saves as its chance rises.

    None where no judgment moves the ratio.
    """
    if ledger.votes is None:
        return [None] * len(spent)
    task, grader, won, judged = ledger.votes
    whole = np.sum(spent, axis=1, keepdims=True)
    a_judgment = np.maximum(saved, 0.0) / np.where(whole > 0, whole, 1.0) / ledger.judged
    weight = a_judgment[:, task] * judged
    moved = weight.sum(axis=1)
    shares = a_judgment[:, task] @ won / np.where(moved > 0, moved, 1.0)
    through = a_judgment[:, task] * (won - shares[:, None] * judged)
    errors = ledger.human / ledger.human.sum() - spent / np.where(whole > 0, whole, 1.0)
    for own, said in zip(errors, through, strict=True):
        own -= np.bincount(task, said, len(own))
    tries, n = weight.shape
    rows = Crossing(
        weight.ravel(), group=np.repeat(np.arange(tries), n), task=np.tile(task, tries), grader=np.tile(grader, tries)
    )
    found = rows.spreads(
        (through + (errors / ledger.judged)[:, task] * judged).ravel(),
        through_graders=through.ravel(),
        share_of_cells=SHARE_OF_CELLS,
    )
    return [
        found[at]._replace(skew=(1.0 - 2.0 * share) ** 2) if any_moved > 0 else None
        for at, (share, any_moved) in enumerate(zip(shares.tolist(), moved.tolist(), strict=True))
    ]


def with_graders(found: Estimate, spread: Spread | None) -> Estimate:
    """A ratio whose interval says what tasks leave open, with what graders add on the log scale."""
    if spread is None or found.interval is None or found.value is None:
        return found
    reach = math.log(found.interval[1] / found.value)
    if spread.like_these and spread.by_tasks > NO_SPREAD:
        people = reach_of(spread._replace(variance=spread.of_graders), level=found.level)
        reach = math.hypot(reach * math.sqrt((spread.variance - spread.of_graders) / spread.by_tasks), people)
    ends = found.value * math.exp(-reach), found.value * math.exp(reach)
    return replace(found, interval=ends, method=found.method + spread.words, **about(spread))


class Moved(NamedTuple):
    """The ledger with as few and with as many wins as the exact interval allows, and words for the method."""

    fewest: TaskLedger
    most: TaskLedger
    words: str


def moved_wins(ledger: TaskLedger, *, level: float) -> Moved | None:
    """What wins might have been; None where they and the losses are many, or tasks too few for any interval."""
    share, weight = ledger.won / ledger.judged, ledger.human / ledger.human.sum()
    value = float(weight @ share)
    made = _exact_share(value, weight * (share - value), weight, ledger, level)
    if made["interval"] is None or not made["method"].startswith(EXACT):
        return None
    fewest, most = (_with_share(ledger, value, end) for end in made["interval"])
    return Moved(fewest, most, f"; few wins or losses: {made['method']}")


def _exact_share(value: float, errors: Floats, weight: Floats, ledger: TaskLedger, level: float) -> IntervalFields:
    n_judgments = float(ledger.judged.mean()) / float(weight @ weight)
    spread = crossed(errors, np.arange(len(errors)), weight=weight)
    return share_interval(value, spread, n_judgments=max(len(errors), int(n_judgments)), level=level)


def _with_share(ledger: TaskLedger, value: float, wanted: float) -> TaskLedger:
    """The same tasks with the rarer of wins and losses scaled to the wanted share; where there is none, all alike."""
    lost = ledger.judged - ledger.won
    if value <= 0.5:
        won = ledger.won * wanted / value if value > 0 else ledger.judged * wanted
    else:
        won = ledger.judged - (lost * (1 - wanted) / (1 - value) if value < 1 else ledger.judged * (1 - wanted))
    return replace(ledger, won=np.clip(won, 0.0, ledger.judged))


def reaching(interval: tuple[float, float], value: float, fewest: float, most: float) -> tuple[float, float]:
    """An interval of a ratio, each end moved further by what few wins leave open, on the log scale."""
    low = math.hypot(math.log(value / interval[0]), math.log(value / min(fewest, value)))
    high = math.hypot(math.log(interval[1] / value), math.log(max(most, value) / value))
    return value * math.exp(-low), value * math.exp(high)


def task_weights(n_tasks: int, *, rounds: int, rng: np.random.Generator) -> Floats:
    """How often each task is drawn in each of `rounds` bootstrap samples: rounds x tasks, rows sum to `n_tasks`."""
    drawn = rng.integers(n_tasks, size=(rounds, n_tasks)) + n_tasks * np.arange(rounds)[:, None]
    return np.bincount(drawn.ravel(), minlength=rounds * n_tasks).reshape(rounds, n_tasks).astype(float)


WIDEST = 10_000.0
"""An interval whose upper end is more than so many times its lower one tells nothing."""


def telling(found: Estimate) -> Estimate:
    """The estimate, without an interval that leaves everything open."""
    low, high = found.interval or (1.0, 1.0)
    if low > 0 and high <= WIDEST * low:
        return found
    n = "a task" if found.n_tasks == 1 else f"{found.n_tasks} tasks"
    return replace(found, interval=None, why_no_interval=f"{n} leave open by more than {WIDEST:,.0f} times what it is")


NOTHING_VARIES = "every task spends the same, so nothing varies"
HARDLY_VARIES = (
    "without one or two of these tasks hardly anything varies, so they cannot tell how far the ratio may be off"
)
_HARDLY = 0.1
"""A resample whose own error is under this share of the data's says nothing of the spread."""


Shares = tuple[float | Floats, ...]
"""How much of each column is taken: numbers, or (..., rounds, kinds)."""


class KindSums:
    """Weighted sums over tasks of mixtures of a few columns, in every round, mixed alike for all tasks of a kind.

    Hundreds of tasks are of a few kinds, so many won of so many judged, and rounds differ by kind: what is summed over
    tasks is summed once, and each mixture is then a sum over kinds.
    """

    def __init__(self, columns: Sequence[Floats], kind: NDArray[np.intp], weights: Floats) -> None:
        order = np.argsort(kind, kind="stable")
        kind, weights = kind[order], weights[:, order]
        starts = np.flatnonzero(np.diff(kind, prepend=-1))
        self.n_tasks, self._apart, self._added = len(kind), list[Floats](), list[list[Floats]]()
        # Columns are told apart within each kind, so that mixtures in which they cancel lose no digits when squared.
        for column in (one[order] for one in columns):
            rest, added = column, list[Floats]()
            for other in self._apart:
                both, square = (np.add.reduceat(one * other, starts) for one in (rest, other))
                added.append(np.divide(both, square, out=np.zeros_like(square), where=square > 0))
                rest = rest - added[-1][kind] * other
            self._apart.append(rest)
            self._added.append(added)
        self._sums = [np.add.reduceat(weights * one, starts, axis=1) for one in self._apart]
        self._products = {
            (first, second): np.add.reduceat(weights * (one * other), starts, axis=1) * (1.0 if one is other else 2.0)
            for second, other in enumerate(self._apart)
            for first, one in enumerate(self._apart[: second + 1])
        }
        self.of_first = self._sums[0].sum(axis=1)
        """The sum of the first column over the tasks of each round."""

    def total(self, shares: Shares) -> Floats:
        """The sum of the mixture over the tasks of each round."""
        mixed = (share * one for share, one in zip(self._of_apart(shares), self._sums, strict=True))
        found: Floats = np.asarray(sum(mixed), dtype=np.float64).sum(axis=-1)
        return found

    def total_of_squares(self, shares: Shares) -> Floats:
        """The sum of its squares."""
        of = self._of_apart(shares)
        mixed = (of[first] * of[second] * one for (first, second), one in self._products.items())
        found: Floats = np.maximum(0.0, np.asarray(sum(mixed), dtype=np.float64).sum(axis=-1))
        return found

    def _of_apart(self, shares: Shares) -> Shares:
        """The shares of the columns told apart."""
        return tuple(
            own + sum(added[at] * share for added, share in zip(self._added[at + 1 :], shares[at + 1 :], strict=True))
            for at, own in enumerate(shares)
        )


def ratio_intervals(sums: KindSums, below: Shares, *, level: float) -> list[tuple[float, float] | str]:
    """Symmetric bootstrap-t intervals for mean / mean of `below` over tasks, on the log scale, or why there is none.

    Above stands the first column, below as many mixtures as there are rows of shares. Round 0 is the data. Each round
    is studentised by its own linearised error, which is what keeps the level where a few long tasks carry the mean.
    Where more resamples than the level leaves over hold hardly any spread, the interval would be theirs, however wide:
    then there is none.
    """
    spent = sums.total(below)
    logs = np.log(sums.of_first / spent)
    influence = [-share / spent[..., None] for share in below]
    influence[0] = influence[0] + 1 / sums.of_first[:, None]
    errors = np.sqrt(sums.total_of_squares(tuple(influence)))
    return [_interval(*one, level=level) for one in zip(logs, errors, strict=True)]


def _interval(logs: Floats, errors: Floats, *, level: float) -> tuple[float, float] | str:
    if not errors[0] > 1e-12:
        return NOTHING_VARIES
    usable = errors[1:] > _HARDLY * errors[0]
    if usable.mean() < level:
        return HARDLY_VARIES
    pivots = np.abs(logs[1:][usable] - logs[0]) / errors[1:][usable]
    reach = float(np.quantile(pivots, level)) * errors[0]
    return float(np.exp(logs[0] - reach)), float(np.exp(logs[0] + reach))
