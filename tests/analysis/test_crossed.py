"""People are a sample: one function against matrices written out, and what it says of few and unnamed graders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.crossed import SHARE_OF_CELLS, Crossing, crossed
from guildhall.analysis.outcomes import NOBODY, UNKNOWN
from guildhall.analysis.spreads import LIKE_THESE, NO_SPREAD, THESE, joined, joint_df


def slow(errors: Any, task: Any, grader: Any, weight: Any, stratum: Any) -> tuple[float, float, float]:
    """The same from dense matrices: errors are a centring matrix times values, and every sum of squares a trace."""
    weight = weight / weight.sum()
    same = stratum[:, None] == stratum
    centring = np.diag(weight) @ (np.eye(len(task)) - same * weight / (same @ weight)[:, None])
    apart = np.linalg.pinv(np.diag(weight)) @ errors
    errors = centring @ apart
    tasks, graders, cells = (
        np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        for codes in (task, grader, np.stack([task, grader], 1))
    )
    in_task, in_grader, in_cell = (np.eye(codes.max() + 1)[codes] for codes in (tasks, graders, cells))

    def adds(by: Any, component: Any) -> float:
        return float(np.square(by.T @ centring @ component).sum())

    noise = 0.0
    for one in range(tasks.max() + 1):
        # What each grader's sum would be, were there errors on this task only and the mean taken off.
        only = np.where(tasks == one, errors, 0.0)
        again = only - weight * (same @ only) / (same @ weight)
        n = len(set(tasks[stratum == stratum[tasks == one][0]].tolist()))
        noise += float(np.square(in_grader.T @ again).sum()) * n / (n - 1)
    by_task = float(np.square(in_task.T @ errors).sum())
    alone = by_task * float(np.square(in_task.T @ weight).sum()) / adds(in_task, in_task)
    by_grader = float(np.square(in_grader.T @ errors).sum())
    unit = max(0.0, (by_grader - noise) / (adds(in_grader, in_grader) - adds(in_grader, in_cell)))
    spent = float(np.square(in_grader.T @ weight).sum())
    shown = adds(in_task, in_grader) * float(np.square(in_task.T @ weight).sum()) / adds(in_task, in_task)
    variance = alone + unit * max(spent - shown, 0.0)
    return alone, variance, min(unit * spent + SHARE_OF_CELLS * noise, variance)


def judged(seed: int, *, tasks: int = 24, graders: int = 5, each: int = 3, strata: int = 1, kindness: float = 1.0):
    """Errors of a mean, tasks, graders, weights and strata; some grades are lost."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(tasks), each)
    grader = np.concatenate([rng.permutation(graders)[:each] for _ in range(tasks)])
    values = kindness * rng.normal(size=graders)[grader] + rng.normal(size=tasks)[task] + rng.normal(size=len(task))
    weight = rng.uniform(0.5, 2.0, size=len(task))
    kept = rng.random(len(task)) < 0.9
    task, grader, values, weight = task[kept], grader[kept], values[kept], weight[kept]
    weight /= weight.sum()
    return weight * (values - weight @ values), task, grader, weight, task % strata


@pytest.mark.parametrize("strata", [1, 3])
@given(seed=st.integers(0, 60))
def test_every_figure_is_that_of_matrices_written_out(strata, seed):
    errors, task, grader, weight, stratum = judged(seed, strata=strata)
    found = crossed(errors, task, grader, weight=weight, stratum=stratum, share_of_cells=SHARE_OF_CELLS)
    told = (found.by_tasks, found.variance, found.of_graders)
    assert told == pytest.approx(slow(errors, task, grader, weight, stratum), rel=1e-9)


@given(seed=st.integers(0, 60), groups=st.integers(1, 4))
def test_many_groups_at_once_are_each_group_by_itself(seed, groups):
    parts = [judged(seed + one, tasks=8 + one, graders=3 + one, strata=1 + one % 2) for one in range(groups)]
    errors, task, grader, weight, stratum = (np.concatenate(column) for column in zip(*parts, strict=True))
    group = np.repeat(np.arange(groups), [len(part[0]) for part in parts])
    together = Crossing(weight, group=group, task=task, grader=grader, stratum=stratum).spreads(errors)
    for at, (own, one_task, one_grader, one_weight, one_stratum) in enumerate(parts):
        alone = crossed(own, one_task, one_grader, weight=one_weight, stratum=one_stratum)
        assert together[at] == pytest.approx(alone, rel=1e-9)


