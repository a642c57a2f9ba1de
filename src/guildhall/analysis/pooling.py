"""Cells of a breakdown pooled towards each other: a hierarchical logit, cells within outer groups.

A cell of five tasks says little by itself. Its logit is modelled as a common mean, plus a group's effect, plus its
own, both normal. How much groups and cells differ is not known either, so the result is averaged over a grid of
spreads, each weighed by how well it explains the data (Laplace's approximation). Pooled figures lean on the other
cells and are labelled so; they stand beside the raw ones and never replace them.
"""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Floats

SPREADS = tuple(float(sd) for sd in np.linspace(0.05, 2.5, 11))
"""Standard deviations, in logits, that the average runs over. Beforehand all variances are taken as equally likely,
which keeps the pooled intervals honest where the cells happen to look alike."""


class Pooled(NamedTuple):
    """Pooled shares of the cells with their intervals, and the mean spreads (SD in logits) of groups and of cells."""

    shares: Floats
    low: Floats
    high: Floats
    group_sd: float
    cell_sd: float


class _Posteriors(NamedTuple):
    """One row for each pair of spreads."""

    log_evidence: Floats
    centre: Floats
    variance: Floats


def pool_shares(
    successes: Floats, trials: Floats, group: NDArray[np.intp] | None = None, *, level: float = 0.95
) -> Pooled:
    """Pool cells with (effective, fractional) `successes` of `trials`; `group` names each cell's outer group.

    Estimand: each cell's own share. The intervals hold `level` of the cells' shares on average, not in each cell.
    """
    n = len(trials)
    if n < 2:
        raise ValueError("pooling needs at least two cells")
    outer = np.zeros((n, 0)) if group is None else (group[:, None] == np.unique(group)).astype(np.float64)
    design = np.hstack([np.ones((n, 1)), outer, np.eye(n)])
    grid = np.array(list(product(SPREADS if outer.shape[1] else SPREADS[:1], SPREADS)))
    found = _posteriors(design, successes, trials, _precisions(outer.shape[1], n, grid))
    # Equal steps of the SD are unequal steps of the variance: hence the factor of each SD.
    logs = found.log_evidence + np.log(grid).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ found.centre
    second = weights @ (found.variance + np.square(found.centre))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(second - np.square(centre))
    group_sd, cell_sd = (float(sd) for sd in weights @ grid)
    return Pooled(
        _share(centre), _share(centre - reach), _share(centre + reach), group_sd if outer.shape[1] else 0.0, cell_sd
    )


def _precisions(n_groups: int, n_cells: int, grid: Floats) -> Floats:
    """Of the common mean (none), the groups' effects and the cells' effects; one row for each pair of spreads."""
    of_groups, of_cells = 1.0 / np.square(grid.T)
    return np.hstack(
        [np.zeros((len(grid), 1)), np.tile(of_groups[:, None], n_groups), np.tile(of_cells[:, None], n_cells)]
    )


def _posteriors(design: Floats, successes: Floats, trials: Floats, precisions: Floats) -> _Posteriors:
    """The cells' logits given each pair of spreads: mode, variance there, and the log evidence for these spreads."""
    effects = np.zeros_like(precisions)
    effects[:, 0] = math.log((successes.sum() + 0.5) / (trials.sum() - successes.sum() + 0.5))
    diagonal = np.arange(design.shape[1])
    for _ in range(50):
        share = _share(effects @ design.T)
        gradient = (successes - trials * share) @ design - precisions * effects
        weights = np.maximum(trials * share * (1.0 - share), 1e-9)
        curvature = design.T @ (weights[:, :, None] * design)
        curvature[:, diagonal, diagonal] += precisions
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1)
        effects = effects + step * np.minimum(1.0, 2.0 / np.maximum(1e-12, longest))[:, None]
        if longest.max() < 1e-6:
            break
    logits = effects @ design.T
    likelihood = (successes * logits - trials * np.logaddexp(0.0, logits)).sum(axis=1)
    prior = 0.5 * (np.log(precisions[:, 1:]).sum(axis=1) - (precisions * np.square(effects)).sum(axis=1))
    evidence = likelihood + prior - 0.5 * np.linalg.slogdet(curvature)[1]
    spread = np.linalg.solve(curvature, np.broadcast_to(design.T, (len(precisions), *design.T.shape)))
    return _Posteriors(evidence, logits, np.einsum("ij,gji->gi", design, spread))


def _share(logits: Floats) -> Floats:
    shares: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
    return shares
