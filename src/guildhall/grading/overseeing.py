"""A manager's hand in the queue: see who holds what, free a place, give it to another. Every move is on record."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, select, update

from guildhall.domain.halls import HallDesign, Member, SeatState, SlotKind
from guildhall.domain.values import Id
from guildhall.errors import InputError
from guildhall.grading.queue import Queue, Seat
from guildhall.store.audit import record
from guildhall.store.hall import members, seats, slots


@dataclass(frozen=True)
class Lease:
    """A place somebody holds, or held until it ran out."""

    seat: str
    grader: str
    kind: SlotKind
    occupation: str
    state: SeatState
    expires_at: float
    draft_saved_at: float | None


def leases(queue: Queue, study: Id) -> list[Lease]:
    """Open places, those that end first at the top."""
    query = (
        select(seats, slots.c.kind, slots.c.occupation, members.c.code_name)
        .join(slots, slots.c.id == seats.c.slot)
        .join(members, members.c.id == seats.c.member)
        .where(seats.c.study == study, seats.c.state.in_([SeatState.LIVE, SeatState.EXPIRED]))
        .order_by(seats.c.expires_at)
    )
    with queue.store.reading() as connection:
        rows = connection.execute(query).all()
    return [
        Lease(
            seat=row.id,
            grader=row.code_name,
            kind=SlotKind(row.kind),
            occupation=row.occupation,
            state=SeatState(row.state),
            expires_at=row.expires_at,
            draft_saved_at=row.draft_saved_at,
        )
        for row in rows
    ]


def free(queue: Queue, seat: Seat, *, by: Member, now: float) -> None:
    """End a lease now. The draft stays with its grader, who may still submit: it counts while the slot is unfilled."""
    if seat.state not in {SeatState.LIVE, SeatState.EXPIRED}:
        raise InputError("this place is not open any more; reload the board")
    with queue.store.transaction() as connection:
        ended = update(seats).where(seats.c.id == seat.id, seats.c.state == SeatState.LIVE)
        connection.execute(ended.values(state=SeatState.EXPIRED, expires_at=now))
        held = and_(slots.c.id == seat.slot.id, slots.c.holder == seat.id)
        connection.execute(update(slots).where(held).values(holder=None))
        facts = {"seat": seat.id}
        record(queue.store, at=now, actor=by.code_name, action="place freed", subject=seat.slot.id, facts=facts)


def reassign(queue: Queue, seat: Seat, to: Member, *, design: HallDesign, by: Member, now: float) -> Seat:
    """Free a place and seat another grader on it; the rules that hold for a claim hold here."""
    refusal = "holds it already" if to.id == seat.member else queue.refusal(to, seat.slot, design)
    if refusal is not None:
        raise InputError(f"{to.code_name} cannot take this place: {to.code_name} {refusal}")
    with queue.store.transaction():
        free(queue, seat, by=by, now=now)
        taken = queue.sit(to, seat.slot, design=design, now=now)
        if taken is None:
            raise InputError(f"{to.code_name} declined this set before, or it was filled meanwhile")
        facts = {"from": seat.id, "to": taken.id, "grader": to.code_name}
        record(queue.store, at=now, actor=by.code_name, action="place reassigned", subject=seat.slot.id, facts=facts)
    return taken
