"""Designs: what a question needs, and where the next judgment is worth most."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.design import (
    Components,
    estimate_components,
    graders_needed,
    tasks_for_power,
    tasks_for_width,
    worth_by_task,
    worth_of_next,
)
from guildhall.errors import ImpossibleValue, TooFew


def test_seven_models_in_pairs_need_63_graders_a_task_and_nine_in_sets_of_eight():
    assert graders_needed(models=7).graders_per_task == 63
    assert graders_needed(models=7, set_size=8).graders_per_task == 9
    assert "63 graders" in graders_needed(models=7).words(pool=5, exposure=1)


def test_components_planted_in_nested_scores_are_found():
    rng = np.random.default_rng(0)
    tasks, samples, grades = 2000, 3, 3
    task = np.repeat(np.arange(tasks), samples * grades)
    sample = np.repeat(np.arange(tasks * samples), grades)
    score = rng.normal(0, 1, tasks)[task] + rng.normal(0, 0.5, tasks * samples)[sample] + rng.normal(0, 0.8, len(task))
    found = estimate_components(task, sample, score)
    assert (found.task, found.sample, found.grade) == pytest.approx((1.0, 0.25, 0.64), abs=0.1)


def test_an_interval_planned_for_a_width_has_it_in_simulation():
    rng = np.random.default_rng(1)
    need = tasks_for_width(Components(0.04, 0.0, 0.16), 0.05, graders=3)
    widths = []
    for _ in range(200):
        means = rng.normal(0.5, np.sqrt(0.04 + 0.16 / 3), need.tasks)
        widths.append(1.97 * means.std(ddof=1) / np.sqrt(need.tasks))
    assert np.mean(widths) == pytest.approx(0.05, rel=0.03)


def test_a_difference_planned_for_80_percent_power_is_found_about_that_often():
    rng = np.random.default_rng(2)
    parts = Components(0.05, 0.0, 0.2)
    need = tasks_for_power(parts, 0.06, graders=3, shared=0.5)
    spread = np.sqrt(2 * (0.025 + 0.2 / 3))
    found = 0
    for _ in range(1000):
        gaps = rng.normal(0.06, spread, need.tasks)
        found += abs(gaps.mean()) > 1.97 * gaps.std(ddof=1) / np.sqrt(need.tasks)
    assert found / 1000 == pytest.approx(0.8, abs=0.04)


@given(st.floats(0.05, 0.95), st.integers(1, 4), st.integers(1, 4))
def test_more_grades_never_ask_for_more_tasks(rate, samples, graders):
    parts = Components.of_rate(rate)
    fewer = tasks_for_width(parts, 0.05, samples=samples, graders=graders + 1)
    assert fewer.tasks <= tasks_for_width(parts, 0.05, samples=samples, graders=graders).tasks


def test_once_tasks_are_judged_often_a_new_task_is_worth_more_than_a_tenth_grade():
    worth = worth_of_next(Components(0.05, 0.05, 0.15), tasks=50, samples=3, graders=9)
    assert worth.best == "another task"
    assert worth_of_next(Components(0.0, 0.0, 0.2), tasks=50, samples=1, graders=1).best == "another task"


def test_the_task_with_fewest_grades_is_worth_most():
    assert worth_by_task(Components(0.05, 0.0, 0.2), np.array([9, 2, 5])).argmax() == 1


def test_impossible_designs_are_refused():
    with pytest.raises(ImpossibleValue):
        tasks_for_width(Components.of_rate(0.5), 0.0)
    with pytest.raises(ImpossibleValue):
        graders_needed(models=0)
    with pytest.raises(TooFew):
        estimate_components(np.array([0, 1]), np.array([0, 1]), np.array([0.0, 1.0]))
