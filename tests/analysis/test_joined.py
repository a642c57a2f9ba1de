"""The short form of the proofs joined-coverage and joined-narrowing, and what joined rates keep to exactly."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from proofs.joined import CELLS, Planted, draw, found, narrowing, outside, truth_of, walk

from guildhall.analysis.joined import joined_rate

RUNS = 40


@pytest.mark.parametrize("name", ["a good judge that is too kind", "a judge that is noise", "stopped on width"])
def test_joined_intervals_and_those_of_the_judges_bias_hold_their_truth(name: str):
    seen = walk(CELLS[name], runs=RUNS, seed=7)
    assert not outside(CELLS[name], seen, tests=9), seen
    assert not any(seen["without_interval"].values())
    assert seen["narrower_than_people_by"] > -0.03


def test_a_planted_bias_is_found_with_its_sign():
    for kind in (1.5, -1.5):
        cell = Planted(samples=3, graders=20, kind=kind)
        rng, truth = np.random.default_rng(3), truth_of(cell).bias
        biases = [found(cell, draw(cell, rng)).bias for _ in range(12)]
        assert np.mean([one.value or 0.0 for one in biases]) == pytest.approx(truth, abs=0.06)
        assert (
            sum((one.interval or (0, 0))[0] * kind > 0 or (one.interval or (0, 0))[1] * kind < 0 for one in biases) > 6
        )


@pytest.mark.parametrize(("rho", "least"), [(0.0, -0.03), (0.5, 0.8 * 0.12), (0.7, 0.8 * 0.25)])
def test_joined_intervals_are_about_as_much_narrower_as_theory_allows(rho: float, least: float):
    assert narrowing(rho, runs=RUNS, seed=5)["narrower_by"] >= least


def one_of(f: list[float], said: list[float], n: int = 40, *, known: int = 0):
    """`n` works, the first of which have these grades; the judge's verdicts repeat `f`."""
    keys = [str(work) for work in range(n)]
    marks = [len(said) / n if work < len(said) else None for work in range(n)]
    works = pl.DataFrame(
        {"id": keys, "task": range(n), "sample": [1] * n, "key": keys, "f": [f[work % len(f)] for work in range(n)]}
    ).with_columns(
        y=pl.Series([0.0 if n - known <= work else None for work in range(n)], dtype=pl.Float64()),
        drawn=pl.Series(marks, dtype=pl.Float64()),
        ungradable=pl.lit(value=False),
    )
    given = {str(work): [(score, work % 5)] for work, score in enumerate(said)}
    return joined_rate("m", works, given, wanted=1, convention="half_tie", level=0.95)


def test_a_judge_without_an_error_on_the_labels_is_not_taken_to_have_none():
    f = [1.0, 0.0]
    some, more = (one_of(f, [1.0, 0.0] * half, n=400) for half in (5, 50))
    for one in (some, more):
        assert one.bias.value == pytest.approx(0, abs=1e-9) and one.bias.interval is not None
        assert one.bias.interval[0] < 0 < one.bias.interval[1]
    assert (some.bias.half_width or 0) > 5 * (more.bias.half_width or 1)
    assert (some.joined.half_width or 0) > 1.5 * (more.joined.half_width or 1)


def test_a_constant_added_to_a_judges_verdicts_moves_its_bias_and_nothing_else():
    rng = np.random.default_rng(0)
    f, said = (0.5 * rng.random(40)).tolist(), rng.integers(0, 2, 20).astype(float).tolist()
    plain, kind = one_of(f, said), one_of([one + 0.3 for one in f], said)
    assert kind.joined.value == pytest.approx(plain.joined.value) and kind.lam == pytest.approx(plain.lam)
    assert (kind.bias.value or 0) - (plain.bias.value or 0) == pytest.approx(0.3)


def test_what_rules_decide_enters_with_its_whole_weight_and_none_of_the_doubt():
    half = one_of([0.5], [1.0, 0.0] * 5, n=40, known=20)
    assert half.people.value == pytest.approx(0.25) and half.decided == 20


def test_fewer_gradings_than_an_interval_needs_give_a_reason_and_no_number():
    one = one_of([1.0, 0.0], [1.0, 0.0])
    for estimate in (one.joined, one.people, one.bias):
        assert estimate.value is None and "2 gradings" in (estimate.why_no_interval or "")
    assert one.worth is None and one.ceiling is None
