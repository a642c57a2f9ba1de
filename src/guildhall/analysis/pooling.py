"""Cells of a breakdown pooled towards each other: a hierarchical logit, cells within outer groups.

A cell of five tasks says little by itself. Its logit is modelled as a common mean, plus a group's effect, plus its
own, both normal; their spreads are estimated from all cells (EM with Laplace's approximation). Pooled figures lean
on the other cells and are labelled so; they stand beside the raw ones and never replace them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.quantiles import normal_quantile
from guildhall.analysis.tables import Floats

ROUNDS = 200
SPREAD_DONE = 1e-5
SMALLEST_SPREAD = 1e-6


class Pooled(NamedTuple):
    """Pooled shares of the cells with their intervals, and the spreads (SD in logits) of groups and of cells."""

    shares: Floats
    low: Floats
    high: Floats
    group_sd: float
    cell_sd: float


def pool_shares(
    successes: Floats, trials: Floats, group: NDArray[np.intp] | None = None, *, level: float = 0.95
) -> Pooled:
    """Pool cells with (effective, fractional) `successes` of `trials`; `group` names each cell's outer group.

    Estimand: each cell's own share. The intervals hold 95% of cells' shares on average over cells, not in each.
    """
    n = len(trials)
    if n < 2:
        raise ValueError("pooling needs at least two cells")
    outer = np.zeros((n, 0)) if group is None else (group[:, None] == np.unique(group)).astype(np.float64)
    design = np.hstack([np.ones((n, 1)), outer, np.eye(n)])
    n_groups = outer.shape[1]
    effects = np.zeros(design.shape[1])
    effects[0] = _logit((successes.sum() + 0.5) / (trials.sum() + 1.0))
    variances = np.array([0.25 if n_groups else SMALLEST_SPREAD, 0.25])
    covariance = np.eye(len(effects))
    for _ in range(ROUNDS):
        precision = np.concatenate([[0.0], np.full(n_groups, 1 / variances[0]), np.full(n, 1 / variances[1])])
        effects, covariance = _posterior(design, successes, trials, effects, precision)
        moments = np.square(effects) + np.diag(covariance)
        following = variances.copy()
        if n_groups:
            following[0] = max(SMALLEST_SPREAD, moments[1 : 1 + n_groups].mean())
        following[1] = max(SMALLEST_SPREAD, moments[1 + n_groups :].mean())
        if np.abs(following - variances).max() < SPREAD_DONE:
            break
        variances = following
    centre = design @ effects
    reach = normal_quantile(0.5 + level / 2) * np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    group_sd = math.sqrt(variances[0]) if n_groups else 0.0
    return Pooled(_share(centre), _share(centre - reach), _share(centre + reach), group_sd, math.sqrt(variances[1]))


def _posterior(
    design: Floats, successes: Floats, trials: Floats, start: Floats, precision: Floats
) -> tuple[Floats, Floats]:
    """The mode of the effects given their spreads, and the inverse curvature there."""
    effects = start
    for _ in range(50):
        share = _share(design @ effects)
        gradient = design.T @ (successes - trials * share) - precision * effects
        weights = np.maximum(trials * share * (1.0 - share), 1e-9)
        curvature = design.T @ (weights[:, None] * design) + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        effects = effects + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-10:
            break
    return effects, np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def _share(logits: Floats) -> Floats:
    shares: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
    return shares


def _logit(share: float) -> float:
    return math.log(share / (1.0 - share))
