"""What working with a model saves: the study's own hours, wages, review times, prices and verdicts."""

from __future__ import annotations

from collections.abc import Callable

from guildhall.analysis.savings import UNREVIEWED
from guildhall.analysis.speed_and_cost import speed_and_cost
from guildhall.domain.design import Success
from guildhall.domain.speed_and_cost import SpeedAndCost
from guildhall.study.beside import Hand
from guildhall.study.evidence import Evidence

MOST_ROUNDS, FEWEST_ROUNDS, ROUNDS_IN_ALL = 2000, 400, 40_000
"""Each model's tasks are resampled so often; where models are many, less often each."""


def savings_of(evidence: Evidence, *, beside: Hand, w: Success = Success.WIN) -> Callable[[], SpeedAndCost | None]:
    """Begin with the ratios of every model; what comes back waits for them, and is None where none can be had.

    They need a task with both hours and a model's seconds.
    """
    table = evidence.tasks_and_models
    if table is None:
        return lambda: None
    n_models = len(table.coded("model").names)
    begun = beside(
        speed_and_cost,
        table,
        w=w,
        hours_by="hours stated with the task",
        review_by="active time at a grader's first sight of the task" if "review_minutes" in table else UNREVIEWED,
        success_by=f"{evidence.kind} graders against the {evidence.baseline}",
        seed=evidence.study.seed,
        rounds=max(FEWEST_ROUNDS, min(MOST_ROUNDS, ROUNDS_IN_ALL // n_models)),
    )
    return lambda: found if (found := begun()).models else None
