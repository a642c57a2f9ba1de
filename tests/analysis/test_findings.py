"""Severity shares, blinding, calibration, trend and paired differences: worked numbers, properties, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.calibration import calibrate
from guildhall.analysis.effects import GuessRows, blinding_index
from guildhall.analysis.paired import paired_difference
from guildhall.analysis.shares import (
    SeverityRows,
    clustered_share,
    per_hundred_deliverables,
    severity_shares,
)
from guildhall.analysis.trend import fit_trend
from guildhall.errors import ImpossibleValue, NothingJudged, NothingPaired, TooFew

CLASSES = ("catastrophic", "bad", "acceptable but subpar", "I disagree: the model was better")


def rated(seed: int = 0) -> SeverityRows:
    """200 deliverables, every lost one rated twice, won ones drawn one in five."""
    rng = np.random.default_rng(seed)
    lost = np.arange(200) < 120
    drawn = np.where(lost, 1.0, 0.2)
    sample = np.flatnonzero(lost | (rng.random(200) < 0.2))
    sample = np.repeat(sample, 2)
    rating = np.where(lost[sample], rng.choice(4, len(sample), p=[0.05, 0.25, 0.5, 0.2]), 3)
    return SeverityRows(CLASSES, rating, sample // 2, sample, lost[sample], drawn[sample])


def test_shares_of_lost_deliverables_add_up_to_one():
    shares = severity_shares(rated())
    assert sum(share.value or 0 for share in shares.values()) == pytest.approx(1)
    assert shares["bad"].interval is not None


def test_controls_count_for_as_many_as_they_stand_for():
    rows = rated()
    per_hundred = per_hundred_deliverables(rows, "catastrophic")
    by_hand = 0.0
    for sample in np.unique(rows.sample):
        mine = rows.sample == sample
        by_hand += (rows.rating[mine] == 0).mean() / rows.drawn[mine][0]
    weight = sum(1 / rows.drawn[rows.sample == sample][0] for sample in np.unique(rows.sample))
    assert per_hundred.value == pytest.approx(100 * by_hand / weight)


def test_a_class_never_seen_has_an_upper_end_above_zero():
    share = clustered_share(np.zeros(30, dtype=bool), np.arange(30), what="catastrophic")
    assert share.value == 0
    assert share.interval is not None
    assert share.interval[1] > 0.05


def test_the_blinding_index_is_right_minus_wrong_over_all_guesses():
    guess = np.array([1, 1, 1, -1, 0, 0, 1, -1, 0, 1] * 5, dtype=np.int8)
    rows = GuessRows(guess, guess > 0, np.arange(50) // 5, np.arange(50) % 25)
    index = blinding_index(rows)
    assert index["all"].value == pytest.approx(0.3)
    assert index["model preferred"].value == 1.0
    assert (index["all"].n_tasks, index["all"].effective_graders) == (25, 10)


def test_wrong_guesses_where_the_model_was_preferred_do_not_hide_behind_the_total():
    guess = np.array([1] * 20 + [-1] * 20, dtype=np.int8)
    index = blinding_index(GuessRows(guess, guess < 0, np.arange(40) // 4, np.arange(40)))
    assert index["all"].value == pytest.approx(0)
    assert (index["model not preferred"].value, index["model preferred"].value) == (1.0, -1.0)


def test_a_guess_outside_the_answers_is_refused():
    with pytest.raises(ImpossibleValue):
        GuessRows(np.array([2], dtype=np.int8), np.array([True]), np.array([0]), np.array([0]))


def test_brier_and_overconfidence_by_hand():
    confidence, outcome = np.array([0.9, 0.8, 0.3, 0.6]), np.array([1.0, 0.0, 0.0, 1.0])
    found = calibrate(confidence, outcome, np.arange(4), against="acceptance")
    assert found.brier.value == pytest.approx((0.01 + 0.64 + 0.09 + 0.16) / 4)
    assert found.overconfidence.value == pytest.approx(0.15)
    assert [one.low for one in found.curve] == pytest.approx([0.3, 0.6, 0.8, 0.9])


@given(st.integers(0, 20))
def test_an_honest_forecaster_is_neither_over_nor_under_confident(seed):
    rng = np.random.default_rng(seed)
    confidence = rng.random(3000)
    outcome = (rng.random(3000) < confidence).astype(float)
    assert abs(calibrate(confidence, outcome, np.arange(3000) // 3, against="winning").overconfidence.value or 0) < 0.05


def test_confidence_in_percent_is_refused():
    with pytest.raises(ImpossibleValue, match="divide percents"):
        calibrate(np.array([90.0]), np.array([1.0]), np.array([0]), against="acceptance")
    with pytest.raises(NothingJudged):
        calibrate(np.array([]), np.array([]), np.array([], dtype=int), against="acceptance")


def test_a_straight_line_comes_back_with_its_slope():
    years, errors = np.array([2023.0, 2023.5, 2024.0, 2024.5, 2025.0]), np.full(5, 0.02)
    trend = fit_trend(years, 0.1 + 0.12 * (years - 2023) + np.array([0.01, -0.01, 0.0, 0.01, -0.01]), errors)
    assert trend.slope_per_year.value == pytest.approx(0.12, abs=0.02)
    assert trend.at(2024.0).value == pytest.approx(0.22, abs=0.01)
    with pytest.raises(TooFew):
        fit_trend(years[:3], years[:3], errors[:3])


def test_without_errors_the_line_is_ordinary_least_squares():
    rng = np.random.default_rng(0)
    years, rates = np.linspace(0, 3, 12), rng.random(12)
    slope = np.polyfit(years, rates, 1)[0]
    assert fit_trend(years, rates, np.zeros(12)).slope_per_year.value == pytest.approx(slope)


def test_variants_of_a_family_go_together_and_two_dates_give_no_interval():
    rng = np.random.default_rng(1)
    years, family = np.repeat([0.0, 0.7, 1.3, 2.0], 4), np.repeat(np.arange(4), 4)
    rates = 0.2 + 0.1 * years + 0.06 * rng.normal(size=4)[family] + 0.005 * rng.normal(size=16)
    alone, together = (fit_trend(years, rates, np.full(16, 0.01), family=one).slope_per_year for one in (None, family))
    assert together.value == alone.value
    assert (together.half_width or 0) > 2 * (alone.half_width or 1)
    twice = fit_trend(np.repeat([0.0, 1.0], 4), rates[:8], np.full(8, 0.01))
    assert "2 release dates" in (twice.slope_per_year.why_no_interval or "")
    assert twice.at(0.5).interval is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=50))
def test_swapping_sides_mirrors_a_paired_difference(pairs):
    first = {str(i): a / 9 for i, (a, _) in enumerate(pairs)}
    second = {str(i): b / 9 for i, (_, b) in enumerate(pairs)}
    one, other = paired_difference(first, second), paired_difference(second, first)
    assert other.value == pytest.approx(-(one.value or 0))
    assert one.interval is not None
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))


def test_equal_sides_do_not_look_certain_and_lonely_tasks_are_counted():
    same = {str(i): 0.5 for i in range(20)}
    found = paired_difference(same | {"only here": 1.0}, same)
    assert found.value == 0
    assert found.n_excluded == 1
    assert found.interval is not None
    assert found.interval[0] < -0.01 < 0.01 < found.interval[1]
    with pytest.raises(NothingPaired):
        paired_difference({"a": 1.0}, {"b": 1.0})
