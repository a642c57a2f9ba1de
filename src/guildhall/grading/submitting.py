"""From a grader's verdict to a judgment: places mapped to submissions by the stored order, in one transaction.

The client says "A"; only the server knows what stood there. A request that comes twice (a double click, a retry after a
lost answer) is recognised by its key and makes one judgment.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from guildhall.domain.authors import Person
from guildhall.domain.halls import HallDesign, Member, SeatState, SlotKind, Verdict
from guildhall.domain.judgments import CRITERIA, Judgment
from guildhall.errors import InputError
from guildhall.grading.queue import Queue, Seat
from guildhall.store.audit import record


@dataclass(frozen=True)
class Receipt:
    """What a grader is told: the judgment is kept, and whether it came after the slot was filled."""

    judgment: str
    state: SeatState
    repeated: bool


def check_verdict(verdict: Verdict, seat: Seat, design: HallDesign) -> list[str]:
    """Everything that keeps a verdict from being complete, in the words shown beside the fields."""
    faults = []
    if len(verdict.ranks) != len(seat.slot.order):
        faults.append(f"rank all {len(seat.slot.order)} deliverables")
    if len(verdict.reason.split()) < design.minimum_reason_words:
        faults.append(f"give your reasons in at least {design.minimum_reason_words} words")
    unknown = sorted(set(verdict.criteria) - set(CRITERIA))
    if unknown:
        faults.append(f"{', '.join(unknown)} is not a criterion")
    if any(step is not None and abs(step) > 2 for step in verdict.criteria.values()):
        faults.append("criteria run from -2 to 2")
    places = {chr(ord("A") + index) for index in range(len(seat.slot.order))}
    if any(entry.place not in places for entry in verdict.usability):
        faults.append("usability is given for the places shown")
    return faults


def submit(
    queue: Queue, seat: Seat, member: Member, verdict: Verdict, *, design: HallDesign, submit_key: str, now: float
) -> Receipt:
    """Keep a verdict. Durable when this returns; never refused for lateness."""
    known = queue.submitted_with(submit_key)
    if known:
        return Receipt(known, queue.seat(seat.id).state, repeated=True)
    faults = check_verdict(verdict, seat, design)
    if faults:
        raise InputError("; ".join(faults))
    with queue.store.transaction() as connection:
        fresh = queue.seat(seat.id)
        if fresh.state in {SeatState.SUBMITTED, SeatState.SURPLUS} and fresh.judgment:
            return Receipt(fresh.judgment, fresh.state, repeated=True)
        judgment = _judgment(fresh, member, verdict, now=now, planned=_fills(queue, fresh))
        queue.store.add(judgment)
        state = queue.finish(connection, fresh.id, judgment=judgment.key, submit_key=submit_key, now=now)
        facts = {"seat": fresh.id, "state": state, "judgment": judgment.key}
        record(queue.store, at=now, actor=member.code_name, action="submit", subject=fresh.slot.id, facts=facts)
    return Receipt(judgment.key, state, repeated=False)


def _fills(queue: Queue, seat: Seat) -> bool:
    """Whether this judgment is the planned one of its slot; late and extra ones stay out of primary estimates."""
    return seat.slot.kind is SlotKind.PLANNED and queue.may_fill(seat)


def _judgment(seat: Seat, member: Member, verdict: Verdict, *, now: float, planned: bool) -> Judgment:
    counted = seat.clock.started is not None
    return Judgment(
        comparison=seat.slot.comparison,
        grader=Person(code_name=member.code_name, grader_kind=member.grader_kind),
        order=seat.slot.order,
        exposure=seat.exposure,
        planned=planned,
        active_s=seat.clock.active_s if counted else None,
        wall_s=seat.clock.wall_s if counted else None,
        made_at=datetime.fromtimestamp(now, UTC),
        **verdict.model_dump(),
    )
