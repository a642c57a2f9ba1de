"""What a manager watches while people judge: each grader's habits.

All of it is for screening: a figure here is a reason to look, never by itself a reason to leave a grader out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, select

from guildhall.analysis.shares import clustered_share
from guildhall.domain.authors import Person
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.grading.gold import gold_comparison, judged_right
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

_JUDGED = shelf_of(Judgment).table
TOO_FAST_SHARE = 0.1
"""A grading that took less than this share of the planned minutes is flagged."""


@dataclass(frozen=True)
class Judge:
    """One grader's habits in one study."""

    grader: str
    grader_kind: str
    judgments: int
    left: Estimate | None
    """Share of choices that fell on A, among judgments of two that chose; orders are balanced, so one half is usual."""
    ties: float
    median_minutes: float | None
    agreement: float | None
    """Mean of 1 - |own - other| over all others who judged the same pairs; None where nobody else has."""
    too_fast: int
    gold_right: int
    gold_seen: int


class Said(NamedTuple):
    """What one person said."""

    person: Person
    judgment: Judgment


def judges_of(store: Store, study: Study) -> list[Judge]:
    """Every person who judged, by code name."""
    design = study.design.hall
    checks = {gold_comparison(study.id, item): item for item in design.gold}
    gold = {comparison.key: item for comparison, item in checks.items()}
    looked = [*judged_sets(store, study), *_said_of(store, checks, _JUDGED.c.comparison.in_(gold))]
    mine: dict[str, list[Judgment]] = defaultdict(list)
    others: dict[str, list[float]] = defaultdict(list)
    right: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, str] = {}
    for comparison, said in looked:
        for person, one in said:
            name = person.code_name
            kinds[name] = str(person.grader_kind)
            if comparison.key in gold:
                right[name].append(judged_right(one, gold[comparison.key]))
                continue
            mine[name].append(one)
            others[name] += [closeness(one, other) for _, other in said if other is not one]
    task_of = {comparison.key: comparison.task for comparison, _ in looked}
    return [
        Judge(
            grader=name,
            grader_kind=kinds[name],
            judgments=len(made),
            left=_left(made, task_of),
            ties=sum(_ties_all(one) for one in made) / len(made),
            median_minutes=_median_minutes(made),
            agreement=float(np.mean(others[name])) if others[name] else None,
            too_fast=sum(_too_fast(one, design) for one in made),
            gold_right=sum(right[name]),
            gold_seen=len(right[name]),
        )
        for name, made in sorted(mine.items())
    ]


def judged_sets(store: Store, study: Study) -> list[tuple[Comparison, list[Said]]]:
    """Comparisons with what people said of them; a judgment that was replaced is left out."""
    sets = shelf_of(Comparison).table
    own = _JUDGED.c.comparison.in_(select(sets.c.key).where(sets.c.study == study.id))
    return _said_of(store, store.find(Comparison, study=study.id), own)


def _said_of(
    store: Store, compared: Iterable[Comparison], own: ColumnElement[bool]
) -> list[tuple[Comparison, list[Said]]]:
    """What was said of some comparisons, all of it asked for at once; `own` finds the judgments of them."""
    said: dict[str, list[Judgment]] = defaultdict(list)
    with store.glance() as connection:
        for body in connection.execute(select(_JUDGED.c.body).where(own).order_by(_JUDGED.c.seq)).scalars().all():
            judgment = Judgment.model_validate_json(body)
            said[judgment.comparison].append(judgment)
    return [(one, _by_people(said[one.key])) for one in compared]


def _by_people(judgments: Iterable[Judgment]) -> list[Said]:
    found = [Said(one.grader, one) for one in judgments if isinstance(one.grader, Person) and one.ranks is not None]
    replaced = {one.judgment.replaces for one in found}
    return [one for one in found if one.judgment.key not in replaced]


def _scores(judgment: Judgment) -> dict[tuple[str, str], float]:
    """Each pair of submissions, in a fixed order, from the first one's side."""
    outcomes = {(one, other): judgment.outcome(one, other) for one, other in combinations(sorted(judgment.order), 2)}
    return {pair: outcome.score for pair, outcome in outcomes.items() if outcome is not None}


def closeness(one: Judgment, other: Judgment) -> float:
    """Mean of 1 - |one - other| over the pairs both ranked: 1 when they agree in all, 0 when they contradict in all."""
    mine, theirs = _scores(one), _scores(other)
    return float(np.mean([1 - abs(mine[pair] - theirs[pair]) for pair in mine]))


def _left(made: Sequence[Judgment], task_of: dict[str, str]) -> Estimate | None:
    chosen = [one for one in made if len(one.order) == 2 and not _ties_all(one)]
    if not chosen:
        return None
    hit = np.array([one.ranks is not None and one.ranks[0] < one.ranks[1] for one in chosen])
    task = np.unique([task_of[one.comparison] for one in chosen], return_inverse=True)[1].astype(np.intp)
    return clustered_share(hit, task, what="share of choices that fell on A")


def _ties_all(judgment: Judgment) -> bool:
    return len(set(judgment.ranks or ())) == 1


def _median_minutes(made: Sequence[Judgment]) -> float | None:
    known = [one.active_s / 60 for one in made if one.active_s is not None]
    return median(known) if known else None


def _too_fast(judgment: Judgment, design: HallDesign) -> bool:
    return judgment.active_s is not None and judgment.active_s < TOO_FAST_SHARE * design.minutes_per_set * 60
