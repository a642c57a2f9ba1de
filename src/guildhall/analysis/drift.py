"""Waves of one study: do graders judge as they did? Where they do the waves are pooled, past the limit they are not."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.clusters import second_component
from guildhall.analysis.paired import paired_difference
from guildhall.analysis.pairs import Pairs, is_word, words_in
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.design import Extension
from guildhall.domain.estimates import Estimate
from guildhall.errors import NothingPaired


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
