"""Votes one by one as rows of a Bradley-Terry fit, and their scores summed over clusters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.bradley_terry import Fit, PairRows, derivatives_at
from guildhall.analysis.tables import Codes, Floats
from guildhall.analysis.votes import Votes

CLUSTERS_A_BATCH = 1024


def rows_of_votes(votes: Votes, *, position: bool) -> tuple[PairRows, NDArray[np.intp]]:
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
    return PairRows(m, left, right, counts, squares, covariates), row_of


def clustered_meat(
    votes: Votes, rows: PairRows, row_of: NDArray[np.intp], fit: Fit, cluster: Codes
) -> tuple[Floats, int]:
    """The outer products of scores summed over each cluster, with the correction C / (C - 1); and C."""
    at, m, size = derivatives_at(rows, fit), rows.n_models, len(fit.parameters)
    weight = 1.0 if votes.weight is None else votes.weight
    pull = at.d[votes.outcome, row_of] * weight
    tie_pull = np.broadcast_to(at.k, at.d.shape)[votes.outcome, row_of] * weight
    _, cluster_of = np.unique(cluster, return_inverse=True)
    order = np.argsort(cluster_of, kind="stable")
    n_clusters = int(cluster_of.max()) + 1
    ends = np.searchsorted(cluster_of[order], np.arange(0, n_clusters + CLUSTERS_A_BATCH, CLUSTERS_A_BATCH))
    n_tie = size - m - rows.covariates.shape[1]
    meat = np.zeros((size, size))
    for batch, (start, end) in enumerate(pairwise(ends.tolist())):
        some = order[start:end]
        place = (cluster_of[some] - batch * CLUSTERS_A_BATCH) * size
        scores = np.bincount(place + votes.left[some], pull[some], CLUSTERS_A_BATCH * size)
        scores = scores - np.bincount(place + votes.right[some], pull[some], CLUSTERS_A_BATCH * size)
        if n_tie:
            scores += np.bincount(place + m, tie_pull[some], CLUSTERS_A_BATCH * size)
        for j in range(rows.covariates.shape[1]):
            worth = pull[some] * rows.covariates[row_of[some], j]
            scores += np.bincount(place + m + n_tie + j, worth, CLUSTERS_A_BATCH * size)
        table = scores.reshape(CLUSTERS_A_BATCH, size)
        meat += table.T @ table
    return meat * n_clusters / max(1, n_clusters - 1), n_clusters
