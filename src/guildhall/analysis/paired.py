"""Paired differences: two conditions on the same tasks, so that what tasks have in common cancels; and waves of one
study held against each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.intervals import EXACT_BELOW_EVENTS, FEWEST_CLUSTERS, joint_df, second_component, t_quantile
from guildhall.analysis.pairs import Pairs, is_word, words_in
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.design import Extension
from guildhall.domain.estimates import Estimate
from guildhall.errors import NothingPaired


def paired_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    names: tuple[str, str] = ("first", "second"),
    graders: tuple[float, int] | None = None,
    level: float = 0.95,
) -> Estimate:
    """First minus second, from task means in 0..1; tasks seen on one side only are left out and counted.

    Estimand: the mean over tasks of the difference. Interval: t over tasks; where hardly any task differs
    (fewer than 15 effective ones) two imagined tasks are added, one of which differs, half either way (after Agresti
    and Min 2005), so that rare differences do not look like none. `graders` is what those who judged several tasks, on
    one side only, add to the variance, and how many they are.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise NothingPaired(*names)
    gaps = np.array([first[task] - second[task] for task in shared])
    n, squares, fourths = len(gaps), float((gaps**2).sum()), float((gaps**4).sum())
    differing = squares**2 / fourths if fourths > 0 else 0.0
    sparse = differing < EXACT_BELOW_EVENTS
    largest = float(np.abs(gaps).max()) if squares > 0 else 1.0
    weight, total = (n + 2, squares + largest**2) if sparse else (n, squares)
    centre = float(gaps.sum()) / weight
    variance = (total / weight - centre**2) / (weight - 1)
    value, what = float(gaps.mean()), f"{names[0]} minus {names[1]}, mean over tasks"
    left_out = len(first.keys() | second.keys()) - n
    method = "t over paired tasks" + (", one imagined difference either way" if sparse else "")
    if n < FEWEST_CLUSTERS or not variance > 0:
        why = f"{n} paired tasks; an interval needs at least {FEWEST_CLUSTERS}"
        return Estimate(
            value=value,
            estimand=what,
            method=method,
            level=level,
            n_tasks=n,
            n_excluded=left_out,
            why_no_interval=why,
        )
    more, n_graders = graders or (0.0, n)
    df = joint_df((variance, n - 1), (more, n_graders - 1))
    method += f"; graders as second cluster ({n_graders})" if graders else ""
    reach = t_quantile(0.5 + level / 2, df) * math.sqrt(variance + more)
    ends = (max(-1.0, min(centre - reach, value)), min(1.0, max(centre + reach, value)))
    return Estimate(
        value=value, interval=ends, estimand=what, method=method, level=level, n_tasks=n, n_excluded=left_out
    )


@dataclass(frozen=True)
class Drift:
    """What the anchors say: the later wave's half-tie rate less the earlier one's, on the same work."""

    earlier: str
    later: str
    limit: float
    estimate: Estimate
    by_model: tuple[tuple[str, Estimate], ...]

    @property
    def pooled(self) -> bool:
        """Whether the waves may be read together: the drift is known, with an interval, and within the limit."""
        known = self.estimate.value is not None and self.estimate.interval is not None
        return known and abs(self.estimate.value or 0.0) <= self.limit

    @property
    def words(self) -> str:
        """The decision, in a sentence."""
        if self.estimate.value is None or self.estimate.interval is None:
            why = f"the drift is not known with an interval ({self.estimate.why_no_interval})"
            return f"{self.later} is not pooled with {self.earlier}: {why}."
        low, high = self.estimate.interval
        seen = f"drift {100 * self.estimate.value:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
        if not self.pooled:
            return f"{self.later} is not pooled with {self.earlier}: {seen} is past the limit of {100 * self.limit:g}."
        sure = "" if max(abs(low), abs(high)) <= self.limit else "; a larger drift is not ruled out"
        return f"{self.later} is pooled with {self.earlier}: {seen}, within the limit of {100 * self.limit:g}{sure}."


def split_anchors(later: Pairs, extension: Extension) -> tuple[Pairs, Pairs]:
    """The anchors' pairs, and the others."""
    wanted = np.array([name in set(extension.anchors) for name in later.submission.names], dtype=np.bool_)
    is_anchor = wanted[later.submission.codes] if len(wanted) else np.zeros(len(later), dtype=np.bool_)
    return later.keep(is_anchor), later.keep(~is_anchor)


def drift_of(earlier: Pairs, anchors: Pairs, extension: Extension, *, later: str, level: float = 0.95) -> Drift:
    """Drift between waves, paired by task over the very submissions that were judged in both."""
    again = set(words_in(anchors.submission))
    both = np.array([name in again for name in earlier.submission.names], dtype=np.bool_)
    before = earlier.keep(both[earlier.submission.codes]) if len(both) else earlier
    return Drift(
        earlier=extension.study,
        later=later,
        limit=extension.drift_limit,
        estimate=_difference(anchors, before, (later, extension.study), level),
        by_model=tuple(
            (
                name,
                _difference(
                    anchors.keep(is_word(anchors.model, name)),
                    before.keep(is_word(before.model, name)),
                    (later, extension.study),
                    level,
                ),
            )
            for name in sorted(words_in(anchors.model))
        ),
    )


def _difference(after: Pairs, before: Pairs, names: tuple[str, str], level: float) -> Estimate:
    later, earlier = _by_task(after), _by_task(before)
    graders = _of_graders(after, before, later.keys() & earlier.keys())
    try:
        return paired_difference(later, earlier, names=names, graders=graders, level=level)
    except NothingPaired as error:
        what = f"{names[0]} minus {names[1]}, mean over tasks"
        return Estimate(value=None, level=level, estimand=what, method="none", n_tasks=0, why_no_interval=str(error))


def _of_graders(after: Pairs, before: Pairs, tasks: AbstractSet[str]) -> tuple[float, int] | None:
    """What graders who judged several tasks add to the variance of the difference: each wave has its own."""
    rows = after.and_also(before)
    later = np.arange(len(rows)) < len(after)
    shared = np.array([name in tasks for name in rows.task.names], dtype=np.bool_)[rows.task.codes]
    errors = np.zeros(len(rows))
    for side, sign in ((shared & later, 1.0), (shared & ~later, -1.0)):
        share = _shares(rows.submission.codes[side], rows.task.codes[side])
        errors[side] = sign * share * (rows.score[side] - share @ rows.score[side])
    if not shared.any():
        return None
    return second_component(errors[shared], rows.task.codes[shared], rows.grader.codes[shared])


def _shares(work: Codes, task: Codes) -> Floats:
    """How much each grade weighs in the mean over tasks of the mean over their works of the mean over grades."""
    _, first, at, grades = np.unique(work, return_index=True, return_inverse=True, return_counts=True)
    tasks, of_work, in_task = np.unique(task[first], return_inverse=True, return_counts=True)
    each: Floats = 1.0 / (grades * in_task[of_work] * len(tasks))
    return each[at]


def _by_task(rows: Pairs) -> dict[str, float]:
    """Task -> mean over the work judged there of the mean over its grades."""
    works, _, work = rows.deliverables
    if not len(works):
        return {}
    means: Floats = np.bincount(work, rows.score) / np.bincount(work)
    task_of = np.zeros(len(works), dtype=np.int64)
    task_of[work] = rows.task.codes
    tasks, task = np.unique(task_of, return_inverse=True)
    rates = np.bincount(task, means) / np.bincount(task)
    return {rows.task.names[code]: rate for code, rate in zip(tasks.tolist(), rates.tolist(), strict=True)}
