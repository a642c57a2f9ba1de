"""Shares of reasons, how far those who coded them agree, and the files that coders write.

Justifications grouped by their words, offline: TF-IDF, a truncated SVD (or vectors from elsewhere), seeded k-means.
Clusters are named by the words that set them apart. They are a first look, not a code book: a person should name
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.chance_corrected import Labels, alpha_estimate
from guildhall.analysis.files import read_table
from guildhall.analysis.shares import clustered_share
from guildhall.domain.estimates import Estimate
from guildhall.domain.reasons import LABELS
from guildhall.errors import TooFew, UnknownName

Codes = NDArray[np.intp]
CODES = ("judgment", "coder", "label")
"""Columns of a file of coded reasons."""


def reason_shares(labels: Sequence[str], task: Codes, *, level: float = 0.95) -> dict[str, Estimate]:
    """Of all coded justifications, blank ones included, the share of each label, the commonest first; by task."""
    words = np.array(labels)
    shares = {
        word: clustered_share(words == word, task, what=f"share of justifications coded {word!r}", level=level)
        for word in sorted(set(labels) - {""})
    }
    return dict(sorted(shares.items(), key=lambda pair: -(pair[1].value or 0.0)))


def coder_agreement(
    by_coder: Mapping[str, Mapping[str, str]], task_of: Mapping[str, str], *, level: float = 0.95
) -> dict[str, Estimate]:
    """How often coders gave a justification the same label, and Krippendorff's alpha; a blank is a label too.

    `by_coder` has each coder's label by justification. Justifications that one coder saw alone take no part.
    """
    items = sorted({item for labels in by_coder.values() for item in labels})
    names = sorted({label for labels in by_coder.values() for label in labels.values()})
    column = {name: at for at, name in enumerate(names)}
    place = {item: at for at, item in enumerate(items)}
    rows = [(place[item], column[label]) for labels in by_coder.values() for item, label in labels.items()]
    sample, value = np.array(rows, dtype=np.intp).reshape(-1, 2).T
    task = np.unique([task_of[item] for item in items], return_inverse=True)[1]
    labels = Labels(sample, value, task, len(names))
    kept = labels.counts.sum(axis=1) >= 2
    if not kept.any():
        return {}
    counts, task = labels.counts[kept], task[kept]
    same = counts.max(axis=1) == counts.sum(axis=1)
    agreed = clustered_share(same, task, what="share of justifications with one label from all coders", level=level)
    alpha = alpha_estimate(labels, unit="task", metric="nominal", level=level)
    return {"the same label": agreed, "Krippendorff's alpha": alpha}


def read_codes(
    paths: Sequence[Path], *, clusters: Callable[[str], bool] = lambda coder: coder == "clusters"
) -> dict[str, dict[str, str]]:
    """Each coder's label by judgment, in the order of the files. A label nobody knows is refused, clusters' aside."""
    by_coder: dict[str, dict[str, str]] = {}
    for path in paths:
        table = read_table(path, required=CODES)
        columns = [table.coded(name) for name in CODES]
        cells = [[column.names[code] if code >= 0 else "" for code in column.codes.tolist()] for column in columns]
        for judgment, coder, label in zip(*cells, strict=True):
            if label and label not in LABELS and not clusters(coder):
                raise UnknownName("label", label, known=[*LABELS, "(empty)"])
            if coder:
                by_coder.setdefault(coder, {})[judgment] = label
    return by_coder


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
