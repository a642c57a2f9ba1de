"""Prediction-powered means from counts: the cost no longer depends on the number of rows.

For scores in {0, 0.5, 1} all that matters is how often each pair of (human, automatic) scores occurred, and how
often each automatic score occurred without a human one. Many groups are solved in one go.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import ImpossibleValue, NothingToCompare

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
SCORES = np.array([0.0, 0.5, 1.0])
_BLOCK = 1 << 18


@dataclass(frozen=True)
class ScoreCounts:
    """`pairs[..., human, auto]` of labelled rows and `alone[..., auto]` of the others; scores as 0, 1, 2 halves."""

    pairs: Counts
    alone: Counts

    def __post_init__(self) -> None:
        if (self.pairs.sum(axis=(-2, -1)) < 2).any() or (self.alone.sum(axis=-1) < 1).any():
            raise NothingToCompare("a prediction-powered mean: a group has under 2 human labels or no row without one")


@dataclass(frozen=True)
class PpiIntervals:
    """Arrays over groups; rows are independent units, so the normal quantile is used."""

    value: Floats
    variance: Floats
    low: Floats
    high: Floats
    lam: Floats
    effective_human_n: Floats


def count_scores(human: NDArray[np.int8], auto: NDArray[np.int8], alone: NDArray[np.int8]) -> ScoreCounts:
    """Count scores given in halves (0, 1, 2), in blocks, so that no temporary is larger than a block."""
    pairs = np.bincount(3 * human.astype(np.intp) + auto, minlength=9)
    if len(pairs) > 9 or _tally(auto).sum() != len(auto):
        raise ImpossibleValue("a score in halves", "above 2 or below 0", allowed="0 (loss), 1 (tie) or 2 (win)")
    return ScoreCounts(pairs.reshape(3, 3), _tally(alone))


def _tally(halves: NDArray[np.int8]) -> Counts:
    counts = np.zeros(3, dtype=np.int64)
    for start in range(0, len(halves), _BLOCK):
        block = halves[start : start + _BLOCK]
        wins, ties = np.count_nonzero(block == 2), np.count_nonzero(block == 1)
        losses = np.count_nonzero(block == 0)
        if wins + ties + losses != len(block):
            raise ImpossibleValue("a score in halves", "above 2 or below 0", allowed="0 (loss), 1 (tie) or 2 (win)")
        counts += (losses, ties, wins)
    return counts


def ppi_from_counts(counts: ScoreCounts, *, lam: float | None = None, level: float = 0.95) -> PpiIntervals:
    """The mean human score of every group at once, equal to what the rows would give."""
    n, rest = counts.pairs.sum(axis=(-2, -1)), counts.alone.sum(axis=-1)
    human, auto = counts.pairs.sum(axis=-1), counts.pairs.sum(axis=-2)
    mean_human, mean_auto, mean_alone = human @ SCORES / n, auto @ SCORES / n, counts.alone @ SCORES / rest
    cross = np.einsum("...ha,h,a->...", counts.pairs, SCORES, SCORES) / n - mean_human * mean_auto
    var_human = human @ SCORES**2 / n - mean_human**2
    var_auto = auto @ SCORES**2 / n - mean_auto**2
    var_alone = counts.alone @ SCORES**2 / rest - mean_alone**2
    if lam is None:
        everything = auto + counts.alone
        total = n + rest
        mean = everything @ SCORES / total
        spread = (everything @ SCORES**2 - total * mean**2) / (total - 1) * (1 + n / rest)
        tuned = np.clip(np.divide(cross, spread, out=np.zeros_like(cross), where=spread > 0), 0, 1)
    else:
        tuned = np.full(np.shape(n), float(lam))
    value = tuned * mean_alone + mean_human - tuned * mean_auto
    variance = tuned**2 * var_alone / rest + np.maximum(var_human - 2 * tuned * cross + tuned**2 * var_auto, 0) / n
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(variance)
    effective = np.divide(var_human, variance, out=np.full_like(variance, np.nan), where=variance > 0)
    return PpiIntervals(value, variance, value - reach, value + reach, tuned, effective)


def counts_of_rows(auto: Floats, human: Floats) -> ScoreCounts | None:
    """Counts of rows that are independent units, `human` NaN where unlabelled; None where a score is not in halves."""
    labelled = ~np.isnan(human)
    said, halves = 2.0 * human[labelled], 2.0 * auto
    if any((scores != np.floor(scores)).any() for scores in (halves, said)):
        return None
    codes = halves.astype(np.int8)
    return count_scores(said.astype(np.int8), codes[labelled], codes[~labelled])
