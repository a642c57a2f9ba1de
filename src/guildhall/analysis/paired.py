"""Paired differences: two conditions on the same tasks, so that what tasks have in common cancels; and waves of one
study held against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from guildhall.analysis.intervals import EXACT_BELOW_EVENTS, mean_interval, t_quantile
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.pairs import Pairs, is_word, words_in
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated
from guildhall.analysis.spreads import Spread, joined, tasks_alone
from guildhall.analysis.tables import Coded
from guildhall.domain.design import Extension
from guildhall.domain.estimates import Convention, Estimate
from guildhall.domain.report import GraderErrors, GradersOfModel, TaskRates
from guildhall.domain.studies import Study
from guildhall.errors import NothingPaired


def rates_by_task(outcomes: Outcomes, waves: Iterable[Study]) -> TaskRates:
    """Rates by model and task, tasks under the version that the studies pin."""
    keys = {name: key for study in waves for name, key in study.pins.items()}
    groups = Groups(outcomes)
    models = [outcomes.model.names[code] for code in groups.codes.tolist()]
    place = np.repeat(np.arange(len(groups)), groups.n_tasks), groups.names_of_tasks
    rates: dict[str, dict[str, tuple[float | None, ...]]] = {}
    conventions: tuple[Convention, ...] = ("win", "win_or_tie")
    for convention in conventions:
        means = np.full((len(groups), len(outcomes.task.names)), None, dtype=object)
        means[place] = groups.task_means(convention).tolist()
        rates[convention] = dict(zip(models, map(tuple, means.tolist()), strict=True))
    tasks = tuple(keys.get(name, name) for name in outcomes.task.names)
    graders = () if outcomes.grader is None else outcomes.grader.names
    return TaskRates(
        tasks=tasks,
        win=rates["win"],
        win_or_tie=rates["win_or_tie"],
        graders=tuple(sha256(name.encode()).hexdigest()[:12] for name in graders),
        of_graders=dict(zip(models, _of_graders(groups, len(graders)), strict=True)),
    )


def _of_graders(groups: Groups, n_graders: int) -> list[GradersOfModel]:
    """What each group's graders add to the errors of its rates."""
    crossing, errors = groups.crossing, dict[str, list[list[float]]]()
    parts: list[dict[str, GraderErrors]] = [{} for _ in range(len(groups))]
    for convention in CONVENTIONS:
        rated = Rated(groups, convention)
        spreads = rated.spreads
        noise, scale = crossing.noise(rated.errors)
        added = np.where(spreads.like_these, np.fmax(spreads.variance - spreads.by_tasks, 0.0), 0.0)
        columns = (added, spreads.of_graders, noise, scale)
        for own, part in zip(parts, zip(*(one.tolist() for one in columns), strict=True), strict=True):
            own[convention] = GraderErrors(**dict(zip(GraderErrors.model_fields, part, strict=True)))
        if convention != "half_tie":
            by_person = np.zeros((len(groups), n_graders + 1))
            known = crossing.person < n_graders
            by_person[crossing.graders.group[known], crossing.person[known]] = crossing.by_person(rated.errors)[known]
            errors[convention] = [[float(f"{one:.7g}") for one in row] for row in by_person[:, :n_graders].tolist()]
    return [
        GradersOfModel(
            number=one.n_graders,
            effective=one.effective_graders,
            df=one.df_graders,
            like_these=one.like_these,
            unnamed=one.unnamed,
            parts=own,
            errors={name: tuple(rows[at]) for name, rows in errors.items()},
        )
        for at, own in enumerate(parts)
        for one in [spreads[at]]
    ]


class GradersOfSide(NamedTuple):
    """Graders of one side of a difference, by name, and what they add to the variance of its rate."""

    names: tuple[str, ...]
    errors: tuple[float, ...]
    graders: GradersOfModel
    part: GraderErrors


def people_of(rates: TaskRates, model: str, convention: str) -> GradersOfSide | None:
    """The graders of a model's work; None where a report does not say."""
    if model not in rates.of_graders:
        return None
    graders = rates.of_graders[model]
    return GradersOfSide(rates.graders, graders.errors_of(convention), graders, graders.parts[convention])


