"""Cells of a breakdown pooled towards each other: a hierarchical logit, cells within outer groups.

A cell of five tasks says little by itself. Its logit is modelled as a common mean, plus a group's effect, plus its
own, both normal. How much groups and cells differ is not known either, so the result is averaged over a grid of
spreads, each weighed by how well it explains the data (Laplace's approximation). Pooled figures lean on the other
cells and are labelled so; they stand beside the raw ones and never replace them.
"""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.quantiles import normal_quantile
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


class _Posterior(NamedTuple):
    log_evidence: float
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
    grid = list(product(SPREADS if outer.shape[1] else SPREADS[:1], SPREADS))
    found = [_posterior(design, successes, trials, _precision(outer.shape[1], n, *spreads)) for spreads in grid]
    # Equal steps of the SD are unequal steps of the variance: hence the factor of each SD.
    logs = np.array([one.log_evidence for one in found]) + np.log(grid).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ np.array([one.centre for one in found])
    second = weights @ np.array([one.variance + np.square(one.centre) for one in found])
    reach = normal_quantile(0.5 + level / 2) * np.sqrt(second - np.square(centre))
    group_sd, cell_sd = (float(sd) for sd in weights @ np.array(grid))
    return Pooled(
        _share(centre), _share(centre - reach), _share(centre + reach), group_sd if outer.shape[1] else 0.0, cell_sd
    )


def _precision(n_groups: int, n_cells: int, group_sd: float, cell_sd: float) -> Floats:
    """Of the common mean (none), the groups' effects and the cells' effects."""
    return np.concatenate([[0.0], np.full(n_groups, group_sd**-2), np.full(n_cells, cell_sd**-2)])


def _posterior(design: Floats, successes: Floats, trials: Floats, precision: Floats) -> _Posterior:
    """The cells' logits given the spreads: mode, variance there, and the log evidence for these spreads."""
    effects = np.zeros(design.shape[1])
    effects[0] = math.log((successes.sum() + 0.5) / (trials.sum() - successes.sum() + 0.5))
    for _ in range(50):
        share = _share(design @ effects)
        gradient = design.T @ (successes - trials * share) - precision * effects
        weights = np.maximum(trials * share * (1.0 - share), 1e-9)
        curvature = design.T @ (weights[:, None] * design) + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        effects = effects + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-6:
            break
    logits = design @ effects
    likelihood = float((successes * logits - trials * np.logaddexp(0.0, logits)).sum())
    prior = 0.5 * float(np.log(precision[1:]).sum() - (precision * np.square(effects)).sum())
    evidence = likelihood + prior - 0.5 * float(np.linalg.slogdet(curvature)[1])
    variance = np.einsum("ij,ji->i", design, np.linalg.solve(curvature, design.T))
    return _Posterior(evidence, logits, variance)


def _share(logits: Floats) -> Floats:
    shares: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
    return shares
