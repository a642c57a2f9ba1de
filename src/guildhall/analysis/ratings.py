"""Ratings of models from pairwise votes: score, interval, rank, and how far the rank is known.

Estimand: each model's Bradley-Terry score in natural log-odds, mean 0 over the rated models (or on the scale of the
anchors). Interval: sandwich covariance, tasks and graders crossed where the votes name them, since votes about one
task, or by one grader, are not independent. Ranks: two models are told apart where the interval of their difference
excludes zero, all differences simultaneously (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.bradley_terry import (
    Fit,
    FitRows,
    Ties,
    clustered_meat,
    fit_bradley_terry,
    pair_rows,
    rows_of_votes,
)
from guildhall.analysis.crossed import Crossing
from guildhall.analysis.intervals import About, about, reach_of, t_quantile
from guildhall.analysis.spreads import Spread, joint_df
from guildhall.analysis.tables import Codes, Floats
from guildhall.analysis.votes import VoteCounts, Votes, counts_of
from guildhall.domain.estimates import Estimate
from guildhall.errors import DisconnectedGraph, OnlyTies, SeparatedModels, TooFew, UnknownName

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


FEWEST_CLUSTERS = 3


class Rating(NamedTuple):
    """One model's score. Rank 1 is best; ranks are absent where the score is."""

    model: str
    score: Estimate
    rank: int | None
    rank_interval: tuple[int, int] | None


class RatingTable(NamedTuple):
    """Ratings, best first; then those that have none. `effects` holds position and other covariates.

    `names`, `rows` and `fit` are of the rated models, in the order of the fit's parameters.
    """

    ratings: list[Rating]
    effects: dict[str, Estimate]
    tie_parameter: float | None
    ties: Ties
    names: tuple[str, ...]
    rows: FitRows
    fit: Fit


def rate_counts(
    votes: VoteCounts,
    *,
    ties: Ties = "davidson",
    anchors: Mapping[str, float] | None = None,
    position: bool = False,
    level: float = 0.95,
) -> RatingTable:
    """Ratings from counts; votes are taken as independent of each other, and the unit says so."""
    keep, separated = _finite(votes)
    names = tuple(votes.names[i] for i in keep)
    square = np.ix_(np.arange(3), keep, keep)
    rated = votes._replace(
        names=names, counts=votes.counts[square], squares=None if votes.squares is None else votes.squares[square]
    )
    rows = pair_rows(rated, position=position)
    fit = fit_bradley_terry(rows, ties=ties, anchors=_anchor_codes(anchors, names))
    effects = ["left side"] if position else []
    return _table(rows, fit, rated, separated, effects, anchors or {}, unit="vote", spreads=None, level=level)


def rate_votes(
    votes: Votes,
    *,
    cluster: str | None = None,
    ties: Ties = "davidson",
    anchors: Mapping[str, float] | None = None,
    position: bool = False,
    level: float = 0.95,
) -> RatingTable:
    """Ratings from votes one by one: with clusters, and with the votes' covariates (left minus right) if any.

    A covariate's coefficient is in log-odds per unit; ratings are then at covariate zero: sides alike.
    """
    counts = counts_of(votes)
    keep, separated = _finite(counts)
    if separated:
        votes = _between(votes, keep)
    rows, row_of = rows_of_votes(votes, position=position)
    fit = fit_bradley_terry(rows, ties=ties, anchors=_anchor_codes(anchors, votes.names))
    spreads = None
    if cluster is not None:
        fit, spreads = _clustered(votes, rows, row_of, fit, cluster)
    effects = [*(["left side"] if position else []), *votes.covariates]
    rated = counts._replace(names=votes.names)
    return _table(
        rows, fit, rated, separated, effects, anchors or {}, unit=cluster or "vote", spreads=spreads, level=level
    )


