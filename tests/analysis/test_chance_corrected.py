"""Alpha and AC on the example both literatures work out, and against the definition by pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.chance_corrected import alpha_estimate, gwet_ac, gwet_estimate, krippendorff_alpha
from guildhall.analysis.intervals import matched_df, t_quantile
from guildhall.analysis.ratings_table import types_from_counts
from tests.analysis import twins

PUBLISHED = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip
"""Krippendorff (2011): twelve units, four observers, five values, missing data."""


def counted(units: Any, values: Any) -> Any:
    return np.array([[list(unit).count(value) for value in values] for unit in units])


@pytest.mark.parametrize(("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_equals_the_published_example(metric, alpha):
    assert krippendorff_alpha(counted(PUBLISHED, range(1, 6)), metric=metric) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize(("metric", "ac"), [("nominal", 0.77544), ("ordinal", 0.89894), ("interval", 0.91400)])
def test_gwet_equals_the_published_example(metric, ac):
    """Gwet's own figures for the same data: identity, ordinal and quadratic weights."""
    assert gwet_ac(counted(PUBLISHED, range(1, 6)), metric=metric) == pytest.approx(ac, abs=5e-6)


units = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=2, max_size=15)


@given(units=units)
def test_alpha_equals_its_definition_by_pairs(units):
    pairable = [v for unit in units if len(unit) > 1 for v in unit]
    table = counted(units, range(3))
    if len(set(pairable)) < 2:
        assert krippendorff_alpha(table) is None
        return
    assert krippendorff_alpha(table, metric="nominal") == pytest.approx(twins.alpha(units, lambda x, y: float(x != y)))
    assert krippendorff_alpha(table, metric="interval") == pytest.approx(twins.alpha(units, lambda x, y: (x - y) ** 2))


@given(units=units)
def test_types_with_their_numbers_give_what_single_samples_give(units):
    table = counted(units, range(3))
    types = types_from_counts(table)
    for figure in (krippendorff_alpha, gwet_ac):
        whole, short = figure(table), figure(types.counts, times=types.times)
        assert short == (None if whole is None else pytest.approx(whole))


def test_the_jackknife_equals_leaving_units_out_one_by_one():
    rng = np.random.default_rng(0)
    table = counted(rng.integers(0, 3, (60, 3)), range(3))
    for estimate, figure in ((alpha_estimate, krippendorff_alpha), (gwet_estimate, gwet_ac)):
        for metric in ("nominal", "ordinal"):
            measured = estimate(table, np.arange(60), unit="sample", metric=metric)
            left = np.array([figure(np.delete(table, i, axis=0), metric=metric) for i in range(60)])
            error = np.sqrt(59 / 60 * np.square(left - left.mean()).sum())
            reach = t_quantile(0.975, matched_df(left - left.mean()))
            assert measured.half_width == pytest.approx(reach * error, rel=1e-6)


def test_equal_ratings_throughout_and_too_few_units_have_no_interval():
    same = np.array([[3, 0, 0]] * 5)
    assert alpha_estimate(same, np.arange(5), unit="sample").value is None
    assert gwet_estimate(same, np.arange(5), unit="sample").why_no_interval
    assert alpha_estimate(counted([[0, 1], [1, 1]], range(3)), np.arange(2), unit="task").why_no_interval
