"""Who may judge what: one rule after another, each with its reason. Asked when planning, claiming and submitting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Protocol

from guildhall.domain.halls import HallDesign, Member, Role, SeatState, Slot, SlotKind
from guildhall.domain.values import Id


class Refusal(StrEnum):
    """Why a grader may not judge a slot, in the words a manager reads."""

    NOT_A_GRADER = "is not a grader"
    OCCUPATION = "is not of the task's occupation"
    QUIZ = "has not passed the quiz"
    OWN_WORK = "made one of the deliverables, or works with who did"
    CONFLICT = "has declared a conflict with the task"
    SEEN = "has met this comparison before"
    EXPOSURE = "has met this task as often as the design allows"
    GIVEN_BACK = "has given the set back"
    UNREAD = "has not opened the brief"


OF_THE_GRADER = frozenset({Refusal.NOT_A_GRADER, Refusal.QUIZ})
"""Refusals that hold for every set a grader might compare: looking for another is in vain."""


class Sat(Protocol):
    """What the rules need to know of a seat the grader has taken."""

    slot: str
    study: str
    comparison: str
    task: str
    state: str
    read_brief_at: float | None


def has_met(seat: Sat) -> bool:
    """Whether the deliverables may have been seen: in every set a grader took, but for what came back unopened."""
    return seat.state != SeatState.DECLINED or seat.read_brief_at is not None


def why_not(
    member: Member, slot: Slot, *, mine: Sequence[Sat], design: HallDesign, colleagues: Collection[Id] = ()
) -> Refusal | None:
    """The first rule that forbids a grader a slot; None when they may judge it.

    `colleagues` are the code names under which people of the same employer have work in the bank.
    """
    if member.role is not Role.GRADER:
        return Refusal.NOT_A_GRADER
    if design.match_occupation and slot.occupation not in member.occupations:
        return Refusal.OCCUPATION
    if {*member.author_names, *colleagues} & set(slot.authors):
        return Refusal.OWN_WORK
    if slot.task in member.conflicts:
        return Refusal.CONFLICT
    if slot.kind is SlotKind.TRAINING:
        return None
    if design.quiz_required and not member.quiz_passed:
        return Refusal.QUIZ
    if any(seat.comparison in {slot.comparison, *slot.twins} for seat in mine):
        return Refusal.SEEN
    return Refusal.EXPOSURE if _worn(slot, mine, design) else None


def _worn(slot: Slot, mine: Sequence[Sat], design: HallDesign) -> bool:
    # Who rates severity must not have judged the pair; having met the task in another pair does no harm there.
    if slot.kind is SlotKind.SEVERITY:
        return False
    met = sum(seat.task == slot.task and seat.study == slot.study and has_met(seat) for seat in mine)
    return met >= design.exposure_limit
