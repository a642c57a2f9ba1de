"""Bradley-Terry ratings by Newton's method on counts, with the sandwich covariance.

A row is a pair of models with counts of win, tie and loss, and perhaps covariates; the parameters are a rating per
model, the tie parameter where the model of ties has one, and a coefficient per covariate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes, Floats
from guildhall.analysis.tie_models import TIE_MODELS, Derivatives, Ties
from guildhall.analysis.votes import VoteCounts

GRADIENT_DONE = 1e-14
"""Largest gradient entry, over the total weight, at which the maximum counts as found."""
MOST_STEPS = 100


class PairRows(NamedTuple):
    """Pairs with their counts (win, tie, loss of `first`; outcomes x rows), squared weights, covariates (rows x c)."""

    n_models: int
    first: Codes
    second: Codes
    counts: Floats
    squares: Floats
    covariates: Floats


class Fit(NamedTuple):
    """Ratings in natural log-odds. `parameters` holds ratings, the tie parameter if any, covariate coefficients.

    `inverse` is the inverse Hessian and `covariance` the sandwich, both over all parameters; entries of anchored
    models are zero.
    """

    parameters: Floats
    inverse: Floats
    covariance: Floats
    n_models: int
    ties: Ties
    largest_gradient: float

    @property
    def ratings(self) -> Floats:
        return self.parameters[: self.n_models]


def pair_rows(votes: VoteCounts, *, position: bool = False) -> PairRows:
    """Rows from counts: each pair once; or, with `position`, once for each side, the left's advantage a covariate."""
    tables = [votes.counts] if votes.squares is None else [votes.counts, votes.squares]
    if not position:
        tables = [np.triu(table + table[::-1].transpose(0, 2, 1), 1) for table in tables]
    first, second = np.nonzero(tables[0].any(axis=0))
    # Picked like this, the outcomes of a row would stand together, and every sum over rows would stride.
    counts, *squares = (np.ascontiguousarray(table[:, first, second]) for table in tables)
    covariates = np.ones((len(first), 1)) if position else np.zeros((len(first), 0))
    # The square of a vote's weight of 1 is 1.
    return PairRows(len(votes.names), first, second, counts, squares[0] if squares else counts, covariates)


def fit_bradley_terry(
    rows: PairRows, *, ties: Ties = "davidson", anchors: Mapping[int, float] | None = None, meat: Floats | None = None
) -> Fit:
    """The maximum of the likelihood, and its sandwich covariance.

    Without `anchors` ratings have mean 0; with them the named models keep the given ratings. `meat`, the covariance
    of the score summed over clusters, replaces that of single votes. The caller makes sure that a finite maximum
    exists (`graph`). With no ties in the data the tie parameter is left out: every model of ties is then the same.
    """
    if not rows.counts[1].any():
        ties = "half"
    derivatives, start = TIE_MODELS[ties]
    n_tie = int(start is not None)
    parameters = np.zeros(rows.n_models + n_tie + rows.covariates.shape[1])
    parameters[: rows.n_models] = _ratings_from_shares(rows, anchors or {})
    if start is not None:
        parameters[rows.n_models] = start
    free = np.ones(len(parameters), dtype=np.bool_)
    free[list(anchors or {})] = False
    scale = float(rows.counts.sum())
    gauge = 0.0 if anchors else scale / rows.n_models**2
    at = _evaluate(rows, parameters, derivatives, n_tie)
    gradient = _gradient(rows, at, n_tie)
    for _ in range(MOST_STEPS):
        if np.abs(gradient[free]).max(initial=0.0) <= GRADIENT_DONE * scale:
            break
        step = np.zeros_like(parameters)
        step[free] = np.linalg.solve(_free_information(rows, at, n_tie, free, gauge), gradient[free])
        parameters, after = _damped(rows, parameters, step, at, derivatives, n_tie)
        if after is None:
            break
        at, gradient = after, _gradient(rows, after, n_tie)
    inverse = np.zeros((len(parameters), len(parameters)))
    inverse[np.ix_(free, free)] = np.linalg.inv(_free_information(rows, at, n_tie, free, gauge))
    meat = score_covariance(rows, at, n_tie) if meat is None else meat
    return Fit(
        parameters, inverse, inverse @ meat @ inverse, rows.n_models, ties, float(np.abs(gradient[free]).max() / scale)
    )


def _ratings_from_shares(rows: PairRows, anchors: Mapping[int, float]) -> Floats:
    """Where to start: the log-odds of each model's share of points, with mean 0 or at the anchors' level.

    Two steps nearer to the maximum than equal ratings are. Half a point for and against keeps it finite.
    """
    points = [rows.counts[won] + 0.5 * rows.counts[1] for won in (0, 2)]
    for_it, against = (
        np.bincount(rows.first, own, rows.n_models) + np.bincount(rows.second, other, rows.n_models) + 0.5
        for own, other in (points, points[::-1])
    )
    ratings: Floats = np.log(for_it / against)
    if not anchors:
        ratings -= ratings.mean()
        return ratings
    kept, values = list(anchors), np.array(list(anchors.values()))
    ratings += (values - ratings[kept]).mean()
    ratings[kept] = values
    return ratings