def _clustered(
    votes: Votes, rows: FitRows, row_of: NDArray[np.intp], fit: Fit, cluster: str
) -> tuple[Fit, list[Spread]]:
    """The fit with the covariance that clusters give, and the spread of every parameter.

    The moments are those of `crossed`, for all parameters at once: outer products in place of squares.
    """
    n = len(votes.left)
    task = np.arange(n) if cluster == "grader" else votes.clusters["task"]
    grader = None if cluster == "task" else votes.clusters["grader"]
    weight = np.ones(n) if votes.weight is None else votes.weight
    rows_crossed = Crossing(weight, group=np.zeros(n, dtype=np.int64), task=task, grader=grader)
    by_task, (spent, of_people), expected = (
        clustered_meat(votes, rows, row_of, fit, task),
        rows_crossed.spent,
        rows_crossed.expected,
    )
    if by_task.n_clusters < FEWEST_CLUSTERS:
        words = f"an interval clustered by {cluster}"
        raise TooFew(f"{cluster}s", by_task.n_clusters, needed=FEWEST_CLUSTERS, what=words)
    tasks = fit.inverse @ by_task.of_sums @ fit.inverse * float(spent[0] / expected.tasks[0])
    of_graders, more, own = np.zeros(len(tasks)), np.zeros_like(tasks), np.zeros(len(tasks))
    if grader is not None and rows_crossed.asked[0]:
        theirs, shown = _component(votes, rows, row_of, fit, (task, grader, weight), rows_crossed)
        unit = fit.inverse @ theirs @ fit.inverse
        beyond = float(of_people[0]) - shown
        own = np.maximum(np.diag(unit), 0.0)
        of_graders = own * float(of_people[0])
        values, vectors = np.linalg.eigh(unit)
        more = (vectors * np.maximum(values, 0.0)) @ vectors.T * beyond
        own = own * beyond
    plain = rows_crossed.spreads(np.zeros(n))[0]
    spreads = [
        plain._replace(
            variance=variance + added, of_graders=min(part, variance + added), by_tasks=variance, df=plain.n_tasks - 1.0
        )
        for variance, added, part in zip(np.diag(tasks).tolist(), own.tolist(), of_graders.tolist(), strict=True)
    ]
    return fit._replace(covariance=tasks + more), spreads


def _component(
    votes: Votes,
    rows: FitRows,
    row_of: NDArray[np.intp],
    fit: Fit,
    columns: tuple[Codes, Codes, Floats],
    crossing: Crossing,
) -> tuple[Floats, float]:
    """One unit of what graders add to the scores' outer products; and what of their part shows between tasks."""
    task, grader, weight = columns
    _, who = np.unique(grader, return_inverse=True)
    share = np.bincount(who, weight)[who] / weight.sum()
    tasks = clustered_meat(votes, rows, row_of, fit, task, share=share)
    people = clustered_meat(votes, rows, row_of, fit, grader).of_sums
    cells = clustered_meat(votes, rows, row_of, fit, task.astype(np.int64) * (int(who.max()) + 1) + who).of_sums
    spent, of_people = (float(one[0]) for one in crossing.spent)
    few = tasks.n_clusters / max(1, tasks.n_clusters - 1)
    noise = (cells - tasks.mixed - tasks.mixed.T + of_people * tasks.of_sums) * few
    expected = crossing.expected
    theirs = float(expected.graders[0] - expected.noise[0])
    return (people - noise) / theirs, float(expected.by_task[0]) * spent / float(expected.tasks[0])


def rank_intervals(
    scores: Floats, covariance: Floats, *, level: float = 0.95, df: float = math.inf
) -> list[tuple[int, int]]:
    """For each model the ranks it may hold: simultaneous over all pairwise differences."""
    m = len(scores)
    spread = np.diag(covariance)
    error = np.sqrt(np.maximum(spread[:, None] + spread - 2.0 * covariance, 0.0))
    critical = t_quantile(1.0 - (1.0 - level) / max(1, m * (m - 1)), df)
    ahead = scores[:, None] - scores > critical * error
    best, worst = 1 + ahead.sum(axis=0), m - ahead.sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def _finite(votes: VoteCounts) -> tuple[Codes, list[str]]:
    """The models that have a finite score, and the names of those that won or lost everything against them."""
    wins = votes.counts[0] + votes.counts[2].T
    ties = votes.counts[1] + votes.counts[1].T
    check_connected(votes.names, wins, ties)
    finite = finite_models(votes.names, wins, ties)
    return np.flatnonzero(finite), [votes.names[i] for i in np.flatnonzero(~finite)]


