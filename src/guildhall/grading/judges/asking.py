"""Which verdicts are still to be asked for: every order of every sweep of every comparison is one verdict.

What was judged is not asked again. A failure is kept; asked again, the new judgment names the one it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.values import Digest
from guildhall.grading.design import latin_orders
from guildhall.store.records import Store

SWEEPS = 3
MOST_SWEEPS = 100

Place = tuple[Digest, tuple[Digest, ...], int]
"""Comparison, order and sweep: what one verdict is about."""


@dataclass(frozen=True)
class Asked:
    """One verdict to be asked for; `attempt` counts from 0, and `replaces` names the failure before it."""

    comparison: Comparison
    order: tuple[Digest, ...]
    sweep: int
    attempt: int = 0
    replaces: Digest | None = None

    @property
    def sample(self) -> int:
        """The number that tells this answer apart from every other answer to the same question."""
        return self.attempt * MOST_SWEEPS + self.sweep


@dataclass(frozen=True)
class _Last:
    key: Digest
    failed: bool
    attempts: int


class Kept:
    """The verdicts of one judge that a store holds, as an index that stays small however long the reasons are.

    A judge goes by several graders' keys where it works under several prompts: one for pairs, one for rankings.
    """

    def __init__(
        self, store: Store, graders: Iterable[ModelGrader], *, among: Sequence[Comparison] | None = None
    ) -> None:
        """`among` narrows the index to a few comparisons, where all of a judge's verdicts would be too many to read."""
        self._last: dict[Place, _Last] = {}
        self._costs: dict[Digest, float | None] = {}
        narrowed = {} if among is None else {"comparison": [one.key for one in among]}
        for judgment in store.each(Judgment, grader=[grader.key for grader in graders], **narrowed):
            place = (judgment.comparison, judgment.order, judgment.sweep)
            self._costs[judgment.comparison] = _more(self._costs.get(judgment.comparison, 0.0), judgment)
            before = self._last.get(place)
            attempts = before.attempts + 1 if before else 1
            if before is None or before.failed:
                self._last[place] = _Last(judgment.key, judgment.ranks is None, attempts)

    def missing(self, comparisons: Iterable[Comparison], *, sweeps: int, again: bool) -> Iterator[Asked]:
        """What is to be asked: verdicts nobody asked for yet and, with `again`, those that failed."""
        for comparison in comparisons:
            for sweep in range(1, sweeps + 1):
                for order in orders(comparison):
                    last = self._last.get((comparison.key, order, sweep))
                    if last is None:
                        yield Asked(comparison, order, sweep)
                    elif last.failed and again:
                        yield Asked(comparison, order, sweep, attempt=last.attempts, replaces=last.key)

    def counts(self, comparisons: Sequence[Comparison], *, sweeps: int) -> tuple[int, int]:
        """Verdicts and failures among what these comparisons ask for."""
        wanted = [
            self._last.get((one.key, order, sweep))
            for one in comparisons
            for sweep in range(1, sweeps + 1)
            for order in orders(one)
        ]
        found = [last for last in wanted if last is not None]
        return sum(not last.failed for last in found), sum(last.failed for last in found)

    def cost_usd(self, comparisons: Iterable[Comparison]) -> float | None:
        """What all answers on these comparisons cost, failures included; unknown as soon as one price is."""
        costs = [self._costs.get(one.key, 0.0) for one in comparisons]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def _more(cost: float | None, judgment: Judgment) -> float | None:
    own = judgment.usage.cost_usd if judgment.usage is not None else None
    return None if cost is None or own is None else cost + own


def orders(comparison: Comparison) -> list[tuple[Digest, ...]]:
    """Both orders of a pair; for more sides the rows of a balanced Latin square."""
    return [tuple(comparison.submissions[index] for index in row) for row in latin_orders(len(comparison.submissions))]
