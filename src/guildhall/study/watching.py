"""What a manager watches while people judge: each grader's habits.

All of it is for screening: a figure here is a reason to look, never by itself a reason to leave a grader out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
import polars as pl
from sqlalchemy import ColumnElement, select

from guildhall.analysis.shares import clustered_share
from guildhall.domain.authors import Expert, Person
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import HallDesign, Member
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Digest
from guildhall.grading.adjudicating import Adjudication, adjudications, missing_gradings, who_may
from guildhall.grading.gold import gold_comparison, judged_right
from guildhall.grading.queue import Queue
from guildhall.store.frames import shown_works
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.evidence import steering_found

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


class PersonSaid(NamedTuple):
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


def steering_of(store: Store, study: Study) -> dict[str, Counter[str]]:
    """Author -> how many of their shown works hold attempts to steer whoever judges, by rule."""
    found = steering_found(store)
    shown = shown_works(store, study.id).unique("submission").filter(pl.col("submission").is_in(list(found)))
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for name, work in shown.sort("name").select("name", "submission").iter_rows():
        told[name].update(found[work].keys())
    return dict(told)


def judged_sets(store: Store, study: Study) -> list[tuple[Comparison, list[PersonSaid]]]:
    """Comparisons with what people said of them; a judgment that was replaced is left out."""
    sets = shelf_of(Comparison).table
    own = _JUDGED.c.comparison.in_(select(sets.c.key).where(sets.c.study == study.id))
    return _said_of(store, store.find(Comparison, study=study.id), own)


def _said_of(
    store: Store, compared: Iterable[Comparison], own: ColumnElement[bool]
) -> list[tuple[Comparison, list[PersonSaid]]]:
    """What was said of some comparisons, all of it asked for at once; `own` finds the judgments of them."""
    said: dict[str, list[Judgment]] = defaultdict(list)
    with store.glance() as connection:
        for body in connection.execute(select(_JUDGED.c.body).where(own).order_by(_JUDGED.c.seq)).scalars().all():
            judgment = Judgment.model_validate_json(body)
            said[judgment.comparison].append(judgment)
    return [(one, _by_people(said[one.key])) for one in compared]


def _by_people(judgments: Iterable[Judgment]) -> list[PersonSaid]:
    found = [
        PersonSaid(one.grader, one) for one in judgments if isinstance(one.grader, Person) and one.ranks is not None
    ]
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


@dataclass(frozen=True)
class Voice:
    """What one grader said of a set, by code names."""

    grader: str
    ranking: str
    """Best first."""
    judgment: Judgment
    places: tuple[str, ...]
    """Who stood at A, B, ...: reasons speak of places."""
    sides_with: tuple[str, ...] = ()
    """Graders of the plan who said the very same; told of adjudication only."""


@dataclass(frozen=True)
class Waiting:
    """A grading more that was asked for and is not in: who holds it, or who may take it."""

    held_by: str | None
    open_to: tuple[str, ...]


@dataclass(frozen=True)
class Dispute:
    """One set: what the planned graders said, what came beyond the plan, and whether one more may be asked for."""

    comparison: Digest
    task: str
    planned: tuple[Voice, ...]
    adjudicated: tuple[Voice, ...]
    extra: tuple[Voice, ...]
    """Late work and work a rule leaves out."""
    spread: float | None
    """Mean disagreement of the planned graders, 0 to 1; None below two."""
    missing: int | None
    """Planned gradings that are not in; None where nothing was planned (a check with a known answer)."""
    waiting: Waiting | None

    @property
    def may_ask(self) -> bool:
        return self.missing == 0 and self.waiting is None


@dataclass(frozen=True)
class Disputes:
    """One page of a study's judged sets, the most disputed first."""

    shown: tuple[Dispute, ...]
    total: int