def test_graders_of_one_task_each_add_nothing_of_their_own():
    errors, task, _, weight, _ = judged(3)
    alone, found = crossed(errors, task, weight=weight), crossed(errors, task, np.arange(len(task)), weight=weight)
    assert (found.variance, found.of_graders) == pytest.approx((alone.variance, 0))
    assert found.target == LIKE_THESE
    assert alone.target is None


def test_what_graders_add_is_found_and_nothing_where_they_are_alike():
    rng = np.random.default_rng(0)
    shares: dict[float, list[float]] = {0.0: [], 1.0: []}
    for kindness, seen in shares.items():
        for _ in range(60):
            errors, task, grader, weight, _ = judged(int(rng.integers(1 << 30)), tasks=60, kindness=kindness)
            seen.append(crossed(errors, task, grader, weight=weight).of_graders)
    # One SD among five graders; weights differ a little.
    assert np.mean(shares[1.0]) == pytest.approx(1 / 5, rel=0.25)
    assert np.mean(shares[0.0]) < 0.01


def test_one_grader_who_did_nearly_everything_leaves_an_interval_for_these_very_graders_only():
    task, grader = np.arange(100), np.where(np.arange(100) < 80, 0, 1 + np.arange(100) % 5)
    errors = np.random.default_rng(0).normal(size=100) / 100
    found = crossed(errors, task, grader)
    assert found.effective_graders < 2.5 < found.n_graders
    assert found.target == THESE
    assert (found.of_graders, found.design_effect) == (0, None)
    assert "these very graders" in found.words
    assert found.variance == crossed(errors, task).variance


@pytest.mark.parametrize(("blank", "target"), [(4, LIKE_THESE), (6, THESE)])
def test_judgments_without_a_name_are_one_persons_and_not_many_of_them_are_borne(blank, target):
    errors, task, grader, weight, _ = judged(1, tasks=40, graders=8)
    named = grader.copy()
    named[: len(task) * blank // 100] = UNKNOWN
    found = crossed(errors, task, named, weight=weight)
    assert found.target == target
    if target == LIKE_THESE:
        one_more = np.where(named == UNKNOWN, 99, named)
        assert found._replace(unnamed=0.0) == crossed(errors, task, one_more, weight=weight)
    else:
        assert "do not name theirs" in found.words


def test_where_a_rule_decided_nobody_is_counted_as_a_grader():
    errors, task, grader, weight, _ = judged(2, tasks=40)
    ruled = np.arange(len(task)) % 4 == 0
    found = crossed(errors, task, np.where(ruled, NOBODY, grader), weight=weight)
    assert found.n_graders == 5
    assert found.effective_graders == pytest.approx(
        crossed(errors[~ruled], task[~ruled], grader[~ruled]).effective_graders
    )


def test_strata_with_one_grader_are_merged_and_fixed_strata_make_the_estimate_surer():
    rng = np.random.default_rng(5)
    stratum = np.repeat(np.arange(12), 5)
    values = 3.0 * rng.normal(size=12)[stratum] + rng.normal(size=60)
    errors, graders = (values - values.mean()) / 60, stratum * 4 + rng.integers(0, 4, 60)
    loose, tight = crossed(errors, np.arange(60), graders), crossed(errors, np.arange(60), graders, stratum=stratum)
    assert tight.variance < 0.3 * loose.variance
    alone = np.where(stratum < 3, 100 + stratum, graders)
    merged = crossed(errors, np.arange(60), alone, stratum=stratum)
    by_hand = crossed(errors, np.arange(60), alone, stratum=np.where(stratum < 3, 0, stratum))
    assert merged == pytest.approx(by_hand, rel=1e-9)


def test_a_sum_over_two_pools_has_both_pools_graders_and_welchs_degrees_of_freedom():
    one, other = (crossed(*judged(seed, tasks=60, kindness=2.0)[:3]) for seed in (1, 2))
    both = joined(crossed(*judged(3)[:2]), one, other)
    assert both.of_graders == pytest.approx(one.of_graders + other.of_graders)
    assert max(one.df_graders, other.df_graders) < both.df_graders < one.df_graders + other.df_graders
    assert joint_df((2.0, 7.0)) == pytest.approx(7)
    assert joint_df((0.0, 5.0), (0.0, 9.0)) == 5


def test_nothing_that_differs_has_no_spread_and_one_task_an_unknown_one():
    assert crossed(np.zeros(9), np.arange(9), np.arange(9) % 3).variance <= NO_SPREAD
    assert np.isnan(crossed(np.array([0.1, -0.1]), np.zeros(2, dtype=int), np.arange(2)).variance)