def _free_information(rows: PairRows, at: Derivatives, n_tie: int, free: NDArray[np.bool_], gauge: float) -> Floats:
    """The information on the free parameters; `gauge` holds the mean of the ratings where no anchor does."""
    information = _information(rows, at, n_tie)
    information[: rows.n_models, : rows.n_models] += gauge
    return information if free.all() else information[np.ix_(free, free)]


def score_covariance(rows: PairRows, at: Derivatives, n_tie: int) -> Floats:
    """The sum over votes of the outer product of their scores: votes independent of each other."""
    dd = _over_outcomes(rows.squares, np.square(at.d))
    dk, kk = (_over_outcomes(rows.squares, at.k * other) if n_tie else None for other in (at.d, at.k))
    return _assembled(rows, dd, dk, kk)


def derivatives_at(rows: PairRows, fit: Fit) -> Derivatives:
    """The derivatives of each row's log-likelihood at the fitted parameters."""
    n_tie = len(fit.parameters) - fit.n_models - rows.covariates.shape[1]
    return _evaluate(rows, fit.parameters, TIE_MODELS[fit.ties][0], n_tie)


def differences(rows: PairRows, parameters: Floats, n_tie: int) -> Floats:
    """The difference of ratings in each row, covariates included."""
    gap: Floats = parameters[rows.first] - parameters[rows.second]
    if rows.covariates.shape[1]:
        gap += rows.covariates @ parameters[rows.n_models + n_tie :]
    return gap


def _evaluate(rows: PairRows, parameters: Floats, derivatives: Any, n_tie: int) -> Derivatives:
    tie = float(parameters[rows.n_models]) if n_tie else 0.0
    found: Derivatives = derivatives(differences(rows, parameters, n_tie), tie)
    return found


def _damped(
    rows: PairRows, parameters: Floats, step: Floats, at: Derivatives, derivatives: Any, n_tie: int
) -> tuple[Floats, Derivatives | None]:
    """Take the step, or the largest half, quarter, ... of it that does not lower the likelihood."""
    before = np.vdot(rows.counts, at.log_p)
    for halvings in range(40):
        tried = parameters + step * 0.5**halvings
        with np.errstate(all="ignore"):
            after = _evaluate(rows, tried, derivatives, n_tie)
            reached = np.vdot(rows.counts, after.log_p)
        if reached >= before - 1e-12 * abs(before):
            return tried, after
    return parameters, None


def _gradient(rows: PairRows, at: Derivatives, n_tie: int) -> Floats:
    pull = _over_outcomes(rows.counts, at.d)
    ratings = np.bincount(rows.first, pull, rows.n_models) - np.bincount(rows.second, pull, rows.n_models)
    tie = [_over_outcomes(rows.counts, at.k).sum()] if n_tie else []
    return np.concatenate([ratings, tie, rows.covariates.T @ pull])


def _information(rows: PairRows, at: Derivatives, n_tie: int) -> Floats:
    """Minus the second derivatives of the log-likelihood, over all parameters."""
    dd, dk, kk = (
        -_over_outcomes(rows.counts, bend) if n_tie or bend is at.dd else None for bend in (at.dd, at.dk, at.kk)
    )
    return _assembled(rows, dd, dk, kk)


def _over_outcomes(counts: Floats, worth: Floats) -> Floats:
    if len(worth) == 1:
        return np.asarray(counts.sum(axis=0) * worth[0], dtype=np.float64)
    total: Floats = np.einsum("on,on->n", counts, worth)
    return total


def _assembled(rows: PairRows, dd: Any, dk: Any, kk: Any) -> Floats:
    """A matrix over all parameters from each row's weights by difference and, where there is one, tie parameter."""
    m, n_tie = rows.n_models, int(dk is not None)
    size = m + n_tie + rows.covariates.shape[1]
    matrix = np.zeros((size, size))
    across = np.bincount(rows.first * m + rows.second, dd, m * m).reshape(m, m)
    across = across + across.T
    matrix[:m, :m] = np.diag(across.sum(axis=1)) - across
    for column, weight in enumerate([*([dk] if n_tie else []), *(dd[:, None] * rows.covariates).T], start=m):
        matrix[:m, column] = np.bincount(rows.first, weight, m) - np.bincount(rows.second, weight, m)
        matrix[column, :m] = matrix[:m, column]
    if n_tie:
        matrix[m, m] = kk.sum()
        matrix[m, m + 1 :] = matrix[m + 1 :, m] = rows.covariates.T @ dk
    matrix[m + n_tie :, m + n_tie :] = rows.covariates.T @ (dd[:, None] * rows.covariates)
    return matrix
