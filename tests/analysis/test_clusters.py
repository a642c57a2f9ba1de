"""Two clusters at once, and errors that several models share: slow twins, properties, and where nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.analysis.calibration import SingleGrades, calibrate
from guildhall.analysis.intervals import mean_of_rows
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.analysis.paired import paired_difference, people_of, rates_by_task, smallest_seen
from guildhall.analysis.rated import NOTHING_SHARED, Shared, shared_error
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.tables import Coded
from guildhall.analysis.trend import fit_trend
from guildhall.domain.estimates import Estimate

TASKS, GRADERS = 24, 6


def graded(seed: int = 0, *, kindness: float = 1.0):
    """Values, tasks and graders: three of six graders on each task, who differ by `kindness`."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(TASKS), 3)
    grader = np.concatenate([rng.permutation(GRADERS)[:3] for _ in range(TASKS)])
    values = kindness * rng.normal(size=GRADERS)[grader] + 0.3 * rng.normal(size=len(task))
    return values, task, grader


@pytest.mark.parametrize("kindness", [0.0, 2.0])
def test_a_mean_is_less_sure_where_graders_who_judged_many_tasks_differ(kindness):
    values, task, grader = graded(kindness=kindness)
    (value, alone), (again, together) = mean_of_rows(values, task), mean_of_rows(values, task, grader)
    assert again == value
    assert together.variance >= alone.variance
    assert (together.variance > 1.4 * alone.variance) == bool(kindness)


def test_a_share_names_its_graders_and_is_wider_for_them():
    values, task, grader = graded()
    alone = clustered_share(values > 0, task, what="share")
    together = clustered_share(values > 0, task, grader=grader, what="share")
    assert together.value == alone.value
    assert "tasks and graders crossed (" in together.method
    assert (together.half_width or 0) > (alone.half_width or 0)


def test_calibration_is_the_same_where_every_grade_has_a_grader_of_its_own():
    rng = np.random.default_rng(3)
    confidence, task = rng.uniform(size=60), np.repeat(np.arange(20), 3)
    given = rng.integers(0, 2, (60, 2)).astype(float)
    alone = calibrate(confidence, given.mean(axis=1), task, against="acceptance")
    grades = SingleGrades(np.repeat(np.arange(60), 2), given.ravel(), np.arange(120))
    found = calibrate(confidence, given.mean(axis=1), task, against="acceptance", grades=grades)
    assert found.brier.interval == pytest.approx(alone.brier.interval)
    assert found.overconfidence.interval == pytest.approx(alone.overconfidence.interval)


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
    assert shared_error(rates, "win_or_tie").variance == pytest.approx(means.var() / 39)
    assert shared_error(judged(together=False), "win_or_tie").variance < 0.2 * means.var() / 40


def test_a_shared_error_moves_the_height_of_a_line_and_not_its_slope():
    years, rates = np.array([0.0, 0.5, 1.0, 1.5, 2.0]), np.array([0.2, 0.31, 0.38, 0.52, 0.6])
    errors = np.full(5, 0.05)
    alone = fit_trend(years, rates, errors)
    shared = fit_trend(years, rates, errors, shared=Shared(0.04**2, 100))
    assert shared.slope_per_year.interval == pytest.approx(alone.slope_per_year.interval)
    assert (shared.at(1.0).half_width or 0) > 1.5 * (alone.at(1.0).half_width or 0)
    assert fit_trend(years, rates, errors, shared=NOTHING_SHARED).at(1.0) == alone.at(1.0)


def pool(name: str, *, strict: float = 0.0, seed: int = 0) -> Outcomes:
    """One model on thirty tasks, all judged by six people of one pool, who differ in severity."""
    rng = np.random.default_rng(seed)
    task, grader = np.repeat(np.arange(30), 6), np.tile(np.arange(6), 30)
    chance = np.clip(0.5 + 0.1 * np.arange(-3, 3)[grader] - strict, 0.05, 0.95)
    return outcomes_from_arrays(
        task=task.tolist(),
        model=["m"] * 180,
        score=(rng.random(180) < chance).astype(float),
        grader=[f"{name}{one}" for one in grader.tolist()],
    )


def compared(one: Outcomes, other: Outcomes) -> Estimate:
    sides = [rates_by_task(side, ()) for side in (one, other)]
    first, second = (people_of(side, "m", "win") for side in sides)
    return paired_difference(sides[0].of("m", "win"), sides[1].of("m", "win"), people=(first, second))


def test_a_difference_between_pools_of_graders_counts_both_and_one_between_the_same_people_neither():
    apart = compared(pool("a", seed=1), pool("b", seed=2))
    same = compared(pool("a", seed=1), pool("a", seed=2))
    by_tasks = paired_difference(*(rates_by_task(pool("a", seed=one), ()).of("m", "win") for one in (1, 2)))
    assert apart.value == same.value == by_tasks.value
    assert (apart.half_width or 0) > 1.5 * (same.half_width or 1)
    assert (apart.target, apart.effective_graders, same.effective_graders) == ("graders like these", 12, 6)
    assert (smallest_seen(apart) or 0) > (apart.half_width or 1)


def test_a_report_that_does_not_say_who_judged_is_compared_over_tasks_alone():
    sides = [rates_by_task(pool("a", seed=one), ()) for one in (1, 2)]
    found = paired_difference(*(one.of("m", "win") for one in sides), people=(None, people_of(sides[1], "m", "win")))
    assert found.target is None
    assert found == paired_difference(*(one.of("m", "win") for one in sides))
