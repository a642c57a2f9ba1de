"""Exact intervals and the laws behind them, against published figures and against the laws written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from guildhall.analysis.intervals import Share, clopper_pearson, share_p_values, t_quantile
from guildhall.analysis.spreads import tasks_alone


def test_the_exact_interval_equals_the_published_example():
    """Clopper and Pearson's interval for 81 successes in 263 trials (Agresti and Coull quote 0.2527 to 0.3676)."""
    [low], [high] = clopper_pearson(np.array([81]), np.array([263]))
    assert (low, high) == pytest.approx((0.2527, 0.3676), abs=5e-5)


def test_the_exact_interval_has_width_at_the_ends():
    low, high = clopper_pearson(np.array([0, 5]), np.array([5, 5]))
    assert low == pytest.approx([0.0, 0.025 ** (1 / 5)])
    assert high == pytest.approx([1 - 0.025 ** (1 / 5), 1.0])


@given(n=st.integers(1, 200), data=st.data(), level=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_at_each_end_of_an_exact_interval_what_was_seen_is_just_rare_enough(n, data, level):
    k = data.draw(st.integers(0, n))
    [low], [high] = clopper_pearson(np.array([k]), np.array([n]), level)
    tail = (1 - level) / 2
    assert k == 0 or stats.binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-7)
    assert k == n or stats.binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-7)


@given(p=st.floats(1e-6, 1 - 1e-6), df=st.floats(1, 1e4))
def test_quantiles_of_t_undo_its_law(p, df):
    assert special.stdtr(df, t_quantile(p, df)) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(("p", "df", "printed"), [(0.975, 1, 12.7062), (0.975, 10, 2.2281), (0.95, 30, 1.6973)])
def test_quantiles_of_t_equal_the_printed_tables(p, df, printed):
    assert t_quantile(p, df) == pytest.approx(printed, abs=5e-5)
    assert t_quantile(p, math.inf) == pytest.approx(float(special.ndtri(p)), rel=1e-12)


def test_p_values_of_many_shares_are_those_of_each_for_itself():
    shares = [
        Share(value, tasks_alone(0.01, n), 3 * n) for n in (2, 5, 40, 3000) for value in (0.0, 0.3, 0.5, 0.96, 1.0)
    ]
    together = share_p_values(shares, against=0.5)
    assert together == [share_p_values([one], against=0.5)[0] for one in shares]
    assert [one is None for one in together] == [one.spread.n_tasks < 3 for one in shares]
    assert all(p is None or 0 <= p <= 1 for p in together)
