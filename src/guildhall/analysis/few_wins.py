"""Savings where wins or losses are few: resampling tasks that hold hardly any cannot say how many there might be.

The share of wins, weighted as the ratio weighs it, then has an exact interval. Each end of a ratio's interval reaches
as far as the resampled one and as the ratio would move if the wins were at that end, the two taken together.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import cluster_variance, matched_df
from guildhall.analysis.intervals import IntervalFields, share_interval

if TYPE_CHECKING:
    from guildhall.analysis.savings import TaskLedger

Floats = NDArray[np.float64]
EXACT = "exact"


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
    return share_interval(
        value,
        cluster_variance(errors),
        n_clusters=len(errors),
        n_judgments=max(len(errors), int(n_judgments)),
        level=level,
        df=matched_df(errors),
    )


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
