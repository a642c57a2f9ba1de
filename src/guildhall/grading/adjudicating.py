"""A manager's hand in the queue: a grader more on a set, a place freed, a place given to another; each is logged.

One grader more on a set: planned when graders contradict each other, or asked for by a manager. Adjudication tells
how a dispute might be settled. It follows from what was seen, so it never enters primary estimates: its judgments are
kept as not planned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, case, func, select, update

from guildhall.domain.halls import HallDesign, Member, SeatState, Slot, SlotKind
from guildhall.domain.judgments import Comparison
from guildhall.domain.values import Digest, Id
from guildhall.errors import InputError, UnknownName
from guildhall.grading.design import slot_id
from guildhall.grading.queue import COMPARING, Queue, Seat
from guildhall.store.audit import record
from guildhall.store.hall import members, seats, slots


@dataclass(frozen=True)
class Adjudication:
    """One grading more of a set: who holds it or gave it, and the judgment once it is there."""

    slot: Slot
    grader: str | None
    judgment: Digest | None


def adjudication_slot(queue: Queue, comparison: Comparison, there: Sequence[Slot], *, number: int = 0) -> Slot:
    """A grading more of a set, beside the slots it has: the baseline stands where it stood least, drawn like all else.

    The draw is named by the seeded ranks of the planned slots, which are the same in every repetition of a rehearsal.
    """
    identity = slot_id(comparison.key, "adjudication", *([number] if number else []))
    size, base = len(comparison.submissions), comparison.submissions[0]
    about = (comparison.study, comparison.task, sorted(one.rank for one in there if one.kind is SlotKind.PLANNED))
    shown = Counter(one.order.index(base) for one in there)
    drawn = min(
        queue.order_key.orders(size, size, *about, "adjudication", number), key=lambda order: shown[order.index(0)]
    )
    turn, order = drawn.index(0), tuple(comparison.submissions[index] for index in drawn)
    like = next(one for one in there if one.kind is SlotKind.PLANNED)
    # Half the rank: a dispute is settled before most new sets are begun.
    return like.but(id=identity, kind=SlotKind.ADJUDICATION, turn=turn, order=order, rank=like.rank // 2)


def ask_for_one_more(queue: Queue, study: Id, comparison: Digest, *, why: str, by: Member, now: float) -> Slot:
    """Plan one grading more of a set, at a manager's wish; refused while the set still waits for another."""
    with queue.store.transaction() as connection:
        # Two managers who ask at once get one grader: the second waits here, and reads after the first has written.
        slots_of(connection, comparison, locked=True)
        found = slots_of(connection, comparison)
        there = [slot for slot, _ in found if slot.study == study]
        if not any(slot.kind is SlotKind.PLANNED for slot in there):
            raise UnknownName("set", comparison, fix="go back to the list of disagreements")
        if waiting := {slot.kind for slot, done in found if not done}:
            what = "planned gradings" if SlotKind.PLANNED in waiting else "the grader asked for before"
            raise InputError(f"this set still waits for {what}; ask for one more when that judgment is in")
        asked = sum(slot.kind is SlotKind.ADJUDICATION for slot in there)
        made = adjudication_slot(queue, queue.store.get(Comparison, comparison), there, number=asked)
        queue.plan([made])
        facts = {"comparison": comparison, "task": made.task, "why": why}
        record(queue.store, at=now, actor=by.code_name, action="adjudication asked", subject=made.id, facts=facts)
    return made


def slots_of(connection: Connection, comparison: Digest, *, locked: bool = False) -> list[tuple[Slot, bool]]:
    """The slots in which a set is compared, and whether each is done; `locked` keeps others out until the end."""
    mine = (slots.c.comparison == comparison, slots.c.kind.in_(COMPARING))
    query = select(slots.c.body, slots.c.done).where(*mine).order_by(slots.c.id)
    rows = connection.execute(query.with_for_update() if locked else query)
    return [(Slot.model_validate_json(row.body), row.done) for row in rows]


def adjudications(queue: Queue, study: Id) -> dict[Digest, list[Adjudication]]:
    """What was asked for beyond the plan, a set, in the order in which it was judged; what still waits comes last."""
    query = (
        select(slots.c.body, seats.c.judgment, members.c.code_name)
        .outerjoin(seats, seats.c.id == slots.c.holder)
        .outerjoin(members, members.c.id == seats.c.member)
        .where(slots.c.study == study, slots.c.kind == SlotKind.ADJUDICATION)
        .order_by(slots.c.done.desc(), seats.c.ended_at, slots.c.id)
    )
    found: dict[Digest, list[Adjudication]] = defaultdict(list)
    with queue.store.reading() as connection:
        for row in connection.execute(query):
            slot = Slot.model_validate_json(row.body)
            found[slot.comparison].append(Adjudication(slot, row.code_name, row.judgment))
    return dict(found)


def who_may(
    queue: Queue, wanted: Sequence[Slot], graders: Sequence[Member], design: HallDesign
) -> dict[str, list[str]]:
    """Slot -> code names of those who may take it: nobody who has met the set is among them."""
    found: dict[str, list[str]] = {slot.id: [] for slot in wanted}
    for grader, refusals in zip(graders, queue.refusals(graders, wanted, design), strict=True):
        for slot, refusal in zip(wanted, refusals, strict=True):
            if refusal is None:
                found[slot.id].append(grader.code_name)
    return found


def missing_gradings(queue: Queue, study: Id) -> dict[Digest, int]:
    """Planned gradings that are not in, for every set of a study that has a plan."""
    left = func.sum(case((slots.c.done, 0), else_=1))
    planned = (slots.c.study == study, slots.c.kind == SlotKind.PLANNED)
    query = select(slots.c.comparison, left).where(*planned).group_by(slots.c.comparison)
    with queue.store.reading() as connection:
        return {comparison: int(count) for comparison, count in connection.execute(query)}


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
