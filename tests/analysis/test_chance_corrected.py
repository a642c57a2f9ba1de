"""Alpha and AC on the example both literatures work out, and against the definition by pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.chance_corrected import Labels, alpha_estimate, gwet_ac, gwet_estimate, krippendorff_alpha
from guildhall.analysis.intervals import t_quantile
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


def labels(table: Any, rater: Any = None) -> Labels:
    """Ratings one by one, the first of each sample by the first rater, and so on; every sample stands for itself."""
    rows = [(s, v, n) for s, row in enumerate(table.tolist()) for n, v in enumerate(np.repeat(range(len(row)), row))]
    sample, value, who = np.array(rows, dtype=np.intp).T
    return Labels(sample, value, np.arange(len(table)), table.shape[1], None if rater is None else who)


def test_the_interval_is_that_of_leaving_samples_out_one_by_one():
    rng = np.random.default_rng(0)
    table = counted(rng.integers(0, 3, (200, 3)), range(3))
    for estimate, figure in ((alpha_estimate, krippendorff_alpha), (gwet_estimate, gwet_ac)):
        for metric in ("nominal", "ordinal"):
            measured = estimate(labels(table), unit="sample", metric=metric)
            left = np.array([figure(np.delete(table, i, axis=0), metric=metric) for i in range(200)])
            error = np.sqrt(199 / 200 * np.square(left - left.mean()).sum())
            assert measured.half_width == pytest.approx(t_quantile(0.975, 199) * error, rel=0.03)


def test_equal_ratings_throughout_and_too_few_units_have_no_interval():
    same = labels(np.array([[3, 0, 0]] * 5))
    assert alpha_estimate(same, unit="sample").value is None
    assert gwet_estimate(same, unit="sample").why_no_interval
    assert alpha_estimate(labels(counted([[0, 1], [1, 1]], range(3))), unit="task").why_no_interval


def test_one_rater_who_contradicts_the_others_makes_alpha_less_sure():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 300)
    said = np.stack([np.where(rng.random(300) < 0.85, truth, rng.integers(0, 3, 300)) for _ in range(5)], axis=1)
    said[:, 4] = 2 - truth
    sample, rater = np.repeat(np.arange(300), 5), np.tile(np.arange(5), 300)
    alone, crossed = (
        alpha_estimate(Labels(sample, said.ravel(), np.arange(300), 3, who), unit="sample") for who in (None, rater)
    )
    assert alone.value == crossed.value
    assert (crossed.half_width or 0) > 3 * (alone.half_width or 1)
