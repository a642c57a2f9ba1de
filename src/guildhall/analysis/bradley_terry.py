"""Bradley-Terry ratings by Newton's method on counts, with the sandwich covariance.

A row is a pair of models with counts of win, tie and loss, and perhaps covariates; the parameters are a rating per
model, the tie parameter where the model of ties has one, and a coefficient per covariate.

How likely a win, a tie and a loss are, given the difference of two ratings: three models of ties. Each gives, for
every row, the derivatives of the log-likelihood of the three outcomes (first axis: win, tie, loss) by the difference
d and by the tie parameter k. All are concave in both, so Newton's method finds the one maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes, Floats
from guildhall.analysis.votes import VoteCounts, Votes

Ties = Literal["davidson", "rao-kupper", "half"]


class Derivatives(NamedTuple):
    """Arrays of outcomes x rows: log-likelihood, first and second derivatives."""

    log_p: Floats
    d: Floats
    k: Floats
    dd: Floats
    dk: Floats
    kk: Floats


def half(d: Floats, _k: float) -> Derivatives:
    """Bradley and Terry (1952), a tie being half a win and half a loss."""
    log_p, log_q = _log_sigmoids(d)
    p, q = np.exp(log_p), np.exp(log_q)
    none = np.zeros((3, 1))
    return Derivatives(
        np.stack([log_p, 0.5 * (log_p + log_q), log_q]), np.stack([q, 0.5 - p, -p]), none, (-p * q)[None], none, none
    )


def davidson(d: Floats, k: float) -> Derivatives:
    """Davidson (1970): a tie is as likely as exp(k) times the geometric mean of the two strengths."""
    logs = np.stack([0.5 * d, np.full_like(d, k), -0.5 * d])
    logs -= logs.max(axis=0)
    p = np.exp(logs)
    total = p.sum(axis=0)
    p /= total
    lean, tie = 0.5 * (p[0] - p[2]), p[1]
    dd = np.square(lean) - 0.25 * (p[0] + p[2])
    by_d = np.array([0.5, 0.0, -0.5])[:, None] - lean
    by_k = np.array([0.0, 1.0, 0.0])[:, None] - tie
    return Derivatives(logs - np.log(total), by_d, by_k, dd[None], (lean * tie)[None], (-tie * (1.0 - tie))[None])


def rao_kupper(d: Floats, k: float) -> Derivatives:
    """Rao and Kupper (1967): a difference within the threshold k > 0 of judging noise is a tie."""
    (log_a, log_not_a), (log_b, log_not_b) = _log_sigmoids(d - k), _log_sigmoids(-d - k)
    a, b = np.exp(log_a), np.exp(log_b)
    not_a, not_b = np.exp(log_not_a), np.exp(log_not_b)
    slope_a, slope_b = a * not_a, b * not_b
    bend_a, bend_b = slope_a * (not_a - a), slope_b * (not_b - b)
    tie = a * b * np.expm1(2.0 * k)
    by_d, by_k = (slope_b - slope_a) / tie, (slope_a + slope_b) / tie
    bend, twist = -(bend_a + bend_b) / tie, (bend_a - bend_b) / tie
    return Derivatives(
        np.stack([log_a, np.log(tie), log_b]),
        np.stack([not_a, by_d, -not_b]),
        np.stack([-not_a, by_k, -not_b]),
        np.stack([-slope_a, bend - by_d**2, -slope_b]),
        np.stack([slope_a, twist - by_d * by_k, -slope_b]),
        np.stack([-slope_a, bend - by_k**2, -slope_b]),
    )


TIE_MODELS: dict[Ties, tuple[Callable[[Floats, float], Derivatives], float | None]] = {
    "davidson": (davidson, 0.0),
    "rao-kupper": (rao_kupper, 0.5),
    "half": (half, None),
}
"""Each model and where its tie parameter starts; `half` has none."""


def _log_sigmoids(x: Floats) -> tuple[Floats, Floats]:
    """log of 1 / (1 + exp(-x)) and of 1 / (1 + exp(x)), with one exponential for both."""
    tail = np.log1p(np.exp(-np.abs(x)))
    return np.minimum(x, 0.0) - tail, -np.maximum(x, 0.0) - tail


GRADIENT_DONE = 1e-14
"""Largest gradient entry, over the total weight, at which the maximum counts as found."""
MOST_STEPS = 100


class FitRows(NamedTuple):
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


def pair_rows(votes: VoteCounts, *, position: bool = False) -> FitRows:
    """Rows from counts: each pair once; or, with `position`, once for each side, the left's advantage a covariate."""
    tables = [votes.counts] if votes.squares is None else [votes.counts, votes.squares]
    if not position:
        tables = [np.triu(table + table[::-1].transpose(0, 2, 1), 1) for table in tables]
    first, second = np.nonzero(tables[0].any(axis=0))
    # Picked like this, the outcomes of a row would stand together, and every sum over rows would stride.
    counts, *squares = (np.ascontiguousarray(table[:, first, second]) for table in tables)
    covariates = np.ones((len(first), 1)) if position else np.zeros((len(first), 0))
    # The square of a vote's weight of 1 is 1.
    return FitRows(len(votes.names), first, second, counts, squares[0] if squares else counts, covariates)


