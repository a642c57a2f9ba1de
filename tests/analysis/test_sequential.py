"""The always-valid interval: it closes in, it never crosses the truth more often than said, a bank ends exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.sequential import confidence_sequence, log_wealth
from guildhall.errors import ImpossibleValue, NothingToCompare

means = st.lists(st.integers(0, 9).map(lambda wins: wins / 9), min_size=1, max_size=60).map(np.array)


@given(means)
def test_the_ends_only_ever_close_in(values):
    found = confidence_sequence(values, steps=200)
    assert (np.diff(found.lower) >= 0).all()
    assert (np.diff(found.upper) <= 0).all()


@given(means)
def test_a_bank_ends_exactly_at_its_mean(values):
    found = confidence_sequence(values, n_bank=len(values), steps=200)
    assert found.lower[-1] == pytest.approx(values.mean())
    assert found.upper[-1] == pytest.approx(values.mean())
    assert found.now.interval is None


@given(means)
def test_swapping_sides_mirrors_the_interval(values):
    one, other = confidence_sequence(values, steps=200), confidence_sequence(1 - values, steps=200)
    assert other.lower == pytest.approx(1 - one.upper)


def test_wealth_by_the_obvious_loop():
    values, candidate = np.array([1.0, 0.0, 0.5, 1.0]), 0.4
    up = down = 1.0
    mean, spread = 0.5, 0.25
    total, squares = 0.5, 0.25
    for t, value in enumerate(values, 1):
        stake = np.sqrt(2 * np.log(40) / (spread * t * np.log(1 + t)))
        up *= 1 + min(stake, 0.5 / candidate) * (value - candidate)
        down *= 1 - min(stake, 0.5 / (1 - candidate)) * (value - candidate)
        total += value
        mean = total / (t + 1)
        squares += (value - mean) ** 2
        spread = squares / (t + 1)
    found = log_wealth(values, np.array([candidate]), n_bank=None, level=0.95)
    assert found[-1, 0] == pytest.approx(np.log((up + down) / 2))


@pytest.mark.parametrize("bank", [False, True])
def test_the_truth_is_ever_excluded_in_at_most_five_percent_of_paths(bank):
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(200):
        values = rng.binomial(9, rng.beta(1, 2, 60)) / 9
        truth = values.mean() if bank else 1 / 3
        wealth = log_wealth(values, np.array([truth]), n_bank=60 if bank else None, level=0.95)
        missed += bool((wealth[: 59 if bank else 60] >= np.log(20)).any())
    assert missed <= 18  # the 99.9 % point of 200 paths at 5 %


def test_a_fixed_bank_is_narrower_than_a_population_at_the_same_look():
    values = np.random.default_rng(0).random(100)
    bank, population = confidence_sequence(values, n_bank=120), confidence_sequence(values)
    assert bank.upper[-1] - bank.lower[-1] < population.upper[-1] - population.lower[-1]


def test_nothing_complete_and_means_outside_the_unit_are_refused():
    with pytest.raises(NothingToCompare):
        confidence_sequence(np.array([]))
    with pytest.raises(ImpossibleValue):
        confidence_sequence(np.array([1.2]))
    with pytest.raises(ImpossibleValue):
        confidence_sequence(np.array([0.2, 0.3]), n_bank=1)
