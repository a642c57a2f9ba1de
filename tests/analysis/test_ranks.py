"""Models are told apart by differences paired by task, in statements that hold together; nobody is best by chance."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.analysis.ranks import differences, verdict
from guildhall.analysis.spreads import LIKE_THESE
from guildhall.domain.estimates import Estimate


def drawn(
    rates: dict[str, float], *, tasks: int, rng: np.random.Generator, graders: int = 12, severity: float = 0.0
) -> Outcomes:
    """Each model judged twice on each task; tasks are easy or hard for all models alike, graders kind or not."""
    easy, kind = rng.normal(size=tasks), rng.normal(scale=severity, size=graders)
    rows = []
    for task in range(tasks):
        for model, rate in rates.items():
            for _ in range(2):
                grader = int(rng.integers(graders))
                chance = 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + easy[task] + kind[grader])))
                rows.append((f"t{task}", model, f"g{grader}", float(rng.random() < chance)))
    tasks_, models, by, scores = zip(*rows, strict=True)
    return outcomes_from_arrays(task=tasks_, model=models, score=scores, grader=by)


def test_of_equal_models_one_is_called_the_best_in_few_runs() -> None:
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        found = differences(drawn(dict.fromkeys("abcd", 0.5), tasks=30, rng=rng), level=0.95)
        wrong += bool(found.better.any())
    assert wrong <= 21, f"{wrong} of 200: beyond what 5 % ever gives (p < .001)"


def test_graders_that_differ_do_not_make_a_winner() -> None:
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(200):
        found = differences(drawn(dict.fromkeys("abcd", 0.5), tasks=30, rng=rng, graders=8, severity=1.0), level=0.95)
        wrong += bool(found.better.any())
    assert wrong <= 21


def test_a_few_graders_with_tastes_of_their_own_do_not_make_a_winner() -> None:
    rng, wrong, tasks, graders = np.random.default_rng(5), 0, 30, 6
    for _ in range(120):
        easy, likes = rng.normal(size=tasks), rng.normal(scale=0.7, size=(graders, 4))
        task = np.repeat(np.arange(tasks), 12)
        model = np.tile(np.repeat(np.arange(4), 3), tasks)
        grader = np.concatenate([np.tile(rng.choice(graders, 3, replace=False), 4) for _ in range(tasks)])
        won = rng.random(len(task)) < 1 / (1 + np.exp(-easy[task] - likes[grader, model]))
        found = differences(
            outcomes_from_arrays(
                task=task.tolist(), model=model.tolist(), score=won.astype(float), grader=grader.tolist()
            )
        )
        wrong += bool(found.better.any())
        assert found.between("0", "1").target == LIKE_THESE
    assert wrong <= 14, f"{wrong} of 120: beyond what 5 % ever gives (p < .001)"


def test_a_model_that_is_far_better_is_the_best_and_nobody_else_may_be() -> None:
    found = differences(drawn({"a": 0.9, "b": 0.3, "c": 0.3}, tasks=80, rng=np.random.default_rng(3)))
    assert found.best == ("a",)
    assert found.ranks("a") == (1, 1)
    assert found.ranks("b")[1] == 3
    low, high = found.between("a", "b").interval or (0.0, 0.0)
    assert low > 0 and high < 1
    assert found.between("b", "a").interval == pytest.approx((-high, -low))


def test_models_that_share_too_few_tasks_are_not_told_apart() -> None:
    outcomes = outcomes_from_arrays(
        task=["1", "2", "3", "2", "3", "4"], model=[*"aaabbb"], score=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    )
    found = differences(outcomes)
    assert found.best == ("a", "b") and found.between("a", "b").interval is None


def of(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, interval=(low, high), estimand="a difference", method="made")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.01, 0.2, "better"),
        (-0.2, -0.01, "worse"),
        (-0.04, 0.04, "equivalent within 5 points"),
        (-0.04, 0.2, "no worse by more than 5 points"),
        (-0.2, 0.04, "not told apart"),
        (-0.2, 0.2, "not told apart"),
    ],
)
def test_a_margin_decides_what_may_be_said(low: float, high: float, said: str) -> None:
    assert verdict(of(low, high), margin=0.05) == said
    assert verdict(of(0.5 + low, 0.5 + high), margin=0.05, zero=0.5) == said
