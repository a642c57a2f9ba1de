"""Who was compared with whom, and who can be told apart: before any rating is fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Floats
from guildhall.errors import DisconnectedGraph, OnlyTies, SeparatedModels, TooFew

Flags = NDArray[np.bool_]


def check_connected(names: tuple[str, ...], wins: Floats, ties: Floats) -> None:
    """Refuse what has no rating at all: one model, only ties, or groups never compared with each other."""
    if len(names) < 2:
        raise TooFew("models", len(names), needed=2, what="a rating")
    met = (wins + wins.T + ties) > 0
    groups = components(met)
    if len(groups) > 1:
        raise DisconnectedGraph([[names[i] for i in group] for group in groups])
    if not wins.any():
        raise OnlyTies(float(ties.sum() / 2))


def finite_models(names: tuple[str, ...], wins: Floats, ties: Floats) -> Flags:
    """Which models have a finite rating: the largest set in which everyone beat or tied someone, round and round.

    Ford (1957): the likelihood has a maximum within a set just when no part of it won everything against the rest.
    """
    groups = components((wins + ties) > 0, strongly=True)
    largest = max(groups, key=len)
    if len(largest) < 2:
        raise SeparatedModels(list(names))
    finite = np.zeros(len(names), dtype=np.bool_)
    finite[largest] = True
    return finite


def components(links: Flags, *, strongly: bool = False) -> list[list[int]]:
    """Groups of nodes that reach each other, along links in both directions or, `strongly`, as they point."""
    reach = (links if strongly else links | links.T) | np.eye(len(links), dtype=np.bool_)
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if np.array_equal(further, reach):
            break
        reach = further
    mutual = reach & reach.T
    found: dict[int, list[int]] = {}
    for node, first in enumerate(mutual.argmax(axis=1).tolist()):
        found.setdefault(first, []).append(node)
    return list(found.values())
