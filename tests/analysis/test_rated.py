"""Many groups at once are each group by itself, worked out the slow way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.crossed import SHARE_OF_CELLS, crossed
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated, without_one_grader
from guildhall.analysis.spreads import Spread
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import win_rates
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


def alone(judgments: list[tuple[int, ...]], convention: Convention) -> tuple[list[float], float, Spread]:
    """Task by task and grade by grade: the means, their mean, and how far it may be off."""
    worth = CONVENTIONS[convention]
    samples: dict[int, dict[int, list[float]]] = {}
    for _, task, sample, _, half in sorted(judgments, key=lambda one: one[1:3]):
        samples.setdefault(task, {}).setdefault(sample, []).append(worth[half])
    means = [float(np.mean([np.mean(grades) for grades in own.values()])) for own in samples.values()]
    value = float(np.mean(means))
    weight = np.array([1 / (len(means) * len(samples[t]) * len(samples[t][s])) for _, t, s, _, _ in judgments])
    errors = weight * (np.array([worth[half] for *_, half in judgments]) - value)
    grader, task_of = (np.array([one[at] for one in judgments]) for at in (3, 1))
    return means, value, crossed(errors, task_of, grader, weight=weight, share_of_cells=SHARE_OF_CELLS)


@given(judgments=st.lists(rows, min_size=1, max_size=120), convention=st.sampled_from([*CONVENTIONS]))
def test_every_group_is_rated_as_if_it_were_alone(judgments: list[tuple[int, ...]], convention: Convention) -> None:
    groups = Groups(outcomes_of(judgments))
    rated = Rated(groups, convention)
    every_mean = np.split(rated.means, np.cumsum(groups.n_tasks)[:-1])
    assert groups.codes.tolist() == sorted({one[0] for one in judgments})
    for code, own_means, share in zip(groups.codes.tolist(), every_mean, rated.shares(), strict=True):
        own = [one for one in judgments if one[0] == code]
        means, value, spread = alone(own, convention)
        np.testing.assert_allclose(own_means, means, rtol=1e-12)
        assert math.isclose(share.value, value, rel_tol=1e-12, abs_tol=1e-15)
        assert share.n_judgments == len(own)
        np.testing.assert_allclose(share.spread, spread, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("convention", ["win", "half_tie"])
def test_a_rate_without_a_grader_is_the_rate_of_what_the_others_said(convention: Convention) -> None:
    rng, n = np.random.default_rng(4), 160
    task, model, sample, grader = (rng.integers(most, size=n).tolist() for most in (9, 3, 2, 5))
    grader = [None if rng.random() < 0.05 else f"g{one}" for one in grader]
    grader[0], task[0], model[0] = "only-here", 99, 7
    drawn = outcomes_from_arrays(
        task=task, model=model, sample=sample, grader=grader, score=rng.choice([0.0, 0.5, 1.0], size=n)
    )
    assert drawn.grader is not None
    found = without_one_grader(Groups(drawn), convention)
    names = [drawn.model.names[code] for code in Groups(drawn).codes]
    told = {(names[group], drawn.grader.names[who]): rate for group, who, rate in zip(*map(list, found), strict=True)}
    assert np.isnan(told.pop(("7", "only-here"))), "nothing is left of a model that nobody else judged"
    assert len(told) == 15
    for (name, who), rate in told.items():
        left = drawn.keep(drawn.grader.codes != drawn.grader.names.index(who))
        [again] = [getattr(one, convention).value for one in win_rates(left) if one.model == name]
        assert rate == pytest.approx(again), (name, who)