def paired_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    names: tuple[str, str] = ("first", "second"),
    people: tuple[GradersOfSide | None, GradersOfSide | None] = (None, None),
    level: float = 0.95,
) -> Estimate:
    """First minus second, from task means in 0..1; tasks seen on one side only are left out and counted.

    Estimand: the mean over tasks of the difference. Interval: t over tasks; where hardly any task differs
    (fewer than 15 effective ones) two imagined tasks are added, one of which differs, half either way (after Agresti
    and Min 2005), so that rare differences do not look like none. `people` judged the two sides: who judged both adds
    only as far as they differ there.
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
    spread = _with_people(tasks_alone(variance, n), *people)
    value = float(gaps.mean())
    made = mean_interval(
        centre, spread, level=level, words=", paired" + (", one imagined difference either way" if sparse else "")
    )
    if made["interval"] is not None:
        low, high = made["interval"]
        made["interval"] = max(-1.0, min(low, value)), min(1.0, max(high, value))
    return Estimate(
        value=value,
        estimand=f"{names[0]} minus {names[1]}, mean over tasks",
        level=level,
        n_tasks=n,
        n_excluded=len(first.keys() | second.keys()) - n,
        **made,
    )


def _with_people(tasks: Spread, first: GradersOfSide | None, second: GradersOfSide | None) -> Spread:
    """What graders add: each side's own people, or where some judged both, all of them at once."""
    if first is None or second is None:
        return tasks
    sides = (first, second)
    given = [dict(zip(one.names, one.errors, strict=True)) for one in sides]
    both = {name for name in given[0].keys() & given[1].keys() if given[0][name] or given[1][name]}
    like_these = all(one.graders.like_these for one in sides)
    if not both or not like_these:
        return joined(tasks, *(_spread_of(one) for one in sides))
    squares = sum(
        (given[0].get(name, 0.0) - given[1].get(name, 0.0)) ** 2 for name in given[0].keys() | given[1].keys()
    )
    scale = max(one.part.scale for one in sides)
    part = max(0.0, squares - sum(one.part.noise for one in sides)) * scale
    once = _spread_of(min(sides, key=lambda one: one.graders.effective))
    return joined(tasks, once._replace(of_graders=part, variance=part, by_tasks=0.0))


def _spread_of(one: GradersOfSide) -> Spread:
    graders, part = one.graders, one.part
    return Spread(
        variance=part.added,
        of_graders=part.of_graders,
        df=1.0,
        df_graders=graders.df,
        by_tasks=0.0,
        n_tasks=0,
        n_graders=graders.number,
        effective_tasks=0.0,
        effective_graders=graders.effective,
        like_these=graders.like_these,
        unnamed=graders.unnamed,
    )


def smallest_seen(found: Estimate) -> float | None:
    """The smallest difference that a comparison of this precision would tell from none four times out of five."""
    if found.half_width is None:
        return None
    df = found.df_graders if found.df_graders is not None else max((found.n_tasks or 2) - 1, 1)
    p = 0.5 + found.level / 2
    return found.half_width * (1.0 + t_quantile(0.8, df) / t_quantile(p, df))


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
    later, earlier = (_all_models(side) for side in (after, before))
    try:
        if later is None or earlier is None:
            raise NothingPaired(*names)
        shared = later[0].keys() & earlier[0].keys()
        people = tuple(
            None if (kept := _all_models(_on(side, shared))) is None else kept[1] for side in (after, before)
        )
        return paired_difference(later[0], earlier[0], names=names, people=(people[0], people[1]), level=level)
    except NothingPaired as error:
        what = f"{names[0]} minus {names[1]}, mean over tasks"
        return Estimate(value=None, level=level, estimand=what, method="none", n_tasks=0, why_no_interval=str(error))


def _on(rows: Pairs, tasks: AbstractSet[str]) -> Pairs:
    """The entries on some tasks."""
    return rows.keep(np.array([name in tasks for name in rows.task.names], dtype=np.bool_)[rows.task.codes])


def _all_models(rows: Pairs) -> tuple[dict[str, float], GradersOfSide | None] | None:
    """Task -> mean over the work judged there, of all models together, and who judged."""
    if not len(rows):
        return None
    codes = np.zeros(len(rows), dtype=np.int32)
    whole = replace(rows.outcomes, model=Coded(codes, ("all",)), sample=rows.submission)
    rates = rates_by_task(whole, ())
    return rates.of("all", "half_tie"), people_of(rates, "all", "half_tie")
