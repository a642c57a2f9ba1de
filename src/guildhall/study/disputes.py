"""The sets on which graders disagree most, who said what of them, and what adjudication came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from sqlalchemy import select

from guildhall.domain.authors import Expert
from guildhall.domain.halls import HallDesign, Member
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Digest
from guildhall.grading.adjudicating import Adjudication, adjudications, missing_gradings, who_may
from guildhall.grading.queue import Queue
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.watching import Said, closeness, judged_sets


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
    said: Sequence[Said], sides: Mapping[str, str], adjudicated: set[Digest | None]
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


def _voice(one: Said, sides: Mapping[str, str], beside: Sequence[Said] = ()) -> Voice:
    same = [other.person.code_name for other in beside if closeness(one.judgment, other.judgment) == 1]
    places = tuple(sides[key] for key in one.judgment.order)
    return Voice(one.person.code_name, _ranking(one.judgment, sides), one.judgment, places, tuple(same))


def _spread(said: Sequence[Said]) -> float | None:
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
