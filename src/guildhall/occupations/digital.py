"""How much of an occupation is digital: the weighted share of its tasks that are, weights from O*NET's ratings.

A task's score in one O*NET occupation is the mean of frequency/7, importance/5 and relevance/100; a missing rating is
imputed by the occupation's mean of that rating. Scores of equal tasks are summed over the O*NET occupations within one
OEWS occupation. Where no task of an OEWS occupation is rated, how often a task occurs among its parts stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from guildhall.domain.occupations import DigitalShare

FULL = {"frequency": 7.0, "importance": 5.0, "relevance": 100.0}
"""The largest value of each rating."""


@dataclass(frozen=True)
class TaskStatement:
    """A task of one O*NET occupation (an 8-digit code), with its ratings where it has any."""

    onet: str
    title: str
    task: str
    ratings: Mapping[str, float]


def adjusted_scores(statements: Sequence[TaskStatement]) -> tuple[dict[str, float], int]:
    """Task -> score within one O*NET occupation, and how many ratings were imputed. Empty when nothing is rated."""
    known = {
        name: [one.ratings[name] / full for one in statements if name in one.ratings] for name, full in FULL.items()
    }
    means = {name: sum(values) / len(values) for name, values in known.items() if values}
    if not means:
        return {}, 0
    imputed = 0
    scores: dict[str, float] = {}
    for one in statements:
        parts = []
        for name, mean in means.items():
            if name in one.ratings:
                parts.append(one.ratings[name] / FULL[name])
            else:
                parts.append(mean)
                imputed += 1
        scores[one.task] = scores.get(one.task, 0.0) + sum(parts) / len(parts)
    return scores, imputed


def task_weights(statements: Sequence[TaskStatement]) -> tuple[dict[str, float], int, str]:
    """Task -> weight (they sum to one) over all parts of an OEWS occupation, imputations, and the method's name."""
    total: dict[str, float] = {}
    imputed = 0
    for onet in sorted({one.onet for one in statements}):
        scores, missing = adjusted_scores([one for one in statements if one.onet == onet])
        imputed += missing
        for task, score in scores.items():
            total[task] = total.get(task, 0.0) + score
    method = "ratings"
    if not total:
        for one in statements:
            total[one.task] = total.get(one.task, 0.0) + 1.0
        method = "task frequency"
    whole = sum(total.values())
    return {task: score / whole for task, score in total.items()}, imputed, method


def digital_share(
    statements: Sequence[TaskStatement], is_digital: Callable[[TaskStatement], bool | None]
) -> DigitalShare:
    """The weighted share of digital tasks; unlabelled ones are left out, and an occupation with none has no share."""
    parts = tuple(sorted({one.title for one in statements}))
    rated = sum(bool(one.ratings) for one in statements)
    if not statements:
        return DigitalShare(
            share=None,
            tasks=0,
            rated_tasks=0,
            imputed=0,
            parts=(),
            method="none",
            why_absent="O*NET lists no task for it",
        )
    weights, imputed, method = task_weights(statements)
    labels = {one.task: is_digital(one) for one in statements}
    labelled = {task: label for task, label in labels.items() if label is not None and task in weights}
    whole = sum(weights[task] for task in labelled)
    share = sum(weights[task] for task, label in labelled.items() if label) / whole if whole > 0 else None
    return DigitalShare(
        share=share,
        tasks=len(labels),
        rated_tasks=rated,
        imputed=imputed,
        parts=parts,
        method=method,
        why_absent=None if share is not None else "no task of it is labelled",
    )
