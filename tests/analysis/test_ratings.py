"""Ratings: a worked example, twins, invariances, and graphs that have no rating."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from guildhall.analysis.bradley_terry import TIE_MODELS, Fit, fit_bradley_terry, pair_rows
from guildhall.analysis.rating_files import Coins, bootstrap_ratings, elo_ratings, parse_anchors, rate_file
from guildhall.analysis.ratings import RatingTable, rank_intervals, rate_counts, rate_votes
from guildhall.analysis.tables import Coded
from guildhall.analysis.votes import WINNERS, VoteCounts, Votes, count_votes, counts_of, votes_from_arrays
from guildhall.engine.executor import Processes, in_order
from guildhall.errors import (
    DisconnectedGraph,
    ImpossibleValue,
    InputError,
    MissingColumn,
    NothingJudged,
    OnlyTies,
    SeparatedModels,
    TooFew,
    UnknownName,
)
from tests.analysis import twins

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WINS = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
"""American League East, 1987 (Agresti, Categorical Data Analysis): wins of the row over the column."""


def simulated(n: int = 1500, m: int = 6, *, ties: float = 0.25, seed: int = 0, left: float = 0.0) -> Votes:
    rng = default_rng(seed)
    skill = rng.normal(size=m)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    p = 1 / (1 + np.exp(skill[b] - skill[a] - left))
    won = np.where(rng.random(n) < ties, "tie", np.where(rng.random(n) < p, "left", "right"))
    tasks = rng.integers(0, 60, n)
    return votes_from_arrays(a.tolist(), b.tolist(), won.tolist(), clusters={"task": tasks.tolist()})


def scores(table: RatingTable) -> dict[str, float]:
    return {one.model: one.score.value for one in table.ratings if one.score.value is not None}


def test_the_baseball_league_has_its_published_abilities():
    left, right, winner = [], [], []
    for i, row in enumerate(WINS):
        for j, won in enumerate(row):
            left += [TEAMS[i]] * won
            right += [TEAMS[j]] * won
            winner += ["left"] * won
    found = scores(rate_votes(votes_from_arrays(left, right, winner)))
    published = {
        "Boston": 1.1077,
        "Cleveland": 0.6839,
        "Detroit": 1.4364,
        "Milwaukee": 1.5814,
        "New York": 1.2476,
        "Toronto": 1.2945,
    }
    for team, ability in published.items():
        assert found[team] - found["Baltimore"] == pytest.approx(ability, abs=1e-4)


def test_half_ties_equal_the_slow_fixed_point():
    votes = simulated()
    rows = [(int(a), int(b), WINNERS[o]) for a, b, o in zip(votes.left, votes.right, votes.outcome, strict=True)]
    np.testing.assert_allclose(_fit(votes, ties="half").ratings, twins.bradley_terry(rows, 6), atol=1e-8)


@pytest.mark.parametrize("ties", list(TIE_MODELS))
def test_the_gradient_vanishes_and_derivatives_are_those_of_the_likelihood(ties):
    assert _fit(simulated(), ties=ties).largest_gradient < 1e-13
    d, k, step = np.linspace(-3, 3, 7), 0.4, 1e-5
    at = TIE_MODELS[ties][0](d, k)
    for first, second, by in (
        ("log_p", "d", "d"),
        ("log_p", "k", "k"),
        ("d", "dd", "d"),
        ("d", "dk", "k"),
        ("k", "kk", "k"),
    ):
        up, down = (
            getattr(TIE_MODELS[ties][0](d + (by == "d") * s, k + (by == "k") * s), first) for s in (step, -step)
        )
        slope = np.broadcast_to((up - down) / (2 * step), (3, 7))
        np.testing.assert_allclose(np.broadcast_to(getattr(at, second), (3, 7)), slope, atol=1e-8)


@pytest.mark.parametrize("ties", list(TIE_MODELS))
def test_probabilities_of_win_tie_and_loss_add_up_to_one(ties):
    if ties == "half":
        return
    at = TIE_MODELS[ties][0](np.linspace(-4, 4, 9), 0.7)
    np.testing.assert_allclose(np.exp(at.log_p).sum(axis=0), 1.0)


@given(seed=st.integers(0, 50))
def test_swapping_all_sides_changes_no_score(seed):
    votes = simulated(300, seed=seed)
    swapped = votes._replace(left=votes.right, right=votes.left, outcome=2 - votes.outcome)
    one, other = scores(rate_votes(votes)), scores(rate_votes(swapped))
    assert one == pytest.approx(other, abs=1e-9)


def test_scores_have_mean_zero_and_losses_everywhere_reverse_them():
    votes = simulated()
    one, other = scores(rate_votes(votes)), scores(rate_votes(votes._replace(outcome=2 - votes.outcome)))
    assert np.mean(list(one.values())) == pytest.approx(0, abs=1e-12)
    assert one == pytest.approx({model: -score for model, score in other.items()}, abs=1e-9)


@pytest.mark.parametrize("ties", list(TIE_MODELS))
def test_votes_that_are_clusters_of_their_own_give_the_plain_sandwich(ties):
    votes = simulated(400)
    alone = votes._replace(clusters={"task": np.arange(400)})
    plain, clustered = rate_votes(votes, ties=ties).fit, rate_votes(alone, cluster="task", ties=ties).fit
    np.testing.assert_allclose(clustered.covariance, plain.covariance * 400 / 399, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(plain.covariance, _fit(votes, ties=ties).covariance, rtol=1e-8, atol=1e-12)


def test_votes_copied_within_a_task_do_not_narrow_the_clustered_interval():
    votes = simulated(400)
    alone = votes._replace(clusters={"task": np.arange(400)})
    copied = votes._replace(
        left=np.tile(votes.left, 5),
        right=np.tile(votes.right, 5),
        outcome=np.tile(votes.outcome, 5),
        clusters={"task": np.tile(np.arange(400), 5)},
    )
    one, five = rate_votes(alone, cluster="task"), rate_votes(copied, cluster="task")
    assert five.ratings[0].score.half_width == pytest.approx(one.ratings[0].score.half_width, rel=1e-6)
    assert rate_votes(copied).ratings[0].score.half_width == pytest.approx(
        (one.ratings[0].score.half_width or 0) / 5**0.5, rel=0.01
    )


def test_anchors_keep_their_scores_and_a_single_one_only_shifts_the_scale():
    votes = simulated()
    free, held = scores(rate_votes(votes)), rate_votes(votes, anchors={"2": 1.5})
    shift = 1.5 - free["2"]
    assert scores(held) == pytest.approx({model: score + shift for model, score in free.items()}, abs=1e-9)
    anchor = next(one for one in held.ratings if one.model == "2")
    assert anchor.score.interval is None
    two = scores(rate_votes(votes, anchors={"1": 0.0, "2": 3.0}))
    assert (two["1"], two["2"]) == (0.0, 3.0)
    with pytest.raises(UnknownName):
        rate_votes(votes, anchors={"nobody": 0.0})


def test_a_planted_left_advantage_is_found_from_counts_and_from_votes():
    votes = simulated(6000, left=0.5)
    for found in (
        rate_votes(votes, position=True, ties="half"),
        rate_counts(counts_of(votes), position=True, ties="half"),
    ):
        low, high = found.effects["left side"].interval or (0, 0)
        assert low < 0.5 * 0.75 < high + 0.1
        assert low > 0.1


def test_a_covariate_that_decides_votes_is_found():
    rng = default_rng(4)
    votes = simulated(3000, ties=0.0)
    length = rng.normal(size=3000)
    swayed = np.where(rng.random(3000) < 1 / (1 + np.exp(-2.0 * length)), 0, 2)
    outcome = np.where(rng.random(3000) < 0.5, swayed, votes.outcome)
    table = rate_votes(votes._replace(outcome=outcome, covariates={"length": length}))
    assert (table.effects["length"].interval or (0, 0))[0] > 0.3
    assert table.effects["length"].interval is not None


def test_integer_weights_count_like_copies():
    votes = simulated(300, m=4)
    weight = default_rng(1).integers(1, 4, 300)
    weighted = scores(rate_votes(votes._replace(weight=weight.astype(float))))
    copies = votes._replace(
        left=np.repeat(votes.left, weight),
        right=np.repeat(votes.right, weight),
        outcome=np.repeat(votes.outcome, weight),
    )
    assert weighted == pytest.approx(scores(rate_votes(copies)), abs=1e-9)


def test_a_model_that_won_everything_is_named_without_a_score_and_the_rest_are_rated():
    votes = votes_from_arrays(
        ["a", "b", "c", "a", "best", "best", "best"], ["b", "c", "a", "c", "a", "b", "c"], ["left"] * 7
    )
    for table in (rate_votes(votes), rate_counts(counts_of(votes))):
        assert set(scores(table)) == {"a", "b", "c"}
        (unbounded,) = [one for one in table.ratings if one.model == "best"]
        assert unbounded.rank is None
        assert "unbounded" in (unbounded.score.why_no_interval or "")


@pytest.mark.parametrize(
    ("left", "right", "winner", "error"),
    [
        ("ab", "ba", ["left", "left"], None),
        ("a", "b", ["left"], SeparatedModels),
        ("ab", "bc", ["left", "left"], SeparatedModels),
        ("abcd", "badc", ["left"] * 4, DisconnectedGraph),
        ("ab", "ba", ["tie", "tie"], OnlyTies),
        ("a", "a", ["tie"], ImpossibleValue),
        ("a", "b", ["both"], UnknownName),
        ("a", "b", [""], NothingJudged),
    ],
)
def test_graphs_without_a_rating_are_refused_by_name(left, right, winner, error):
    if error is None:
        assert scores(rate_votes(votes_from_arrays(list(left), list(right), winner))) == pytest.approx({"a": 0, "b": 0})
        return
    with pytest.raises(error):
        rate_votes(votes_from_arrays(list(left), list(right), winner))


def test_a_disconnected_graph_names_its_groups():
    with pytest.raises(DisconnectedGraph) as caught:
        rate_votes(votes_from_arrays(["a", "b", "c", "d"], ["b", "a", "d", "c"], ["left"] * 4))
    assert sorted(sorted(group) for group in caught.value.groups) == [["a", "b"], ["c", "d"]]


def test_too_few_clusters_are_refused():
    votes = simulated(50)._replace(clusters={"task": np.arange(50) % 2})
    with pytest.raises(TooFew):
        rate_votes(votes, cluster="task")


def test_ranks_are_sure_where_scores_are_far_apart_and_open_where_they_are_not():
    sure = rank_intervals(np.array([3.0, 0.0, -3.0]), 0.01 * np.eye(3))
    assert sure == [(1, 1), (2, 2), (3, 3)]
    assert rank_intervals(np.array([0.1, 0.0, -0.1]), np.eye(3)) == [(1, 3)] * 3


def test_names_that_no_vote_mentions_are_not_in_the_contest():
    named = ("a", "b", "never")
    counts = count_votes(
        Coded(np.array([0, 1]), named), Coded(np.array([1, 0]), named), Coded(np.array([0, 0]), WINNERS)
    )
    assert counts.names == ("a", "b")


def test_the_bootstrap_agrees_with_the_sandwich():
    votes = counts_of(simulated(4000))
    rows = pair_rows(votes)
    for ties in TIE_MODELS:
        fit = fit_bradley_terry(rows, ties=ties)
        rounds = 800 if ties == "half" else 200
        found = bootstrap_ratings(rows, fit, rounds=rounds, rng=default_rng(0))
        assert found.n_lost == 0
        spread = found.ratings.std(axis=0) / np.sqrt(np.diag(fit.covariance))[: fit.n_models]
        assert np.median(spread) == pytest.approx(1, abs=0.08)
        low, high = found.interval(0) or (0, 0)
        assert low < fit.ratings[0] < high


def test_rounds_of_the_bootstrap_dealt_to_other_processes_give_the_same_ratings():
    rows = pair_rows(counts_of(simulated(4000)))
    fit = fit_bradley_terry(rows)
    here = bootstrap_ratings(rows, fit, rounds=3000, rng=default_rng(0))
    apart = bootstrap_ratings(rows, fit, rounds=3000, rng=default_rng(0), deal=partial(in_order, Processes(2)))
    assert np.array_equal(here.ratings, apart.ratings)


def test_double_or_nothing_keeps_the_mean_and_has_the_variance_of_resampling():
    counts = np.array([0, 1, 5, 64, 65, 3000])
    drawn = Coins(counts).flip(4000, default_rng(0))
    assert drawn[:, 0].max() == 0
    assert set(np.unique(drawn[:, 1])) == {0.0, 2.0}
    np.testing.assert_allclose(drawn.mean(axis=0), counts, rtol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0)[1:], counts[1:], rtol=0.12)


def test_a_bootstrap_that_loses_rounds_gives_no_interval_and_weights_are_refused():
    votes = counts_of(votes_from_arrays(["a", "b", "a"], ["b", "a", "b"], ["left", "left", "left"]))
    rows = pair_rows(votes)
    found = bootstrap_ratings(rows, fit_bradley_terry(rows), rounds=64, rng=default_rng(0))
    assert found.n_lost > 0
    assert found.interval(0) is None
    weighted = rows._replace(counts=rows.counts * 1.5)
    with pytest.raises(ImpossibleValue, match="weight"):
        bootstrap_ratings(weighted, fit_bradley_terry(weighted), rounds=4, rng=default_rng(0))


def test_elo_equals_the_plain_loop_compiled_or_not():
    votes = simulated(500)
    rows = [(int(a), int(b), WINNERS[o]) for a, b, o in zip(votes.left, votes.right, votes.outcome, strict=True)]
    plain = elo_ratings(votes.left, votes.right, votes.outcome, 6)
    np.testing.assert_allclose(plain, twins.elo(rows, 6), atol=1e-9)
    pytest.importorskip("numba")
    np.testing.assert_allclose(elo_ratings(votes.left, votes.right, votes.outcome, 6, compiled=True), plain, atol=1e-9)


def test_counts_streamed_in_chunks_equal_those_of_all_votes(tmp_path, monkeypatch):
    from guildhall.analysis import files
    from guildhall.analysis.votes import count_vote_file

    votes = simulated(1000)
    frame = pl.DataFrame(
        {
            "left": [votes.names[i] for i in votes.left],
            "right": [votes.names[i] for i in votes.right],
            "winner": [WINNERS[o] for o in votes.outcome],
        }
    )
    frame.write_parquet(tmp_path / "votes.parquet", row_group_size=100)
    frame.write_csv(tmp_path / "votes.csv")
    monkeypatch.setattr(files, "ROWS_A_CHUNK", 37)
    whole = counts_of(votes)
    for name in ("votes.parquet", "votes.csv"):
        streamed = count_vote_file(tmp_path / name)
        place = [streamed.names.index(model) for model in whole.names]
        np.testing.assert_array_equal(streamed.counts[np.ix_(range(3), place, place)], whole.counts)
        assert scores(rate_file(tmp_path / name)) == pytest.approx(scores(rate_counts(whole)), abs=1e-9)


def test_files_cluster_by_the_task_they_name_and_refuse_what_they_lack(tmp_path):
    votes = simulated(300)
    frame = pl.DataFrame(
        {
            "left": [f"m{i}" for i in votes.left],
            "right": [f"m{i}" for i in votes.right],
            "winner": [WINNERS[o] for o in votes.outcome],
            "task": votes.clusters["task"],
        }
    )
    path = tmp_path / "votes.csv"
    frame.write_csv(path)
    assert rate_file(path).ratings[0].score.unit == "task"
    assert rate_file(path, cluster="none").ratings[0].score.unit == "vote"
    with pytest.raises(MissingColumn, match="grader"):
        rate_file(path, cluster="grader")
    with pytest.raises(UnknownName):
        rate_file(path, cluster="moon")
    with pytest.raises(UnknownName, match="davidson"):
        rate_file(path, ties="coin")


@pytest.mark.parametrize("word", ["m", "=1", "m=high", "m=nan"])
def test_anchors_are_model_equals_score(word):
    assert parse_anchors(["a=b=1.5"]) == {"a=b": 1.5}
    with pytest.raises(InputError, match="MODEL=SCORE"):
        parse_anchors([word])


def test_a_95_percent_interval_of_a_score_holds_the_truth_about_95_percent_of_the_time():
    skill = np.array([0.8, 0.1, -0.3, -0.6])
    held = rounds = 0
    for seed in range(150):
        rng = default_rng(seed)
        a = rng.integers(0, 4, 400)
        b = (a + rng.integers(1, 4, 400)) % 4
        won = np.where(rng.random(400) < 1 / (1 + np.exp(skill[b] - skill[a])), 0, 2)
        names = tuple("wxyz")
        fit = fit_bradley_terry(pair_rows(count_votes(Coded(a, names), Coded(b, names), Coded(won, WINNERS))))
        held += int((np.abs(fit.ratings - skill) < 1.96 * np.sqrt(np.diag(fit.covariance))).sum())
        rounds += 4
    assert 0.92 <= held / rounds <= 0.98


def _fit(votes: Votes, **options: Any) -> Fit:
    counts: VoteCounts = counts_of(votes)
    order = [counts.names.index(name) for name in votes.names]
    sorted_counts = counts._replace(names=votes.names, counts=counts.counts[np.ix_(range(3), order, order)])
    return fit_bradley_terry(pair_rows(sorted_counts), **options)
