"""Did the blind hold? Guesses of which side a person made, as an index from -1 to 1.

The index (after Bang, Ni and Davis 2004) is the share of right guesses minus the share of wrong ones; both, neither
and cannot tell count as no guess. 0 is a blind that held, 1 one that hid nothing. Graders call the better side
human, so the index is shown apart where the model was preferred and where it was not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import clustered_mean, share_interval
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class GuessRows:
    """Guesses on human-model pairs of one model: 1 right, -1 wrong, 0 none; whether the model was preferred."""

    guess: NDArray[np.int8]
    preferred: NDArray[np.bool_]
    grader: Codes

    def __post_init__(self) -> None:
        if not np.isin(self.guess, (-1, 0, 1)).all():
            raise ImpossibleValue("a guess", "outside -1, 0, 1", allowed="1 right, -1 wrong or 0 none")


def blinding_index(rows: GuessRows, *, level: float = 0.95) -> dict[str, Estimate]:
    """The index overall, where the model was preferred, and where it was not; graders are the clusters."""
    everywhere = np.ones(len(rows.guess), dtype=bool)
    parts = {"all": everywhere, "model preferred": rows.preferred, "model not preferred": ~rows.preferred}
    return {name: _index(rows.guess[which], rows.grader[which], name, level) for name, which in parts.items()}


def _index(guess: NDArray[np.int8], grader: Codes, where: str, level: float) -> Estimate:
    what = f"share of right minus share of wrong guesses ({where})"
    if not len(guess):
        return Estimate(
            value=None,
            estimand=what,
            method="none",
            level=level,
            unit="grader",
            n_judgments=0,
            why_no_interval="no such pair",
        )
    share = (1 + guess.astype(float)) / 2
    mean = clustered_mean(share, grader)
    found = share_interval(
        mean.value,
        mean.error**2,
        n_clusters=mean.n_clusters,
        n_judgments=len(guess),
        level=level,
        df=mean.df,
        unit="grader",
    )
    if found["interval"] is not None:
        found["interval"] = (2 * found["interval"][0] - 1, 2 * found["interval"][1] - 1)
    return Estimate(
        value=2 * mean.value - 1, level=level, estimand=what, unit="grader", n_judgments=len(guess), **found
    )