def fit_bradley_terry(
    rows: FitRows, *, ties: Ties = "davidson", anchors: Mapping[int, float] | None = None, meat: Floats | None = None
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


def _ratings_from_shares(rows: FitRows, anchors: Mapping[int, float]) -> Floats:
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


def _free_information(rows: FitRows, at: Derivatives, n_tie: int, free: NDArray[np.bool_], gauge: float) -> Floats:
    """The information on the free parameters; `gauge` holds the mean of the ratings where no anchor does."""
    information = _information(rows, at, n_tie)
    information[: rows.n_models, : rows.n_models] += gauge
    return information if free.all() else information[np.ix_(free, free)]


def score_covariance(rows: FitRows, at: Derivatives, n_tie: int) -> Floats:
    """The sum over votes of the outer product of their scores: votes independent of each other."""
    dd = _over_outcomes(rows.squares, np.square(at.d))
    dk, kk = (_over_outcomes(rows.squares, at.k * other) if n_tie else None for other in (at.d, at.k))
    return _assembled(rows, dd, dk, kk)


def derivatives_at(rows: FitRows, fit: Fit) -> Derivatives:
    """The derivatives of each row's log-likelihood at the fitted parameters."""
    n_tie = len(fit.parameters) - fit.n_models - rows.covariates.shape[1]
    return _evaluate(rows, fit.parameters, TIE_MODELS[fit.ties][0], n_tie)


def differences(rows: FitRows, parameters: Floats, n_tie: int) -> Floats:
    """The difference of ratings in each row, covariates included."""
    gap: Floats = parameters[rows.first] - parameters[rows.second]
    if rows.covariates.shape[1]:
        gap += rows.covariates @ parameters[rows.n_models + n_tie :]
    return gap


def _evaluate(rows: FitRows, parameters: Floats, derivatives: Any, n_tie: int) -> Derivatives:
    tie = float(parameters[rows.n_models]) if n_tie else 0.0
    found: Derivatives = derivatives(differences(rows, parameters, n_tie), tie)
    return found


def _damped(
    rows: FitRows, parameters: Floats, step: Floats, at: Derivatives, derivatives: Any, n_tie: int
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


def _gradient(rows: FitRows, at: Derivatives, n_tie: int) -> Floats:
    pull = _over_outcomes(rows.counts, at.d)
    ratings = np.bincount(rows.first, pull, rows.n_models) - np.bincount(rows.second, pull, rows.n_models)
    tie = [_over_outcomes(rows.counts, at.k).sum()] if n_tie else []
    return np.concatenate([ratings, tie, rows.covariates.T @ pull])


def _information(rows: FitRows, at: Derivatives, n_tie: int) -> Floats:
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


def _assembled(rows: FitRows, dd: Any, dk: Any, kk: Any) -> Floats:
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


CLUSTERS_A_BATCH = 1024


def rows_of_votes(votes: Votes, *, position: bool) -> tuple[FitRows, NDArray[np.intp]]:
    """Rows for the fit, and each vote's row: votes alike share one, unless covariates make each vote its own."""
    m, n = len(votes.names), len(votes.left)
    weight = np.ones(n) if votes.weight is None else votes.weight
    if votes.covariates:
        left, right, row_of = votes.left, votes.right, np.arange(n)
        covariates = np.column_stack([*([np.ones(n)] if position else []), *votes.covariates.values()])
    else:
        pairs, row_of = np.unique(votes.left.astype(np.int64) * m + votes.right, return_inverse=True)
        left, right = np.divmod(pairs, m)
        covariates = np.ones((len(pairs), 1)) if position else np.zeros((len(pairs), 0))
    counts, squares = (
        np.asarray(
            np.bincount(votes.outcome * np.int64(len(left)) + row_of, w, 3 * len(left)), dtype=np.float64
        ).reshape(3, -1)
        for w in (weight, np.square(weight))
    )
    return FitRows(m, left, right, counts, squares, covariates), row_of


class Meats(NamedTuple):
    """Outer products of scores summed over each cluster: `of_sums`; and of those sums with weighted ones: `mixed`."""

    of_sums: Floats
    mixed: Floats
    n_clusters: int


def clustered_meat(
    votes: Votes,
    rows: FitRows,
    row_of: NDArray[np.intp],
    fit: Fit,
    cluster: Codes,
    *,
    share: Floats | None = None,
) -> Meats:
    """The outer products of scores summed over each cluster; with a `share` of each vote also the mixed ones."""
    at, m, size = derivatives_at(rows, fit), rows.n_models, len(fit.parameters)
    weight = 1.0 if votes.weight is None else votes.weight
    pull = at.d[votes.outcome, row_of] * weight
    tie_pull = np.broadcast_to(at.k, at.d.shape)[votes.outcome, row_of] * weight
    _, cluster_of = np.unique(cluster, return_inverse=True)
    order = np.argsort(cluster_of, kind="stable")
    n_clusters = int(cluster_of.max()) + 1
    ends = np.searchsorted(cluster_of[order], np.arange(0, n_clusters + CLUSTERS_A_BATCH, CLUSTERS_A_BATCH))
    n_tie = size - m - rows.covariates.shape[1]

    def summed(place: Codes, some: Codes, times: Floats | float) -> Floats:
        own, tied = pull[some] * times, tie_pull[some] * times
        scores: Floats = np.bincount(place + votes.left[some], own, CLUSTERS_A_BATCH * size).astype(np.float64)
        scores = scores - np.bincount(place + votes.right[some], own, CLUSTERS_A_BATCH * size)
        if n_tie:
            scores += np.bincount(place + m, tied, CLUSTERS_A_BATCH * size)
        for j in range(rows.covariates.shape[1]):
            worth = own * rows.covariates[row_of[some], j]
            scores += np.bincount(place + m + n_tie + j, worth, CLUSTERS_A_BATCH * size)
        return scores.reshape(CLUSTERS_A_BATCH, size)

    meat, mixed = np.zeros((size, size)), np.zeros((size, size))
    for batch, (start, end) in enumerate(pairwise(ends.tolist())):
        some = order[start:end]
        place = (cluster_of[some] - batch * CLUSTERS_A_BATCH) * size
        table = summed(place, some, 1.0)
        meat += table.T @ table
        if share is not None:
            mixed += table.T @ summed(place, some, share[some])
    return Meats(meat, mixed, n_clusters)
