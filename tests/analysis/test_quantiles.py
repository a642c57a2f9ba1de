"""Our own laws against SciPy's, which the package never imports for them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from guildhall.analysis.quantile_arrays import FEW, beta_quantiles, clopper_pearson_ends, t_quantiles
from guildhall.analysis.quantiles import (
    beta_cdf,
    beta_quantile,
    binomial_cdf,
    binomial_test,
    clopper_pearson,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

PROBABILITIES = [1e-12, 1e-6, 0.001, 0.0125, 0.025, 0.05, 0.3, 0.5, 0.7, 0.95, 0.975, 0.999, 1 - 1e-6]
SHAPES = [0.5, 1.0, 2.5, 7.0, 40.0, 311.5, 5e3, 1e6]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_normal_quantiles_equal_those_of_scipy(p):
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-10, abs=1e-14)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-10)


@pytest.mark.parametrize("df", [1, 2, 3, 4.5, 9, 29, 219, 4999, 1e6])
def test_t_quantiles_equal_those_of_scipy(df):
    for p in PROBABILITIES:
        assert t_quantile(p, df) == pytest.approx(special.stdtrit(df, p), rel=1e-10, abs=1e-14), p


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES, SHAPES)])
def test_beta_quantiles_equal_those_of_scipy(a, b):
    for p in PROBABILITIES:
        assert beta_quantile(p, a, b) == pytest.approx(special.betaincinv(a, b, p), rel=1e-10, abs=1e-14), p


@pytest.mark.parametrize("p", [0.7, 0.95, 0.975, 0.999, 1 - 1e-6])
def test_quantiles_of_many_t_laws_equal_those_of_scipy(p):
    df = np.geomspace(1, 1e6, 2 * FEW)
    assert t_quantiles(p, df) == pytest.approx(special.stdtrit(df, p), rel=1e-10)
    assert t_quantiles(p, np.append(df, np.inf))[-1] == normal_quantile(p)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_quantiles_of_many_beta_laws_equal_those_of_scipy(p):
    a, b = (one.ravel() for one in np.meshgrid(np.geomspace(0.5, 1e6, 20), np.geomspace(0.5, 1e6, 20)))
    assert beta_quantiles(p, a, b) == pytest.approx(special.betaincinv(a, b, p), rel=1e-10, abs=1e-14)


def test_exact_intervals_of_many_shares_are_those_of_each():
    trials = np.repeat(np.arange(3.0, 40.5, 0.75), 11)
    successes = np.tile(np.linspace(0.0, 1.0, 11), len(trials) // 11) * trials
    low, high = clopper_pearson_ends(successes, trials, 0.95)
    each = [clopper_pearson(*one) for one in zip(successes.tolist(), trials.tolist(), strict=True)]
    assert len(trials) > FEW and np.column_stack([low, high]) == pytest.approx(np.array(each), rel=1e-10, abs=1e-14)


@given(x=st.floats(-30, 30), df=st.floats(0.5, 1e5))
def test_the_t_law_equals_that_of_scipy(x, df):
    assert t_cdf(x, df) == pytest.approx(special.stdtr(df, x), rel=1e-9, abs=1e-14)


@given(x=st.floats(0.001, 0.999), a=st.floats(0.1, 1e4), b=st.floats(0.1, 1e4))
def test_the_beta_law_equals_that_of_scipy(x, a, b):
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-8, abs=1e-13)


@given(n=st.integers(1, 300), p=st.floats(0.01, 0.99), data=st.data())
def test_the_binomial_law_and_test_equal_those_of_scipy(n, p, data):
    k = data.draw(st.integers(0, n))
    assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-14)
    assert binomial_test(k, n, p) == pytest.approx(stats.binomtest(k, n, p).pvalue, rel=1e-7)


def test_the_exact_interval_equals_the_published_example():
    """Clopper and Pearson's interval for 81 successes in 263 trials (Agresti and Coull quote 0.2527 to 0.3676)."""
    assert clopper_pearson(81, 263) == pytest.approx((0.2527, 0.3676), abs=5e-5)


def test_the_exact_interval_has_width_at_the_ends():
    assert clopper_pearson(0, 5) == pytest.approx((0.0, 1 - 0.025 ** (1 / 5)))
    assert clopper_pearson(5, 5) == pytest.approx((0.025 ** (1 / 5), 1.0))


@given(p=st.floats(1e-6, 1 - 1e-6), df=st.floats(1, 1e4))
def test_quantiles_undo_their_law(p, df):
    assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(ValueError, match="probability"):
        normal_quantile(p)
