"""Two clusters at once, and errors that several models share: slow twins, properties, and where nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.analysis.calibration import SingleGrades, calibrate
from guildhall.analysis.intervals import clustered_mean, joint_df, second_component
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.paired import paired_difference
from guildhall.analysis.rated import NOTHING_SHARED, Shared, shared_error
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.tables import Coded
from guildhall.analysis.trend import fit_trend

TASKS, GRADERS = 24, 6


def graded(seed: int = 0, *, kindness: float = 1.0):
    """Values, tasks and graders: three of six graders on each task, who differ by `kindness`."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(TASKS), 3)
    grader = np.concatenate([rng.permutation(GRADERS)[:3] for _ in range(TASKS)])
    values = kindness * rng.normal(size=GRADERS)[grader] + 0.3 * rng.normal(size=len(task))
    return values, task, grader


def test_the_second_component_is_what_a_loop_over_graders_and_pairs_finds():
    values, task, grader = graded()
    errors = (values - values.mean()) / len(values)
    by_grader = [errors[grader == one].sum() for one in range(GRADERS)]
    pairs = sorted(set(zip(grader.tolist(), task.tolist(), strict=True)))
    by_pair = [errors[(grader == who) & (task == what)].sum() for who, what in pairs]
    slow = sum(e**2 for e in by_grader) * GRADERS / (GRADERS - 1) - sum(e**2 for e in by_pair) * len(pairs) / (
        len(pairs) - 1
    )
    found = second_component(errors, task, grader)
    assert found is not None
    assert found[0] == pytest.approx(slow)
    assert found[1] == GRADERS


def test_graders_who_met_one_task_each_are_no_second_cluster():
    values, task, _ = graded()
    assert second_component(values - values.mean(), task, np.arange(len(task))) is None


def test_degrees_of_freedom_of_a_sum_lie_between_the_parts():
    assert joint_df((2.0, 7.0)) == pytest.approx(7)
    assert 5 < joint_df((1.0, 5.0), (1.0, 40.0)) < 45
    assert joint_df((0.0, 5.0), (0.0, 9.0)) == 5


@pytest.mark.parametrize("kindness", [0.0, 2.0])
def test_a_mean_is_less_sure_where_graders_who_judged_many_tasks_differ(kindness):
    values, task, grader = graded(kindness=kindness)
    alone, together = clustered_mean(values, task), clustered_mean(values, task, grader)
    assert together.value == alone.value
    assert together.error >= alone.error
    assert (together.error > 1.2 * alone.error) == bool(kindness)


def test_a_share_names_its_second_cluster_and_is_wider_for_it():
    values, task, grader = graded()
    alone = clustered_share(values > 0, task, what="share")
    together = clustered_share(values > 0, task, second=grader, what="share")
    assert together.value == alone.value
    assert "graders as second cluster (6)" in together.method
    assert (together.half_width or 0) > (alone.half_width or 0)


def test_calibration_is_the_same_where_every_grade_has_a_grader_of_its_own():
    rng = np.random.default_rng(3)
    confidence, task = rng.uniform(size=60), np.repeat(np.arange(20), 3)
    given = rng.integers(0, 2, (60, 2)).astype(float)
    alone = calibrate(confidence, given.mean(axis=1), task, against="acceptance")
    grades = SingleGrades(np.repeat(np.arange(60), 2), given.ravel(), np.arange(120))
    assert calibrate(confidence, given.mean(axis=1), task, against="acceptance", grades=grades) == alone


def test_calibration_is_less_sure_where_few_graders_gave_the_outcomes():
    rng = np.random.default_rng(3)
    confidence, task, grader = rng.uniform(size=60), np.arange(60), np.repeat(np.arange(4), 15)
    outcome = (rng.random(60) < np.array([0.1, 0.3, 0.7, 0.9])[grader]).astype(float)
    alone = calibrate(confidence, outcome, task, against="acceptance")
    grades = SingleGrades(np.arange(60), outcome, grader)
    found = calibrate(confidence, outcome, task, against="acceptance", grades=grades)
    assert (found.overconfidence.half_width or 0) > 1.5 * (alone.overconfidence.half_width or 0)
    assert found.brier.value == alone.brier.value


def judged(*, together: bool, seed: int = 1) -> Outcomes:
    """Two models on forty tasks, one grade each by somebody new; hard tasks are hard for both, or for each its own."""
    rng = np.random.default_rng(seed)
    task, model = np.tile(np.arange(40), 2), np.repeat([0, 1], 40)
    hard = rng.random(40) < 0.5
    lost = hard[task] if together else np.concatenate([hard, rng.random(40) < 0.5])
    names = tuple(str(one) for one in range(80))
    return Outcomes(
        task=Coded(task.astype(np.int32), names[:40]),
        model=Coded(model.astype(np.int32), ("one", "two")),
        sample=Coded(np.zeros(80, dtype=np.int32), ("1",)),
        halves=np.where(lost, 0, 2).astype(np.int8),
        grader=Coded(np.arange(80, dtype=np.int32), names),
    )


def test_models_that_fail_on_the_same_tasks_share_all_their_error_and_others_hardly_any():
    rates = judged(together=True)
    means = (rates.halves[:40] == 2).astype(float)
    assert shared_error(rates, "win_or_tie").variance == pytest.approx(means.var() / 40)
    assert shared_error(judged(together=False), "win_or_tie").variance < 0.2 * means.var() / 40


def test_a_shared_error_moves_the_height_of_a_line_and_not_its_slope():
    years, rates = np.array([0.0, 0.5, 1.0, 1.5, 2.0]), np.array([0.2, 0.31, 0.38, 0.52, 0.6])
    errors = np.full(5, 0.05)
    alone = fit_trend(years, rates, errors)
    shared = fit_trend(years, rates, errors, shared=Shared(0.04**2, 100))
    assert shared.slope_per_year.interval == pytest.approx(alone.slope_per_year.interval)
    assert (shared.at(1.0).half_width or 0) > 1.5 * (alone.at(1.0).half_width or 0)
    assert fit_trend(years, rates, errors, shared=NOTHING_SHARED).at(1.0) == alone.at(1.0)


def test_a_difference_between_waves_is_less_sure_where_their_graders_differ():
    first = {str(one): 0.4 + 0.1 * (one % 3) for one in range(30)}
    second = {str(one): 0.3 + 0.1 * (one % 2) for one in range(30)}
    alone, wider = paired_difference(first, second), paired_difference(first, second, graders=(0.01, 5))
    assert wider.value == alone.value
    assert (wider.half_width or 0) > 2 * (alone.half_width or 0)
    assert "graders as second cluster (5)" in wider.method
