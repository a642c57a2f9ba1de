"""Grader effects on planted judgments, against a dense twin, and their refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from guildhall.analysis.effects import (
    JudgedRows,
    clustered_slope,
    drift_effect,
    grader_severities,
    kin_effect,
    length_effect,
    position_effect,
)
from guildhall.errors import ImpossibleValue, NothingJudged


def judged(*, tasks: int = 120, seed: int = 0) -> JudgedRows:
    """Four models, four graders who are the models, planted effects: place 0.08, kin 0.1, length 0.05, drift -0.02."""
    rng = np.random.default_rng(seed)
    task, model, grader = (axis.ravel() for axis in np.meshgrid(range(tasks), range(4), range(4), indexing="ij"))
    n = len(task)
    first, length, days = rng.random(n) < 0.5, rng.normal(0, 0.7, n), rng.uniform(0, 300, n)
    kin = model == grader
    severity = np.array([-0.1, 0.0, 0.05, 0.05])
    score = 0.5 + 0.1 * rng.normal(size=tasks)[task] + np.array([0.1, 0.0, -0.05, -0.05])[model] + severity[grader]
    score = score + 0.08 * first + 0.1 * kin + 0.05 * length / np.log(2) - 0.02 * days / 30 + 0.2 * rng.normal(size=n)
    return JudgedRows(
        task=task,
        model=model,
        grader=grader,
        sample=task * 4 + model,
        score=score,
        shown_first=first,
        log_length_ratio=length,
        kin=kin,
        days=days,
    )


@pytest.mark.parametrize(
    ("effect", "planted"), [(position_effect, 0.08), (length_effect, 0.05), (kin_effect, 0.1), (drift_effect, -0.02)]
)
def test_planted_effects_lie_in_their_intervals(effect, planted):
    found = effect(judged())
    assert found.interval is not None
    assert found.interval[0] < planted < found.interval[1]
    assert found.n_tasks == 120


def test_a_kind_grader_is_told_from_a_strict_one_on_the_same_samples():
    rows = judged()
    found = grader_severities(
        replace(rows, score=rows.score - 0.1 * (rows.kin if rows.kin is not None else 0)), dict(enumerate("abcd"))
    )
    assert (found["a"].value or 0) < -0.05
    assert (found["d"].value or 0) > 0.0
    assert found["a"].value == pytest.approx(-0.1 - 0.1 / 3, abs=0.04)


def test_the_absorbed_slope_equals_the_one_of_a_dense_design():
    rows = judged(tasks=20)
    kin = (rows.model == rows.grader).astype(float)
    dense = np.column_stack([kin, *(rows.model == m for m in range(4)), *(rows.grader == g for g in range(3))]).astype(
        float
    )
    twin = np.linalg.lstsq(dense, rows.score, rcond=None)[0][0]
    found = clustered_slope(rows.score, kin, absorb=(rows.model, rows.grader), task=rows.task)
    assert found is not None
    assert found.value == pytest.approx(twin)


def test_what_was_not_recorded_or_does_not_vary_has_no_effect_and_says_why():
    rows = judged()
    assert "do not say" in (position_effect(replace(rows, shown_first=None)).why_no_interval or "")
    constant = replace(rows, shown_first=np.ones(len(rows.score), dtype=bool))
    assert "does not vary" in (position_effect(constant).why_no_interval or "")
    alone = replace(rows, sample=np.arange(len(rows.score)))
    assert grader_severities(alone, {0: "a"})["a"].why_no_interval == "no sample was judged by anybody else"


def test_one_task_gives_a_value_and_no_interval():
    rows = judged(tasks=1)
    assert position_effect(rows).interval is None


def test_nothing_and_nan_are_refused():
    rows = judged(tasks=3)
    with pytest.raises(NothingJudged):
        JudgedRows(*(np.array([], dtype=int),) * 4, np.array([]))
    with pytest.raises(ImpossibleValue):
        position_effect(replace(rows, score=np.full(len(rows.score), np.nan)))
