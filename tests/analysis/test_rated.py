"""Many groups at once are each group by itself, worked out the slow way."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.clusters import cluster_variance, joint_df, matched_df, second_component
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Group, Groups
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import groups
from guildhall.domain.estimates import Convention

rows = st.tuples(
    st.integers(0, 3), st.integers(0, 4), st.integers(0, 1), st.integers(-1, 3) | st.integers(0, 3), st.integers(0, 2)
)
"""Model, task, sample, grader (-1 where unknown), and loss, tie or win."""


def outcomes_of(judgments: list[tuple[int, ...]]) -> Outcomes:
    model, task, sample, grader, halves = (np.array(column, dtype=np.int32) for column in zip(*judgments, strict=True))
    names = tuple("abcde")
    return Outcomes(
        task=Coded(task, names),
        model=Coded(model, names),
        sample=Coded(sample, names),
        halves=halves.astype(np.int8),
        grader=Coded(grader, names),
        groups={},
    )


def alone(group: Group, convention: Convention) -> tuple[list[float], float, float, float, str]:
    """Task by task and grade by grade: the means, their mean, its variance, the df, and what is said of graders."""
    worth = CONVENTIONS[convention]
    samples: dict[int, list[list[float]]] = {}
    for at, task in enumerate(group.task.tolist()):
        grades = [worth[half] for half, of in zip(group.halves, group.sample_of, strict=True) if of == at]
        samples.setdefault(task, []).append(grades)
    means = [float(np.mean([np.mean(grades) for grades in own])) for own in samples.values()]
    value = float(np.mean(means))
    contributions = (np.array(means) - value) / len(means)
    variance, df = cluster_variance(contributions), matched_df(contributions)
    assert group.grader is not None
    if len(means) < 2 or group.grader.min() < 0:
        return means, value, variance, df, ""
    task_of = group.task[group.sample_of]
    shares = [
        len(means) * len(samples[task]) * int((group.sample_of == sample).sum())
        for task, sample in zip(task_of.tolist(), group.sample_of.tolist(), strict=True)
    ]
    errors = (np.array(worth)[group.halves] - value) / np.array(shares)
    found = second_component(errors, task_of, group.grader)
    if found is None:
        return means, value, variance, df, ""
    component, n = found
    together = joint_df((variance, df), (component, n - 1))
    return means, value, variance + component, together, f"; graders as second cluster ({n})"


@given(judgments=st.lists(rows, min_size=1, max_size=120), convention=st.sampled_from([*CONVENTIONS]))
def test_every_group_is_rated_as_if_it_were_alone(judgments: list[tuple[int, ...]], convention: Convention) -> None:
    every = [group for _, group in groups(outcomes_of(judgments))]
    for group, one in zip(every, Groups(every).rated(convention), strict=True):
        means, value, variance, df, words = alone(group, convention)
        np.testing.assert_allclose(one.means, means, rtol=1e-12)
        assert math.isclose(one.value, value, rel_tol=1e-12, abs_tol=1e-15)
        if one.spread.words != words:  # where graders add nothing, rounding decides whether they are named
            assert abs(one.spread.variance - variance) < 1e-12
            continue
        np.testing.assert_allclose(one.spread.variance, variance, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(one.spread.df, df, rtol=1e-6)
