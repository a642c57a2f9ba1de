"""Justifications grouped by their words, offline: TF-IDF, a truncated SVD (or vectors from elsewhere), seeded k-means.

Clusters are named by the words that set them apart. They are a first look, not a code book: a person should name them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import TooFew

Floats = NDArray[np.float64]
_WORD = re.compile(r"[a-z][a-z'-]{2,}")
_COMMON = frozenset(
    """the and was were has have had that this with for not but are its from than they them their which who what when
    more most very also does did doing been being into over out only just like both other one two can could would
    should will all any each there here then some such about while because submission deliverable work side""".split()  # noqa: SIM905
)
FEWEST_TEXTS = 8
ROUNDS = 50


def cluster_reasons(
    texts: Sequence[str],
    *,
    rng: np.random.Generator,
    k: int = 8,
    dimensions: int = 40,
    vectors: Floats | None = None,
) -> list[str]:
    """A name for each text: its cluster's three most telling words; empty for a text without a usable word.

    `vectors`, a row for each text, say which texts are close; without them the words the texts share do.
    """
    words = [[word for word in _WORD.findall(text.lower()) if word not in _COMMON] for text in texts]
    usable = [at for at, own in enumerate(words) if own]
    if len(usable) < FEWEST_TEXTS:
        raise TooFew("justifications with words", len(usable), needed=FEWEST_TEXTS, what="clusters of reasons")
    weights, vocabulary = _tf_idf([words[at] for at in usable])
    points = _reduced(weights, dimensions) if vectors is None else _unit(vectors[usable])
    place = _k_means(points, min(k, len(usable) // 2), rng)
    names = [_name(weights[place == one], weights, vocabulary) for one in range(place.max() + 1)]
    found = [""] * len(texts)
    for at, one in zip(usable, place.tolist(), strict=True):
        found[at] = names[one]
    return found


def _tf_idf(words: list[list[str]]) -> tuple[Floats, list[str]]:
    """Rows of unit length; words that only one text uses tell nothing about groups and are left out where possible."""
    seen = Counter(word for own in words for word in set(own))
    vocabulary = sorted(word for word, times in seen.items() if times > 1) or sorted(seen)
    column = {word: at for at, word in enumerate(vocabulary)}
    counts = np.zeros((len(words), len(vocabulary)))
    for row, own in enumerate(words):
        for word in own:
            if word in column:
                counts[row, column[word]] += 1
    idf = np.log((1 + len(words)) / (1 + np.array([seen[word] for word in vocabulary]))) + 1
    weights = np.log1p(counts) * idf
    return _unit(weights), vocabulary


def _reduced(weights: Floats, dimensions: int) -> Floats:
    left, sizes, _ = np.linalg.svd(weights, full_matrices=False)
    kept = min(dimensions, len(sizes))
    signs = np.where(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])] < 0, -1.0, 1.0)
    return _unit((left * sizes * signs)[:, :kept])


def _unit(rows: Floats) -> Floats:
    """Rows of length one."""
    made: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return made


def _k_means(points: Floats, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Lloyd's rounds from k-means++ starts; codes run from 0 without gaps."""
    centres = points[[int(rng.integers(len(points)))]]
    while len(centres) < k:
        apart = np.square(points[:, None] - centres).sum(axis=2).min(axis=1)
        if not apart.sum() > 0:
            break
        centres = np.vstack([centres, points[int(rng.choice(len(points), p=apart / apart.sum()))]])
    place = np.zeros(len(points), dtype=np.intp)
    for _ in range(ROUNDS):
        nearest = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)
        _, following = np.unique(nearest, return_inverse=True)
        centres = np.array([points[following == one].mean(axis=0) for one in range(following.max() + 1)])
        if np.array_equal(following, place):
            break
        place = following
    return place


def _name(mine: Floats, everyone: Floats, vocabulary: list[str]) -> str:
    telling = np.argsort(-(mine.mean(axis=0) - everyone.mean(axis=0)), kind="stable")[:3]
    return ", ".join(vocabulary[at] for at in telling.tolist())
