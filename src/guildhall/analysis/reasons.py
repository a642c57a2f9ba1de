"""Shares of reasons, how far those who coded them agree, and the files that coders write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.chance_corrected import alpha_estimate
from guildhall.analysis.files import read_table
from guildhall.analysis.shares import clustered_share
from guildhall.domain.estimates import Estimate
from guildhall.domain.reasons import LABELS
from guildhall.errors import UnknownName

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
    counts = np.zeros((len(items), len(names)), dtype=np.int64)
    for labels in by_coder.values():
        for row, item in enumerate(items):
            if item in labels:
                counts[row, column[labels[item]]] += 1
    kept = counts.sum(axis=1) >= 2
    if not kept.any():
        return {}
    counts = counts[kept]
    task = np.unique([task_of[item] for item, both in zip(items, kept, strict=True) if both], return_inverse=True)[1]
    same = counts.max(axis=1) == counts.sum(axis=1)
    agreed = clustered_share(same, task, what="share of justifications with one label from all coders", level=level)
    alpha = alpha_estimate(counts, task, unit="task", metric="nominal", level=level)
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