def _between(votes: Votes, keep: Codes) -> Votes:
    """The votes between some models only, coded anew."""
    code = np.full(len(votes.names), -1)
    code[keep] = np.arange(len(keep))
    left, right = code[votes.left], code[votes.right]
    rows = (left >= 0) & (right >= 0)
    return votes._replace(
        names=tuple(votes.names[i] for i in keep),
        left=left[rows],
        right=right[rows],
        outcome=votes.outcome[rows],
        weight=None if votes.weight is None else votes.weight[rows],
        clusters={name: codes[rows] for name, codes in votes.clusters.items()},
        covariates={name: values[rows] for name, values in votes.covariates.items()},
    )


def _anchor_codes(anchors: Mapping[str, float] | None, names: tuple[str, ...]) -> dict[int, float]:
    for name in anchors or {}:
        if name not in names:
            raise UnknownName("model", name, known=list(names))
    return {names.index(name): rating for name, rating in (anchors or {}).items()}


def _table(
    rows: FitRows,
    fit: Fit,
    votes: VoteCounts,
    separated: list[str],
    effect_names: list[str],
    anchors: Mapping[str, float],
    *,
    unit: str,
    spreads: list[Spread] | None,
    level: float,
) -> RatingTable:
    m, df = fit.n_models, math.inf
    errors = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    reach, told, words = (t_quantile(0.5 + level / 2, df) * errors).tolist(), About(), f"sandwich by {unit}"
    if spreads is not None:
        # Every parameter rests on the same tasks and graders; the first speaks for all, and for ranks.
        told, reach = about(spreads[0]), [reach_of(one, level=level) for one in spreads]
        parts = [
            sum(column)
            for column in zip(*((one.variance - one.of_graders, one.of_graders) for one in spreads), strict=True)
        ]
        df = joint_df((parts[0], spreads[0].df), (parts[1], spreads[0].df_graders))
        named = "task" if unit == "crossed" else unit
        words, unit = f"sandwich by {named} ({spreads[0].n_tasks}){spreads[0].words}", named
    method = f"Bradley-Terry, ties {fit.ties}; {words}"

    def estimated(value: float, reach: float, estimand: str) -> Estimate:
        return Estimate(
            value=value,
            interval=(value - reach, value + reach),
            estimand=estimand,
            method=method,
            level=level,
            unit=unit,
            n_judgments=votes.n_votes,
            n_excluded=votes.n_excluded,
            **told,
        )

    scale = "on the anchors' scale" if anchors else "mean 0"
    ranks = rank_intervals(fit.ratings, fit.covariance[:m, :m], level=level, df=df)
    ratings = []
    for rank, i in enumerate(np.argsort(-fit.ratings, kind="stable").tolist(), 1):
        score = estimated(float(fit.ratings[i]), reach[i], f"Bradley-Terry score in log-odds, {scale}")
        if votes.names[i] in anchors:
            score = replace(score, interval=None, why_no_interval="an anchor: its score is given, not estimated")
        ratings.append(Rating(votes.names[i], score, rank, ranks[i]))
    why = "won or lost everything against the rated models; its score is unbounded"
    for name in separated:
        score = estimated(0.0, 0.0, f"Bradley-Terry score in log-odds, {scale}")
        ratings.append(Rating(name, replace(score, value=None, interval=None, why_no_interval=why), None, None))
    n_tie = len(fit.parameters) - m - len(effect_names)
    effects = {
        name: estimated(float(fit.parameters[m + n_tie + j]), reach[m + n_tie + j], f"effect of {name} in log-odds")
        for j, name in enumerate(effect_names)
    }
    tie_parameter = float(fit.parameters[m]) if n_tie else None
    return RatingTable(ratings, effects, tie_parameter, fit.ties, votes.names, rows, fit)
