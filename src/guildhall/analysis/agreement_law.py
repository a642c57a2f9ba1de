"""The exact law of resampling each sample's ratings: the within-sample bootstrap without random numbers.

Resampling k ratings with replacement and then taking all pairs compares a rating with itself now and then, which
shrinks disagreement by (k - 1) / k. The corrected law multiplies each sample's disagreement by k / (k - 1); the
literal one, kept for comparison with published figures, does not, and its interval misses its own point estimate.
"""

from __future__ import annotations

import numpy as np

from guildhall.analysis.lattice import Law, Part, gathered, law_of_sum, resampled, ways_to_fall
from guildhall.analysis.ratings_table import Types

DISTANCE = np.abs(np.arange(3)[:, None] - np.arange(3))
"""Between halves; a loss and a win are two half points apart."""


def pair_disagreement_law(types: Types, *, corrected: bool = True) -> Law | None:
    """The law of the mean disagreement over all pairs of a sample's ratings; samples with one rating are left out.

    `types.counts` has three columns. None where no sample's ratings differ.
    """
    sizes = types.counts.sum(axis=1)
    parts = []
    # Sets, not np.unique: without index arrays it imports numpy.ma, which costs more than all the rest here.
    for k in sorted(set(sizes[sizes >= 2].tolist())):
        ways, _ = ways_to_fall(k)
        # In half points, over unordered pairs: there are k (k - 1) / 2 of them, hence the denominators.
        steps = np.einsum("ni,ij,nj->n", ways, DISTANCE, ways) // 2
        masses = gathered(resampled(types.counts[sizes == k]), steps)
        parts.append(Part(masses, (k - 1) ** 2 if corrected else k * (k - 1), types.times[sizes == k]))
    return law_of_sum(parts, scale=1.0 / max(1, int(types.times[sizes >= 2].sum())))


def cross_disagreement_law(types: Types) -> Law | None:
    """The law of the mean disagreement between people and verdicts, both resampled within each sample.

    `types.counts` has six columns: people's three counts, then the verdicts'. No correction is needed: a rating is
    never compared with itself.
    """
    people, verdicts = types.counts[:, :3], types.counts[:, 3:]
    sizes = np.stack([people.sum(axis=1), verdicts.sum(axis=1)], axis=1)
    valid = (sizes > 0).all(axis=1)
    parts = []
    for k, j in sorted({(k, j) for k, j in sizes[valid].tolist()}):
        rows = (sizes == (k, j)).all(axis=1)
        steps = ways_to_fall(k)[0] @ DISTANCE @ ways_to_fall(j)[0].T
        likely = resampled(people[rows])[:, :, None] * resampled(verdicts[rows])[:, None, :]
        parts.append(Part(gathered(likely.reshape(len(likely), -1), steps.ravel()), 2 * k * j, types.times[rows]))
    return law_of_sum(parts, scale=1.0 / max(1, int(types.times[valid].sum())))
