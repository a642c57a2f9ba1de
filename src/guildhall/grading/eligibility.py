"""Who may judge what: one rule after another, each with its reason. Asked when planning, claiming and submitting."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from guildhall.domain.halls import HallDesign, Member, Role, SeatState, Slot


class Refusal(StrEnum):
    """Why a grader may not judge a slot, in the words a manager reads."""

    NOT_A_GRADER = "is not a grader"
    OCCUPATION = "is not of the task's occupation"
    QUIZ = "has not passed the quiz"
    CONFLICT = "has declared a conflict with the task"
    SEEN = "has met this comparison before"
    EXPOSURE = "has met this task as often as the design allows"


class Sat(Protocol):
    """What the rules need to know of a seat the grader has taken."""

    slot: str
    study: str
    comparison: str
    task: str
    state: str


def why_not(member: Member, slot: Slot, *, mine: Sequence[Sat], design: HallDesign) -> Refusal | None:
    """The first rule that forbids a grader a slot; None when they may judge it."""
    if member.role is not Role.GRADER:
        return Refusal.NOT_A_GRADER
    if design.match_occupation and slot.occupation not in member.occupations:
        return Refusal.OCCUPATION
    if design.quiz_required and not member.quiz_passed:
        return Refusal.QUIZ
    if slot.task in member.conflicts:
        return Refusal.CONFLICT
    if any(seat.comparison == slot.comparison for seat in mine):
        return Refusal.SEEN
    met = sum(seat.task == slot.task and seat.study == slot.study and seat.state != SeatState.DECLINED for seat in mine)
    return Refusal.EXPOSURE if met >= design.exposure_limit else None
