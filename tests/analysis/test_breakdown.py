"""Breakdowns: raw cells as if alone, bands for all of them, pooled rates that lean on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from guildhall.analysis.breakdown import breakdown, cell_rates, pool_shares
from guildhall.analysis.intervals import Share, share_interval, share_intervals, share_p_values
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.analysis.spreads import tasks_alone
from guildhall.analysis.win_rates import win_rates
from guildhall.errors import UnknownName


def judged(*, tasks: int = 60, spread: float = 0.5, seed: int = 0) -> tuple[dict[str, list[Any]], Outcomes]:
    rng = default_rng(seed)
    task = np.repeat(np.arange(tasks), 4)
    occupation = task % 12
    lean = spread * rng.normal(size=12)
    score = rng.random(len(task)) < 1 / (1 + np.exp(-lean[occupation] - rng.normal(size=tasks)[task]))
    columns: dict[str, list[Any]] = {
        "task": task.tolist(),
        "model": ["ada" if i % 2 else "bea" for i in range(len(task))],
        "score": score.astype(float).tolist(),
        "occupation": [f"o{o}" for o in occupation],
        "sector": [f"s{o % 3}" for o in occupation],
    }
    return columns, outcomes_from_arrays(
        task=columns["task"],
        model=columns["model"],
        score=columns["score"],
        groups={"sector": columns["sector"], "occupation": columns["occupation"]},
    )


def test_a_cell_is_what_its_judgments_alone_would_give():
    columns, outcomes = judged()
    cells = breakdown(outcomes, ["sector", "occupation"])
    assert len(cells) == 24
    for cell in cells[::5]:
        rows = [
            i
            for i, (model, occupation) in enumerate(zip(columns["model"], columns["occupation"], strict=True))
            if model == cell.model and occupation == cell.levels["occupation"]
        ]
        picked: Any = {name: [columns[name][i] for i in rows] for name in ("task", "model", "score")}
        (alone,) = win_rates(outcomes_from_arrays(**picked))
        assert cell.raw.half_tie.value == pytest.approx(alone.half_tie.value)
        assert cell.raw.half_tie.interval == pytest.approx(alone.half_tie.interval)
        assert cell.raw.half_tie.method.startswith("exact")


def test_the_band_is_wider_than_a_cell_alone_and_pooled_rates_are_drawn_together():
    _, outcomes = judged()
    cells = breakdown(outcomes, ["occupation"])
    for cell in cells:
        (low, high), band = cell.raw.half_tie.interval or (0, 0), cell.band["half_tie"] or (0, 0)
        assert band[0] <= low < high <= band[1]
    raw = np.array([cell.raw.win.value for cell in cells], dtype=float)
    pooled = np.array([cell.pooled["win"].value for cell in cells], dtype=float)
    assert pooled.std() < raw.std()
    assert np.corrcoef(raw, pooled)[0, 1] > 0.8


def test_a_column_nobody_knows_is_refused():
    _, outcomes = judged()
    with pytest.raises(UnknownName, match="planet"):
        breakdown(outcomes, ["planet"])


def test_equal_cells_are_pooled_into_one_and_far_ones_are_left_apart():
    same = pool_shares(np.full(8, 5.0), np.full(8, 10.0))
    np.testing.assert_allclose(same.shares, 0.5, atol=1e-3)
    assert (same.high - same.low).max() < 0.45  # alone, five of ten has the exact interval 0.187 to 0.813
    far = pool_shares(np.array([20.0, 380.0, 20.0, 380.0]), np.full(4, 400.0))
    np.testing.assert_allclose(far.shares, [0.05, 0.95, 0.05, 0.95], atol=0.01)
    with pytest.raises(ValueError, match="two cells"):
        pool_shares(np.array([1.0]), np.array([2.0]))


def test_pooled_intervals_hold_95_percent_of_cells_on_average():
    rng = default_rng(2)
    held = []
    for _ in range(25):
        truth = 1 / (1 + np.exp(-0.3 - 0.6 * rng.normal(size=44)))
        pooled = pool_shares(rng.binomial(15, truth).astype(float), np.full(44, 15.0))
        held.append(np.mean((pooled.low <= truth) & (truth <= pooled.high)))
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize(("value", "n"), [(0.2, 8), (0.35, 60), (0.9, 200), (0.0, 12)])
def test_a_p_value_is_below_a_limit_just_when_the_interval_excludes_one_half(value, n):
    variance = value * (1 - value) / n
    spread = tasks_alone(variance, n)
    [p] = share_p_values([Share(value, spread, n)], against=0.5)
    assert p is not None
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        made = share_interval(value, spread, n_judgments=n, level=level)["interval"] or (0, 1)
        assert (p < 1 - level) == (not made[0] <= 0.5 <= made[1])


@given(value=st.integers(0, 18).map(lambda k: k / 18), n_tasks=st.integers(3, 3000), grades_a_task=st.integers(1, 9))
def test_a_share_that_is_the_same_on_every_task_has_an_interval_that_is_not_of_zero_width(
    value, n_tasks, grades_a_task
):
    spread = tasks_alone(0.0, n_tasks)
    found = share_interval(value, spread, n_judgments=n_tasks * grades_a_task)
    assert found["interval"] is not None
    low, high = found["interval"]
    assert low <= value <= high
    assert high - low > 1 / n_tasks
    [p] = share_p_values([Share(value, spread, n_tasks * grades_a_task)], against=0.5)
    assert p is not None
    assert (p < 0.05) == (not low <= 0.5 <= high)


def test_intervals_of_many_shares_are_those_of_each_for_itself():
    rng = default_rng(1)
    shares = [
        Share(value, tasks_alone(variance, n, df=n - 1.0 - 0.4 * (n > 4)), 3 * n)
        for n, value, variance in zip(
            rng.choice([2, 3, 7, 25, 400, 2000], 300).tolist(),
            rng.choice([0.0, 0.02, 0.4, 0.5, 1.0], 300).tolist(),
            rng.choice([0.0, 1e-5, 1e-3], 300).tolist(),
            strict=True,
        )
    ]
    for share, found in zip(shares, share_intervals(shares, level=0.9), strict=True):
        alone = share_interval(*share[:2], n_judgments=share[2], level=0.9)
        assert (found["method"], found["why_no_interval"]) == (alone["method"], alone["why_no_interval"])
        assert (found["interval"] or ()) == pytest.approx(alone["interval"] or (), rel=1e-10, abs=1e-14)


def test_few_cells_that_differ_are_found_among_many_that_do_not():
    rng = default_rng(0)
    task = np.repeat(np.arange(400), 2)
    cell = task % 20
    score = rng.random(800) < np.where(cell == 3, 0.95, 0.5)
    found = breakdown(
        outcomes_from_arrays(
            task=task.tolist(), model=["m"] * 800, score=score.astype(float).tolist(), groups={"cell": cell.tolist()}
        ),
        ["cell"],
    )
    differing = [one.levels["cell"] for one in found if one.differs_from_half]
    assert "3" in differing
    assert len(differing) <= 3


def test_tasks_that_agree_but_for_rounding_leave_a_pooled_rate_all_the_same():
    """One grade of three won on every task: the mean of ten thirds is off by a rounding error, which is no spread."""
    outcomes = outcomes_from_arrays(
        task=[f"t-{number}" for number in range(20) for _ in range(3)],
        model=["alpha"] * 60,
        score=[1.0, 0.0, 0.0] * 20,
        groups={"sector": ["Information"] * 30 + ["Finance"] * 30},
    )
    cells = cell_rates(outcomes, ["sector"], "win_or_tie")
    assert all(cell.pooled is not None and 0 < (cell.pooled.value or 0) < 1 for cell in cells)
