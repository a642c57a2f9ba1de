"""Multinomial logistic regression with a ridge, in NumPy: small, exact, and deterministic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from guildhall.analysis.tables import Floats

_STEPS = 60
_SMALL = 1e-9


class Multinomial(NamedTuple):
    """Coefficients (features + 1 for the intercept) x (classes - 1); the first class is the reference."""

    coefficients: Floats
    centre: Floats
    scale: Floats

    def probabilities(self, features: Floats) -> Floats:
        return _probabilities(_design(features, self.centre, self.scale), self.coefficients)


def fit_multinomial(features: Floats, counts: Floats, *, ridge: float) -> Multinomial:
    """The penalised maximum likelihood of `counts` (rows x classes, any non-negative weights) by Newton's method.

    Features are standardised; the ridge pulls every coefficient but the intercepts towards zero.
    """
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > _SMALL, scale, 1.0)
    design = _design(features, centre, scale)
    n_columns, n_free = design.shape[1], counts.shape[1] - 1
    penalty = np.full((n_columns, n_free), ridge)
    penalty[0] = _SMALL
    weights = counts.sum(axis=1)
    coefficients = np.zeros((n_columns, n_free))
    best = _objective(design, counts, coefficients, penalty)
    for _ in range(_STEPS):
        chances = _probabilities(design, coefficients)
        gradient = design.T @ (counts - weights[:, None] * chances)[:, 1:] - penalty * coefficients
        hessian = _hessian(design, chances[:, 1:], weights) + np.diag(penalty.T.ravel())
        step = np.linalg.solve(hessian, gradient.T.ravel()).reshape(n_free, n_columns).T
        size = 1.0
        while size > _SMALL and _objective(design, counts, coefficients + size * step, penalty) < best:
            size /= 2
        coefficients = coefficients + size * step
        best = _objective(design, counts, coefficients, penalty)
        if np.abs(size * step).max() < _SMALL:
            break
    return Multinomial(coefficients, centre, scale)


def log_loss(chances: Floats, counts: Floats) -> Floats:
    """Per row, the mean of -log p over the ratings counted in it."""
    losses: Floats = -(counts * np.log(np.maximum(chances, 1e-12))).sum(axis=1) / counts.sum(axis=1)
    return losses


def _design(features: Floats, centre: Floats, scale: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), (features - centre) / scale])


def _probabilities(design: Floats, coefficients: Floats) -> Floats:
    scores = np.column_stack([np.zeros(len(design)), design @ coefficients])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=1, keepdims=True)
    return chances


def _objective(design: Floats, counts: Floats, coefficients: Floats, penalty: Floats) -> float:
    chances = _probabilities(design, coefficients)
    return float((counts * np.log(np.maximum(chances, 1e-300))).sum() - 0.5 * (penalty * coefficients**2).sum())


def _hessian(design: Floats, chances: Floats, weights: Floats) -> Floats:
    n_free, width = chances.shape[1], design.shape[1]
    blocks = np.zeros((n_free * width, n_free * width))
    for one in range(n_free):
        for other in range(n_free):
            curve = weights * chances[:, one] * (float(one == other) - chances[:, other])
            blocks[one * width : (one + 1) * width, other * width : (other + 1) * width] = design.T @ (
                curve[:, None] * design
            )
    return blocks
