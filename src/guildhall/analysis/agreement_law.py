"""The exact law of resampling each sample's ratings: the within-sample bootstrap without random numbers.

Resampling k ratings with replacement and then taking all pairs compares a rating with itself now and then, which
shrinks disagreement by (k - 1) / k. The corrected law multiplies each sample's disagreement by k / (k - 1); the
literal one, kept for comparison with published figures, does not, and its interval misses its own point estimate.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from guildhall.analysis.lattice import Law, Part, Steps, law_of_sum, merged, resampled_counts
from guildhall.analysis.ratings_table import Types
from guildhall.analysis.tables import Floats

DISTANCE = np.abs(np.arange(3)[:, None] - np.arange(3))
"""Between halves; a loss and a win are two half points apart."""


def pair_disagreement_law(types: Types, *, corrected: bool = True) -> Law | None:
    """The law of the mean disagreement over all pairs of a sample's ratings; samples with one rating are left out.

    `types.counts` has three columns. None where no sample's ratings differ.
    """
    parts = []
    for counts, times in zip(types.counts.tolist(), types.times.tolist(), strict=True):
        k = sum(counts)
        if k >= 2:
            steps, probabilities = _pair_steps(tuple(counts))
            parts.append(Part(steps, probabilities, (k - 1) ** 2 if corrected else k * (k - 1), times))
    return law_of_sum(parts, scale=1.0 / max(1, sum(part.times for part in parts)))


def cross_disagreement_law(types: Types) -> Law | None:
    """The law of the mean disagreement between people and verdicts, both resampled within each sample.

    `types.counts` has six columns: people's three counts, then the verdicts'. No correction is needed: a rating is
    never compared with itself.
    """
    parts = []
    for counts, times in zip(types.counts.tolist(), types.times.tolist(), strict=True):
        people, verdicts = tuple(counts[:3]), tuple(counts[3:])
        if sum(people) and sum(verdicts):
            steps, probabilities = _cross_steps(people, verdicts)
            parts.append(Part(steps, probabilities, 2 * sum(people) * sum(verdicts), times))
    return law_of_sum(parts, scale=1.0 / max(1, sum(part.times for part in parts)))


@lru_cache(maxsize=4096)
def _pair_steps(counts: tuple[int, ...]) -> tuple[Steps, Floats]:
    drawn, probabilities = resampled_counts(counts)
    # Half points over ordered pairs, halved twice: |x - y| summed over unordered pairs is this over 2.
    steps = np.einsum("ni,ij,nj->n", drawn, DISTANCE, drawn) // 2
    return merged(steps, probabilities)


@lru_cache(maxsize=4096)
def _cross_steps(people: tuple[int, ...], verdicts: tuple[int, ...]) -> tuple[Steps, Floats]:
    drawn_people, of_people = resampled_counts(people)
    drawn_verdicts, of_verdicts = resampled_counts(verdicts)
    steps = drawn_people @ DISTANCE @ drawn_verdicts.T
    return merged(steps.ravel(), np.outer(of_people, of_verdicts).ravel())
