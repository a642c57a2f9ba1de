"""What a grader gets next: training until it is passed, a check when one is due, else an open set."""

from __future__ import annotations

from guildhall.domain.halls import HallDesign, Member, SlotKind
from guildhall.domain.values import Id
from guildhall.grading.gold import GoldDesk
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue, Seat

RATING = (SlotKind.SEVERITY,)


def next_set(queue: Queue, roster: Roster, member: Member, *, study: Id, design: HallDesign, now: float) -> Seat | None:
    """A set to compare, or None when there is none for this grader."""
    desk = GoldDesk(queue, roster, study=study, design=design)
    slot = desk.next_slot(member)
    if slot is not None:
        return queue.sit(member, slot, design=design, now=now)
    return queue.claim(member, study=study, design=design, now=now)


def next_rating(queue: Queue, member: Member, *, study: Id, design: HallDesign, now: float) -> Seat | None:
    """A deliverable whose severity is asked for, judged before by others only."""
    return queue.claim(member, study=study, design=design, now=now, kinds=RATING)


def ratings_wait(queue: Queue, member: Member, *, study: Id, design: HallDesign) -> bool:
    return queue.waiting(member, study=study, design=design, kinds=RATING)
