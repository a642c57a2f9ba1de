"""Prediction-powered inference: the literature's formulas, invariances, counts against rows, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.joined import ppi_difference
from guildhall.analysis.ppi import PpiRows, _counted, _solved_counts, _solved_rows, ppi_mean
from guildhall.analysis.ppi_counts import ScoreCounts, count_scores, ppi_from_counts
from guildhall.analysis.ppi_models import PpiTable, by_convention, ppi_by_model
from guildhall.analysis.ppi_ratings import PairRows, ppi_ratings
from guildhall.errors import DisconnectedGraph, ImpossibleValue, NothingToCompare, SeparatedModels, TooFew


def judged(n: int = 400, *, labelled: int = 120, agree: float = 0.8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.choice([0, 0.5, 1], n, p=[0.4, 0.2, 0.4])
    auto = np.where(rng.random(n) < agree, human, rng.choice([0, 0.5, 1], n))
    human[labelled:] = np.nan
    return auto, human


def drawn(auto: np.ndarray, human: np.ndarray, **more: Any) -> PpiRows:
    """Rows of which each had the same chance of its label."""
    chance = {"probability": np.full(len(auto), np.mean(~np.isnan(human)))}
    return PpiRows(auto, human, **{**chance, **more})


def test_lambda_and_interval_follow_the_published_formulas():
    auto, human = judged()
    y, yhat, rest = human[:120], auto[:120], auto[120:]
    n, more = len(y), len(rest)
    lam = np.cov(y, yhat, ddof=0)[0, 1] / ((1 + n / more) * np.var(auto, ddof=1))
    value = lam * rest.mean() + (y - lam * yhat).mean()
    error = np.sqrt(lam**2 * rest.var() / more + (y - lam * yhat).var() / n)
    found = ppi_mean(drawn(auto, human))
    assert found.lam == pytest.approx(lam, abs=1e-12)
    assert found.estimate.value == pytest.approx(value, abs=1e-12)
    assert found.estimate.interval == pytest.approx(
        (value - 1.959963984540054 * error, value + 1.959963984540054 * error), abs=1e-12
    )


def test_known_figures_of_the_reference_implementation_come_back():
    """Values printed by ppi_py 0.2.3 for this very input (ppi_mean_ci, alpha = 0.05)."""
    human = np.array([1, 0, 0.5, 1, 1, 0, 0, 1, 0.5, 1] * 6)
    auto = np.array([1, 0, 1, 1, 0, 0, 0, 1, 0.5, 1] * 6)
    rest = np.array([1, 1, 0, 0.5, 1, 0, 1] * 30)
    rows = drawn(np.concatenate([auto, rest]), np.concatenate([human, np.full(len(rest), np.nan)]))
    assert ppi_mean(rows).estimate.interval == pytest.approx((0.5660307224612269, 0.7374097100153132), abs=1e-12)


def test_a_useless_grader_costs_nothing_and_a_perfect_one_is_worth_every_row():
    auto, human = judged(agree=0.0)
    useless = ppi_mean(drawn(auto, human))
    assert useless.effective_human_n == pytest.approx(120, rel=0.05)
    auto, human = judged(agree=1.0)
    assert (ppi_mean(drawn(auto, human)).effective_human_n or 0) > 300


@given(seed=st.integers(0, 30), lam=st.floats(0, 1))
def test_a_constant_added_to_the_automatic_scores_changes_nothing(seed, lam):
    auto, human = judged(seed=seed)
    plain, moved = ppi_mean(drawn(auto / 2, human), lam=lam), ppi_mean(drawn(auto / 2 + 0.3, human), lam=lam)
    assert moved.estimate.value == pytest.approx(plain.estimate.value)
    assert moved.estimate.interval == pytest.approx(plain.estimate.interval)


@given(seed=st.integers(0, 30))
def test_swapping_sides_mirrors_the_estimate(seed):
    auto, human = judged(seed=seed)
    task = np.arange(len(auto)) // 4
    one, other = ppi_mean(drawn(auto, human, task=task)), ppi_mean(drawn(1 - auto, 1 - human, task=task))
    assert other.estimate.value == pytest.approx(1 - (one.estimate.value or 0))


def test_clusters_of_one_row_give_what_rows_give_but_for_t():
    auto, human = judged(n=3000, labelled=1000)
    rows, tasks = ppi_mean(drawn(auto, human)), ppi_mean(drawn(auto, human, task=np.arange(3000)))
    assert tasks.estimate.value == pytest.approx(rows.estimate.value, abs=1e-3)
    assert tasks.estimate.half_width == pytest.approx(rows.estimate.half_width, rel=0.01)


def test_copies_of_a_task_do_not_narrow_the_interval():
    auto, human = judged()
    once = ppi_mean(drawn(auto, human, task=np.arange(400)))
    thrice = ppi_mean(drawn(np.repeat(auto, 3), np.repeat(human, 3), task=np.repeat(np.arange(400), 3)))
    assert thrice.estimate.interval == pytest.approx(once.estimate.interval, abs=1e-9)


def test_inverse_probability_weights_undo_a_lopsided_sample_of_labels():
    rng = np.random.default_rng(4)
    n = 20_000
    truth = rng.choice([0.0, 1.0], n)
    auto = np.where(rng.random(n) < 0.7, truth, 1 - truth)
    probability = np.where(auto == 1, 0.5, 0.05)
    human = np.where(rng.random(n) < probability, truth, np.nan)
    weighted = ppi_mean(drawn(auto, human, task=np.arange(n), probability=probability))
    assert weighted.estimate.value == pytest.approx(truth.mean(), abs=0.03)
    assert abs((weighted.classical.value or 0) - truth.mean()) < abs(np.nanmean(human) - truth.mean())


def test_strata_are_weighted_by_their_tasks_and_not_by_their_labels():
    auto, human = np.zeros(400), np.full(400, np.nan)
    stratum = np.repeat([0, 1], 200)
    rng = np.random.default_rng(0)
    human[:150], human[200:240] = rng.choice([0, 1], 150, p=[0.2, 0.8]), rng.choice([0, 1], 40, p=[0.6, 0.4])
    found = ppi_mean(drawn(auto, human, task=np.arange(400), stratum=stratum))
    assert found.estimate.value == pytest.approx((human[:150].mean() + human[200:240].mean()) / 2)


def test_cross_fitted_lambdas_stay_near_the_tuned_one():
    auto, human = judged(n=2000, labelled=600)
    rows = drawn(auto, human, task=np.arange(2000))
    assert ppi_mean(rows, folds=5).lam == pytest.approx(ppi_mean(rows).lam, abs=0.1)
    assert ppi_mean(rows, folds=5).estimate.value == pytest.approx(ppi_mean(rows).estimate.value, abs=0.02)


def test_few_human_wins_fall_back_to_the_exact_classical_interval():
    auto, human = judged(labelled=60)
    human[:60] = 0.0
    found = ppi_mean(drawn(auto, human))
    assert found.estimate == found.classical
    assert "exact" in found.estimate.method
    assert found.estimate.interval is not None
    assert found.estimate.interval[1] > 0.01


def test_a_difference_of_a_model_with_a_twin_is_narrower_than_unpaired():
    auto, human = judged(n=600, labelled=300)
    task = np.arange(600) // 2
    one = ppi_mean(drawn(auto, human, task=task))
    nearly = human.copy()
    nearly[:4] = 1 - nearly[:4]
    other = ppi_mean(drawn(auto, nearly, task=task))
    gap = ppi_difference(one, other)
    assert (gap.half_width or 1) < 0.5 * (one.estimate.half_width or 0)


@given(seed=st.integers(0, 40), lam=st.none() | st.floats(0, 1))
def test_counts_give_what_rows_give(seed, lam):
    rows = drawn(*judged(seed=seed))
    counts = _counted(rows)
    assert counts is not None
    fast, slow = _solved_counts(counts, lam), _solved_rows(rows, lam, 0)
    told, twin = (
        (one.value, one.spread.variance, one.plain, one.plain_spread.variance, one.lam) for one in (fast, slow)
    )
    assert told == pytest.approx(twin, abs=1e-12)
    assert (fast.single, fast.n_labelled_tasks) == (slow.single, slow.n_labelled_tasks) == (True, 120)
    found = ppi_mean(rows, lam=lam)
    assert (found.estimate.value, found.lam) == pytest.approx((slow.value, slow.lam), abs=1e-12)
    many = ppi_from_counts(ScoreCounts(np.stack([counts.pairs, counts.pairs.T]), np.stack([counts.alone] * 2)), lam=lam)
    assert (many.low[0], many.high[0]) == pytest.approx(found.estimate.interval, abs=1e-12)


def test_only_independent_rows_with_scores_in_halves_are_counted():
    auto, human = judged()
    tasks = np.arange(len(auto))
    for rows in (
        drawn(auto / 2, human),
        drawn(auto, human / 4),
        drawn(auto, human, task=tasks),
        drawn(auto, human, stratum=tasks % 2),
        drawn(auto, human, probability=np.where(tasks < 60, 0.5, 0.25)),
        drawn(auto[:120], human[:120]),
    ):
        assert _counted(rows) is None
        assert ppi_mean(rows).estimate.interval is not None


def test_counts_refuse_scores_that_are_none():
    with pytest.raises(ImpossibleValue):
        count_scores(np.array([0, 2], dtype=np.int8), np.array([0, 3], dtype=np.int8), np.array([1], dtype=np.int8))


def test_a_model_without_human_labels_gets_a_transported_value_and_no_interval():
    auto, human = judged(n=900, labelled=900)
    model = np.repeat([0, 1, 2], 300)
    human[300 * 0 + 100 : 300], human[400:600], human[600:] = np.nan, np.nan, np.nan
    chance = np.full(900, 1 / 3)
    table = PpiTable(("a", "b", "new"), model, auto, human, task=np.tile(np.arange(300), 3), probability=chance)
    known, _, new = ppi_by_model(table)
    assert known.estimate.interval is not None
    assert new.estimate.interval is None
    assert "transported from a, b, leave-one-model-out error" in (new.estimate.why_no_interval or "")


def test_labels_of_which_nobody_knows_how_they_were_drawn_describe_and_conclude_nothing():
    found = ppi_mean(PpiRows(*judged(), task=np.arange(400) // 2))
    for one in (found.estimate, found.classical):
        assert one.value is not None
        assert one.interval is None
        assert "probability" in (one.why_no_interval or "")
    assert found.effective_human_n is None


def test_a_mean_of_several_grades_is_neither_won_nor_tied():
    rows = PpiTable(("m",), np.zeros(3, dtype=int), np.array([1.0, 0.5, 0.25]), np.array([1.0, 0.75, np.nan]))
    assert rows.of(0, "half_tie").human[1] == 0.75
    with pytest.raises(ImpossibleValue, match=r"0\.75"):
        rows.of(0, "win")


def test_few_graders_of_the_labels_who_differ_widen_the_joined_interval():
    rng = np.random.default_rng(6)
    task, grader = np.arange(600), np.arange(600) % 6
    kind = np.array([0.2, 0.35, 0.45, 0.55, 0.65, 0.8])
    human = np.where(rng.random(600) < 0.5, rng.random(600) < kind[grader], np.nan)
    auto = rng.integers(0, 2, 600) * 1.0
    alone = ppi_mean(drawn(auto, human, task=task, grader=np.arange(600))).estimate
    shared = ppi_mean(drawn(auto, human, task=task, grader=grader)).estimate
    assert (shared.half_width or 0) > 2 * (alone.half_width or 1)
    assert (shared.target, round(shared.effective_graders or 0)) == ("graders like these", 6)


def test_conventions_count_ties_as_named_and_leave_unknown_unknown():
    scores = np.array([0, 0.5, 1, np.nan])
    assert by_convention(scores, "win")[:3].tolist() == [0, 0, 1]
    assert by_convention(scores, "win_or_tie")[:3].tolist() == [0, 1, 1]
    assert np.isnan(by_convention(scores, "win")[3])


def test_hopeless_input_is_refused_by_name():
    with pytest.raises(NothingToCompare):
        PpiRows(np.array([]), np.array([]))
    with pytest.raises(ImpossibleValue):
        PpiRows(np.array([np.nan]), np.array([1.0]))
    with pytest.raises(ImpossibleValue):
        PpiRows(np.array([2.0]), np.array([1.0]))
    with pytest.raises(ImpossibleValue):
        PpiRows(np.array([1.0]), np.array([1.0]), probability=np.array([0.0]))
    with pytest.raises(TooFew):
        ppi_mean(PpiRows(np.array([1.0, 0.0]), np.array([1.0, np.nan])))


def pairs(n: int = 6000, *, labelled: float = 0.2, agree: float = 0.85, seed: int = 0) -> tuple[PairRows, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.array([0.8, 0.2, -0.3, -0.7])
    left, right = rng.integers(0, 4, n), rng.integers(1, 4, n)
    right = (left + right) % 4
    won = (rng.random(n) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)
    auto = np.where(rng.random(n) < agree, won, rng.choice([0.0, 1.0], n))
    human = np.where(rng.random(n) < labelled, won, np.nan)
    return PairRows(("a", "b", "c", "d"), left, right, auto, human, task=np.arange(n) % 200), truth


def test_prediction_powered_ratings_find_the_planted_scores_and_beat_human_labels_alone():
    rows, truth = pairs()
    powered, alone = ppi_ratings(rows), ppi_ratings(rows, lam=0.0)
    assert [score.value for score in powered.scores] == pytest.approx(truth, abs=0.15)
    assert np.trace(powered.covariance) < 0.8 * np.trace(alone.covariance)
    assert powered.effective_human_n > (~np.isnan(rows.human)).sum()


def test_ratings_at_lambda_zero_solve_the_plain_likelihood():
    rows, _ = pairs()
    scores = np.array([score.value for score in ppi_ratings(rows, lam=0.0).scores])
    kept = ~np.isnan(rows.human)
    chance = 1 / (1 + np.exp(scores[rows.right[kept]] - scores[rows.left[kept]]))
    error = rows.human[kept] - chance
    slope = np.bincount(rows.left[kept], error, 4) - np.bincount(rows.right[kept], error, 4)
    assert slope == pytest.approx(0, abs=1e-7)
    assert scores.sum() == pytest.approx(0)


def test_ratings_refuse_groups_and_models_that_never_lost():
    rows, _ = pairs(n=40)
    apart = PairRows(rows.models, np.array([0, 2] * 20), np.array([1, 3] * 20), rows.auto, rows.auto)
    with pytest.raises(DisconnectedGraph):
        ppi_ratings(apart)
    wins = PairRows(("a", "b"), np.zeros(40, dtype=int), np.ones(40, dtype=int), np.ones(40), np.ones(40))
    with pytest.raises(SeparatedModels):
        ppi_ratings(wins)
