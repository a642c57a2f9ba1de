"""Many groups at once are each group by itself, worked out the slow way."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.intervals import cluster_variance, joint_df, matched_df, second_component
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated
from guildhall.analysis.tables import Coded
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


def alone(judgments: list[tuple[int, ...]], convention: Convention) -> tuple[list[float], float, float, float, int]:
    """Task by task and grade by grade: the means, their mean, its variance, the df, and graders if they add to it."""
    worth = CONVENTIONS[convention]
    samples: dict[int, dict[int, list[float]]] = {}
    for _, task, sample, _, half in sorted(judgments, key=lambda one: one[1:3]):
        samples.setdefault(task, {}).setdefault(sample, []).append(worth[half])
    means = [float(np.mean([np.mean(grades) for grades in own.values()])) for own in samples.values()]
    value = float(np.mean(means))
    contributions = (np.array(means) - value) / len(means)
    variance, df = cluster_variance(contributions), matched_df(contributions)
    grader, task_of = (np.array([one[at] for one in judgments]) for at in (3, 1))
    if len(means) < 2 or grader.min() < 0:
        return means, value, variance, df, 0
    errors = [
        (worth[half] - value) / (len(means) * len(samples[task]) * len(samples[task][sample]))
        for _, task, sample, _, half in judgments
    ]
    found = second_component(np.array(errors), task_of, grader)
    if found is None:
        return means, value, variance, df, 0
    component, n = found
    return means, value, variance + component, joint_df((variance, df), (component, n - 1)), n


@given(judgments=st.lists(rows, min_size=1, max_size=120), convention=st.sampled_from([*CONVENTIONS]))
def test_every_group_is_rated_as_if_it_were_alone(judgments: list[tuple[int, ...]], convention: Convention) -> None:
    groups = Groups(outcomes_of(judgments))
    rated = Rated(groups, convention)
    every_mean = np.split(rated.means, np.cumsum(groups.n_tasks)[:-1])
    assert groups.codes.tolist() == sorted({one[0] for one in judgments})
    for at, (code, own_means, share) in enumerate(zip(groups.codes.tolist(), every_mean, rated.shares(), strict=True)):
        own = [one for one in judgments if one[0] == code]
        means, value, variance, df, n_graders = alone(own, convention)
        np.testing.assert_allclose(own_means, means, rtol=1e-12)
        assert math.isclose(share.value, value, rel_tol=1e-12, abs_tol=1e-15)
        assert share.n_judgments == len(own)
        if rated.n_graders[at] != n_graders:  # where graders add nothing, rounding decides whether they are named
            assert abs(share.variance - variance) < 1e-12
            continue
        np.testing.assert_allclose(share.variance, variance, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(share.df, df, rtol=1e-6)