def disputes_of(
    queue: Queue,
    study: Study,
    *,
    design: HallDesign,
    graders: Callable[[], Sequence[Member]],
    names: Mapping[str, str],
    skip: int = 0,
    most: int = 50,
) -> Disputes:
    """Sets that somebody judged, the one the planned graders disagree on most first; sets with one voice come last."""
    judged = [(comparison, said, _spread(said)) for comparison, said in judged_sets(queue.store, study) if said]
    judged.sort(key=lambda one: (-1.0 if one[2] is None else one[2], one[0].task, one[0].key), reverse=True)
    asked, missing = adjudications(queue, study.id), missing_gradings(queue, study.id)
    on_page = judged[skip : skip + most]
    further = {comparison.key: asked.get(comparison.key, []) for comparison, _, _ in on_page}
    waiting = _waiting(queue, [one for given in further.values() for one in given], graders, design)
    sides = _sides(queue.store, [comparison for comparison, _, _ in on_page], names)
    shown = []
    for comparison, said, spread in on_page:
        key = comparison.key
        voices = _voices(said, sides, {one.judgment for one in further[key]})
        left, open_one = missing.get(key), next((one for one in further[key] if one.judgment is None), None)
        waits = waiting[open_one.slot.id] if open_one else None
        shown.append(Dispute(key, comparison.task, *voices, spread=spread, missing=left, waiting=waits))
    return Disputes(tuple(shown), total=len(judged))


def _waiting(
    queue: Queue, further: Sequence[Adjudication], graders: Callable[[], Sequence[Member]], design: HallDesign
) -> dict[str, Waiting]:
    """Slot of an adjudication that is not in -> who holds it, or who may."""
    held = {one.slot.id: Waiting(one.grader, ()) for one in further if one.judgment is None and one.grader}
    free = [one.slot for one in further if one.judgment is None and one.grader is None]
    open_to = who_may(queue, free, graders(), design) if free else {}
    return held | {slot: Waiting(None, tuple(names)) for slot, names in open_to.items()}


def _voices(
    said: Sequence[PersonSaid], sides: Mapping[str, str], adjudicated: set[Digest | None]
) -> tuple[tuple[Voice, ...], tuple[Voice, ...], tuple[Voice, ...]]:
    """What was said within the plan, in adjudication, and beyond both."""
    planned = [one for one in said if one.judgment.planned]
    beyond = [one for one in said if not one.judgment.planned]
    settled = [one for one in beyond if one.judgment.key in adjudicated]
    rest = [one for one in beyond if one.judgment.key not in adjudicated]
    return (
        tuple(_voice(one, sides) for one in planned),
        tuple(_voice(one, sides, beside=planned) for one in settled),
        tuple(_voice(one, sides) for one in rest),
    )


def _voice(one: PersonSaid, sides: Mapping[str, str], beside: Sequence[PersonSaid] = ()) -> Voice:
    same = [other.person.code_name for other in beside if closeness(one.judgment, other.judgment) == 1]
    places = tuple(sides[key] for key in one.judgment.order)
    return Voice(one.person.code_name, _ranking(one.judgment, sides), one.judgment, places, tuple(same))


def _spread(said: Sequence[PersonSaid]) -> float | None:
    planned = [one.judgment for one in said if one.judgment.planned]
    gaps = [1 - closeness(one, other) for one, other in combinations(planned, 2)]
    return float(np.mean(gaps)) if gaps else None


def _sides(store: Store, compared: Sequence[Comparison], names: Mapping[str, str]) -> dict[str, str]:
    """Submission -> what its author goes by on the page."""
    table, keys = shelf_of(Submission).table, {key for one in compared for key in one.submissions}
    with store.glance() as connection:
        bodies = connection.execute(select(table.c.body).where(table.c.key.in_(keys))).scalars().all()
    made = map(Submission.model_validate_json, bodies)
    return {one.key: "expert" if isinstance(one.author, Expert) else names[one.author.name] for one in made}


def _ranking(judgment: Judgment, sides: Mapping[str, str]) -> str:
    """Best first: `expert > flint-12ab`, `expert = flint-12ab`."""
    ranked = sorted(zip(judgment.ranks or (), (sides[key] for key in judgment.order), strict=True))
    signs = [" = " if before == after else " > " for (before, _), (after, _) in pairwise(ranked)]
    return "".join(name + sign for (_, name), sign in zip(ranked, [*signs, ""], strict=True))
