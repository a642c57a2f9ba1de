"""Cells of a breakdown pooled towards each other: a hierarchical logit, cells within outer groups.

A cell of five tasks says little by itself. Its logit is modelled as a common mean, plus a group's effect, plus its
own, both normal. How much groups and cells differ is not known either, so the result is averaged over a grid of
spreads, each weighed by how well it explains the data (Laplace's approximation). Pooled figures lean on the other
cells and are labelled so; they stand beside the raw ones and never replace them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes, Floats

SPREADS = tuple(float(sd) for sd in np.linspace(0.05, 2.5, 11))
"""Standard deviations, in logits, that the average runs over. Beforehand all variances are taken as equally likely,
which keeps the pooled intervals honest where the cells happen to look alike."""


class Pooled(NamedTuple):
    """Pooled shares of the cells with their intervals, and each family's mean spreads (SD in logits)."""

    shares: Floats
    low: Floats
    high: Floats
    group_sd: Floats
    cell_sd: Floats


def pool_shares(
    successes: Floats, trials: Floats, group: Codes | None = None, *, family: Codes | None = None, level: float = 0.95
) -> Pooled:
    """Pool cells with (effective, fractional) `successes` of `trials`; `group` names each cell's outer group.

    Estimand: each cell's own share. The intervals hold `level` of the cells' shares on average, not in each cell.
    Cells of one `family` lean on each other and on no others; a cell alone in its family leans on nothing.
    """
    n = len(trials)
    if n < 2:
        raise ValueError("pooling needs at least two cells")
    family = np.zeros(n, dtype=np.int64) if family is None else family
    inner = [family] if group is None else [group, family]
    order = np.lexsort(inner)
    layers, names = [], np.column_stack(inner)[order]
    while names.shape[1]:
        layers.append(_Layer(names))
        names = names[layers[-1].begins][:, 1:]
    spreads = np.array(list(product(*[SPREADS] * len(layers))))  # of cells first, then of groups
    found = _posteriors(layers, successes[order], trials[order], spreads)
    # Equal steps of the SD are unequal steps of the variance: hence the factor of each SD.
    logs = found.log_evidence + np.log(spreads).sum(axis=1)[:, None]
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    of_cell = weights[:, layers[0].family]
    centre = (of_cell * found.centre).sum(axis=0)
    second = (of_cell * (found.variance + np.square(found.centre))).sum(axis=0)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(second - np.square(centre))
    back = np.argsort(order)
    shares, low, high = (_share(ends)[back] for ends in (centre, centre - reach, centre + reach))
    cell_sd, *group_sd = spreads.T @ weights
    return Pooled(shares, low, high, group_sd[0] if group_sd else np.zeros_like(cell_sd), cell_sd)


class _Layer:
    """Effects that stand one beside the other: which unit of the layer above, and which family, each is in."""

    def __init__(self, names: Codes) -> None:
        self.begins, self.unit = _runs((names[1:] != names[:-1]).any(axis=1))
        self.bounds, self.family = _runs(names[1:, -1] != names[:-1, -1])


def _runs(changes: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    new = np.concatenate(([True], changes))
    return np.flatnonzero(new), np.cumsum(new) - 1


class _Posteriors(NamedTuple):
    """One row for each set of spreads; evidence by family, the others by cell."""

    log_evidence: Floats
    centre: Floats
    variance: Floats


def _posteriors(layers: Sequence[_Layer], successes: Floats, trials: Floats, spreads: Floats) -> _Posteriors:
    """The cells' logits given each set of spreads: mode, variance there, and the log evidence for these spreads.

    A cell's logit is its family's mean, plus its group's effect, plus its own. Effects are nested, so each layer is
    solved for given the one above it, and no matrix is needed.
    """
    cells, precisions = layers[0], [1.0 / np.square(own)[:, None] for own in spreads.T]
    won, judged = (np.add.reduceat(one, cells.bounds) for one in (successes, trials))
    mean = np.tile(np.log((won + 0.5) / (judged - won + 0.5)), (len(spreads), 1))
    effects = [np.zeros((len(spreads), len(layer.unit))) for layer in layers]
    for _ in range(50):
        share = _share(_logits(layers, mean, effects))
        pull, weight = successes - trials * share, np.maximum(trials * share * (1.0 - share), 1e-9)
        solved = []
        for layer, effect, precision in zip(layers, effects, precisions, strict=True):
            solved.append((pull - precision * effect, weight, weight + precision))
            own, held, total = solved[-1]
            pull = np.add.reduceat(pull - held * own / total, layer.begins, axis=1)
            weight = np.add.reduceat(held * precision / total, layer.begins, axis=1)
        above = step = pull / weight
        longest, steps = np.abs(step), list[Floats]()
        for layer, (own, held, total) in reversed(list(zip(layers, solved, strict=True))):
            above = above[:, layer.unit]
            steps.insert(0, (own - held * above) / total)
            above = above + steps[0]
            longest = np.maximum(longest, np.maximum.reduceat(np.abs(steps[0]), layer.bounds, axis=1))
        short = np.minimum(1.0, 2.0 / np.maximum(1e-12, longest))
        mean = mean + short * step
        effects = [at + short[:, one.family] * own for at, one, own in zip(effects, layers, steps, strict=True)]
        if longest.max() < 1e-6:
            break
    logits = _logits(layers, mean, effects)
    likelihood = np.add.reduceat(successes * logits - trials * np.logaddexp(0.0, logits), cells.bounds, axis=1)
    evidence, variance = likelihood - 0.5 * np.log(weight), 1.0 / weight
    for layer, effect, precision, (_, _, total) in reversed(
        list(zip(layers, effects, precisions, solved, strict=True))
    ):
        own = np.log(precision / total) - precision * np.square(effect)
        evidence = evidence + 0.5 * np.add.reduceat(own, layer.bounds, axis=1)
        variance = np.square(precision / total) * variance[:, layer.unit] + 1.0 / total
    return _Posteriors(evidence, logits, variance)


def _logits(layers: Sequence[_Layer], mean: Floats, effects: Sequence[Floats]) -> Floats:
    for layer, effect in zip(reversed(layers), reversed(effects), strict=True):
        mean = mean[:, layer.unit] + effect
    return mean


def _share(logits: Floats) -> Floats:
    shares: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
    return shares
