"""The queue of human gradings: claim, keep alive, save, decline, submit. No slot is filled twice; no work is refused.

A claim sets the slot's `holder` with one guarded update, so that two graders can never hold one slot, whatever the
database. A seat whose lease ran out keeps its draft; its owner may still submit, and what arrives after the slot was
filled by another is kept as surplus, marked, and left out of primary estimates.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Integer, Row, and_, bindparam, func, select, update

from guildhall.domain.halls import HallDesign, Member, SeatState, Slot, SlotKind
from guildhall.domain.values import Id
from guildhall.errors import UnknownName
from guildhall.grading.clock import Beat, Tally
from guildhall.grading.design import OrderKey
from guildhall.grading.eligibility import OF_THE_GRADER, Refusal, Sat, has_met, why_not
from guildhall.grading.offers import colleagues, met, offers
from guildhall.store.hall import members, seats, slots
from guildhall.store.records import Store

COMPARING = (SlotKind.PLANNED, SlotKind.ADJUDICATION)
"""Kinds of slots that anybody eligible may claim to compare; gold is given, severity has its own queue."""
_MEMBER = select(members.c.id).where(members.c.id == bindparam("member")).with_for_update()
_EXPIRE = (
    update(seats)
    .where(seats.c.state == SeatState.LIVE, seats.c.expires_at < bindparam("now"))
    .values(state=SeatState.EXPIRED)
    .returning(seats.c.slot, seats.c.id)
)
_HELD = (
    select(seats.c.id)
    .where(seats.c.member == bindparam("member"), seats.c.state == SeatState.LIVE)
    .order_by(seats.c.claimed_at, seats.c.id)
)
_SIT_DOWN = seats.insert()


@dataclass(frozen=True)
class Seat:
    """A grader's claim on a slot, as it stands."""

    id: str
    slot: Slot
    member: Id
    state: SeatState
    exposure: int
    claimed_at: float
    expires_at: float
    draft: str | None = None
    draft_version: int = 0
    draft_saved_at: float | None = None
    clock: Tally = field(default_factory=Tally)
    read_brief_at: float | None = None
    judgment: str | None = None


class StaleDraft(Exception):
    """Another tab saved a newer draft; both are handed back so that nothing is overwritten."""

    def __init__(self, *, stored: str | None, version: int) -> None:
        self.stored, self.version = stored, version
        super().__init__(f"a newer draft (version {version}) was saved elsewhere")


class Queue:
    """Human gradings of one store. `now` is seconds since 1970, handed in by the caller.

    Slots that follow from what was judged (checks, adjudication) are shown in orders drawn from `order_key`; without
    one they are as secret, and differ from queue to queue until they are planned.
    """

    def __init__(self, store: Store, *, order_key: OrderKey | None = None) -> None:
        self.store = store
        self.order_key = order_key or OrderKey(secrets.token_bytes(32))

    def plan(self, planned: Sequence[Slot]) -> int:
        """Add slots; those that are there already stay as they are."""
        with self.store.transaction() as connection:
            known = set(
                connection.execute(select(slots.c.id).where(slots.c.id.in_([one.id for one in planned]))).scalars()
            )
            rows = [_slot_row(one) for one in planned if one.id not in known]
            if rows:
                connection.execute(slots.insert(), rows)
        return len(rows)

    def claim(
        self, member: Member, *, study: Id, design: HallDesign, now: float, kinds: Sequence[SlotKind] = COMPARING
    ) -> Seat | None:
        """Give the grader an open slot they may judge, or None when there is none for them.

        Who holds as many as the design allows is given the one they took first: it is finished, or given back, before
        another is seen.
        """
        with self.store.transaction() as connection:
            # One claim a grader at a time: two clicks together would each be blind to the other's place on one set.
            connection.execute(_MEMBER, {"member": member.id})
            self._expire(connection, now)
            if held := _held(connection, member, design):
                return self.seat(held)
            for slot, mine in _suitable(connection, member, study=study, design=design, kinds=kinds):
                expires_at = now + 3600 * design.lease_hours
                seat = _take(connection, slot, member, mine=mine, expires_at=expires_at, now=now)
                if seat is not None:
                    return seat
        return None

    def sit(self, member: Member, slot: Slot, *, design: HallDesign, now: float) -> Seat | None:
        """Give the grader this very slot (it is planned if need be), or a seat they already have."""
        with self.store.transaction() as connection:
            connection.execute(_MEMBER, {"member": member.id})
            self._expire(connection, now)
            self.plan([slot])
            own = and_(seats.c.slot == slot.id, seats.c.member == member.id)
            row = connection.execute(select(seats.c.id, seats.c.state).where(own)).first()
            if row is not None:
                return None if row.state == SeatState.DECLINED else self.seat(row.id)
            if held := _held(connection, member, design):
                return self.seat(held)
            mine = met(connection, [member], {slot.task})[member.id]
            return _take(connection, slot, member, mine=mine, expires_at=now + 3600 * design.lease_hours, now=now)

    def _expire(self, connection: Connection, now: float) -> None:
        """Free the slots of seats whose lease ran out; the drafts stay with their seats."""
        for slot, seat in connection.execute(_EXPIRE, {"now": now}).all():
            _let_go(connection, slot, seat)

    def seat(self, identity: str) -> Seat:
        with self.store.glance() as connection:
            row = connection.execute(
                select(seats, slots.c.body).join(slots, slots.c.id == seats.c.slot).where(seats.c.id == identity)
            ).first()
        if row is None:
            raise UnknownName("seat", identity, fix="go back to your list of work")
        return _seat(row)

    def locked_seat(self, connection: Connection, identity: str) -> Seat:
        """The seat as it stands now, and nobody else's to change until the transaction ends.

        Two clicks of one button arrive together: the second must see what the first has kept.
        """
        _locked(connection, identity)
        return self.seat(identity)

    def seats_of(self, member: Id) -> list[Seat]:
        """A grader's seats, newest first."""
        query = select(seats, slots.c.body).join(slots, slots.c.id == seats.c.slot).where(seats.c.member == member)
        with self.store.reading() as connection:
            return [_seat(row) for row in connection.execute(query.order_by(seats.c.claimed_at.desc()))]

    def taken(self, member: Id, study: Id) -> Counter[SlotKind]:
        """How many sets of each kind a grader has taken in a study and not given back."""
        mine = (seats.c.member == member, seats.c.study == study, seats.c.state != SeatState.DECLINED)
        query = select(slots.c.kind, func.count()).join(seats, seats.c.slot == slots.c.id).where(*mine)
        with self.store.glance() as connection:
            found = connection.execute(query.group_by(slots.c.kind)).all()
        return Counter({SlotKind(kind): number for kind, number in found})

    def beat(self, identity: str, beat: Beat, *, now: float, lease_s: float) -> Tally:
        """Count time and keep the lease alive; one that ran out is taken up again while its slot is free."""
        with self.store.transaction() as connection:
            row = _locked(connection, identity)
            tally = _tally(row.clock).after(beat, now)
            self._keep(connection, row, {"clock": tally.model_dump_json()}, now=now, lease_s=lease_s)
        return tally

    def _keep(
        self, connection: Connection, row: Row[Any], changes: dict[str, Any], *, now: float, lease_s: float
    ) -> None:
        """Write changes to a seat and, while its slot is its own or free, keep its lease alive with the same stroke."""
        over = row.state == SeatState.EXPIRED and not _hold(connection, row.slot, row.id)
        if not over and row.state in {SeatState.LIVE, SeatState.EXPIRED}:
            changes = changes | {"state": SeatState.LIVE, "expires_at": now + lease_s}
        connection.execute(update(seats).where(seats.c.id == row.id).values(**changes))

    def save(self, identity: str, draft: str, *, version: int, now: float, lease_s: float) -> int:
        """Keep a draft; `version` is the one it was based on. Raises `StaleDraft` when a newer one is there."""
        with self.store.transaction() as connection:
            row = _locked(connection, identity)
            if row.draft_version != version:
                raise StaleDraft(stored=row.draft, version=row.draft_version)
            changes = {"draft": draft, "draft_version": version + 1, "draft_saved_at": now}
            self._keep(connection, row, changes, now=now, lease_s=lease_s)
        return version + 1

    def mark_brief_read(self, identity: str, *, now: float) -> None:
        """From now on the deliverables may be seen, and the set counts as met; one that was given back stays shut."""
        given_back = seats.c.state == SeatState.DECLINED
        unread = and_(seats.c.id == identity, seats.c.read_brief_at.is_(None), ~given_back)
        with self.store.transaction() as connection:
            connection.execute(update(seats).where(unread).values(read_brief_at=now))

    def decline(self, identity: str, reason: str, *, now: float) -> None:
        """Give a slot back with a reason; the grader will not be offered this comparison again."""
        with self.store.transaction() as connection:
            row = _locked(connection, identity)
            if row.state not in {SeatState.LIVE, SeatState.EXPIRED}:
                return
            connection.execute(
                update(seats)
                .where(seats.c.id == identity)
                .values(state=SeatState.DECLINED, decline_reason=reason, ended_at=now)
            )
            _let_go(connection, row.slot, identity)

    def finish(
        self, connection: Connection, identity: str, *, judgment: str, submit_key: str, now: float, counts: bool = True
    ) -> SeatState:
        """Close a seat inside the transaction that keeps its judgment. Late work becomes surplus, never an error.

        So does work that must not count because a rule now forbids it; its slot is free for another.
        """
        row = _locked(connection, identity)
        holds = counts and _hold(connection, row.slot, identity)
        state = SeatState.SUBMITTED if holds else SeatState.SURPLUS
        connection.execute(
            update(seats)
            .where(seats.c.id == identity)
            .values(state=state, judgment=judgment, submit_key=submit_key, ended_at=now)
        )
        if holds:
            connection.execute(update(slots).where(slots.c.id == row.slot).values(done=True))
        elif not counts:
            _let_go(connection, row.slot, identity)
        return state

    def amend(self, connection: Connection, identity: str, *, judgment: str) -> None:
        """Point a finished seat to the judgment that replaces its first; both stay kept."""
        connection.execute(update(seats).where(seats.c.id == identity).values(judgment=judgment))

    def may_fill(self, seat: Seat) -> bool:
        """Whether the seat's slot is still unfilled and held by nobody else."""
        query = select(slots.c.holder, slots.c.done).where(slots.c.id == seat.slot.id).with_for_update()
        with self.store.reading() as connection:
            holder, done = connection.execute(query).one()
        return not done and holder in {None, seat.id}

    def submitted_with(self, submit_key: str) -> str | None:
        """The judgment an earlier request with this key made: a double click is one judgment."""
        with self.store.reading() as connection:
            return connection.execute(select(seats.c.judgment).where(seats.c.submit_key == submit_key)).scalar()

    def is_complete(self, study: Id) -> bool:
        """Whether every planned grading is in: asks for one that is not, and counts nothing."""
        missing = (slots.c.study == study, slots.c.kind == SlotKind.PLANNED, slots.c.done.is_(False))
        with self.store.reading() as connection:
            return connection.execute(select(slots.c.id).where(*missing).limit(1)).first() is None

    def progress(self, study: Id) -> dict[str, int]:
        query = select(func.count(), func.count(slots.c.holder), func.sum(slots.c.done.cast(Integer))).where(
            slots.c.study == study, slots.c.kind == SlotKind.PLANNED
        )
        with self.store.reading() as connection:
            planned, held, done = connection.execute(query).one()
        return {"planned": planned, "held": held - (done or 0), "done": int(done or 0)}

    def refusal(self, member: Member, slot: Slot, design: HallDesign) -> Refusal | None:
        """Why a grader may not judge a slot; asked again at submit, since rules may have changed meanwhile."""
        [[refusal]] = self.refusals([member], [slot], design)
        return refusal

    def refusals(
        self, people: Sequence[Member], wanted: Sequence[Slot], design: HallDesign
    ) -> list[list[Refusal | None]]:
        """The same for each of several graders and each of several slots, in as many questions as for one."""
        with self.store.reading() as connection:
            taken = met(connection, people, {slot.task for slot in wanted})
            beside = colleagues(connection, people if any(slot.authors for slot in wanted) else ())
        return [
            [
                why_not(
                    one,
                    slot,
                    mine=[seat for seat in taken[one.id] if seat.slot != slot.id],
                    design=design,
                    colleagues=beside.get(one.employer_mark, ()),
                )
                for slot in wanted
            ]
            for one in people
        ]

    def waiting(self, member: Member, *, study: Id, design: HallDesign, kinds: Sequence[SlotKind]) -> bool:
        """Whether an open slot of these kinds is there for the grader."""
        with self.store.reading() as connection:
            return any(_suitable(connection, member, study=study, design=design, kinds=kinds))


def _suitable(
    connection: Connection, member: Member, *, study: Id, design: HallDesign, kinds: Sequence[SlotKind]
) -> Iterator[tuple[Slot, Sequence[Sat]]]:
    """Open slots no rule forbids the grader, each with the seats they have taken on its task."""
    beside: Collection[str] | None = None
    for slot in offers(connection, member, study=study, design=design, kinds=kinds):
        mine = met(connection, [member], {slot.task})[member.id]
        if slot.authors and beside is None:
            beside = colleagues(connection, [member])[member.employer_mark]
        refusal = why_not(member, slot, mine=mine, design=design, colleagues=beside or ())
        if refusal in OF_THE_GRADER:
            return
        if refusal is None:
            yield slot, mine


def _held(connection: Connection, member: Member, design: HallDesign) -> str | None:
    """The seat a grader is to finish first; None while they may hold one more."""
    found = connection.execute(_HELD, {"member": member.id}).scalars().all()
    return found[0] if len(found) >= (design.held_at_once or 1) else None


def _slot_row(slot: Slot) -> dict[str, Any]:
    columns = ("id", "study", "kind", "comparison", "task", "occupation", "turn", "rank")
    return {name: getattr(slot, name) for name in columns} | {"body": slot.canonical().decode(), "done": False}


def _take(
    connection: Connection, slot: Slot, member: Member, *, mine: Sequence[Sat], expires_at: float, now: float
) -> Seat | None:
    """Hold a slot and sit down; None when another grader was quicker."""
    identity = secrets.token_hex(16)
    if not _hold(connection, slot.id, identity):
        return None
    seat = Seat(
        id=identity,
        slot=slot,
        member=member.id,
        state=SeatState.LIVE,
        exposure=1 + sum(one.task == slot.task and has_met(one) for one in mine),
        claimed_at=now,
        expires_at=expires_at,
    )
    shown = {"study": slot.study, "comparison": slot.comparison, "task": slot.task, "turn": slot.turn}
    taken = {name: getattr(seat, name) for name in ("id", "member", "state", "exposure", "claimed_at", "expires_at")}
    connection.execute(_SIT_DOWN, {"slot": slot.id, "draft_version": 0} | shown | taken)
    return seat


def _hold(connection: Connection, slot: str, seat: str) -> bool:
    """Become (or still be) the one holder of an unfilled slot: a single guarded update, safe on both databases."""
    free = and_(slots.c.id == slot, slots.c.done.is_(False), slots.c.holder.is_(None) | (slots.c.holder == seat))
    return connection.execute(update(slots).where(free).values(holder=seat)).rowcount == 1


def _let_go(connection: Connection, slot: str, seat: str) -> None:
    """The slot is free again, unless somebody else holds it by now. Found by its own key: a hall has many slots."""
    connection.execute(update(slots).where(slots.c.id == slot, slots.c.holder == seat).values(holder=None))


def _locked(connection: Connection, identity: str) -> Row[Any]:
    """The seat's row, locked until the transaction ends (SQLite's write transactions exclude each other anyway)."""
    row = connection.execute(select(seats).where(seats.c.id == identity).with_for_update()).first()
    if row is None:
        raise UnknownName("seat", identity, fix="go back to your list of work")
    return row


def _tally(stored: str | None) -> Tally:
    return Tally.model_validate_json(stored) if stored else Tally()


def _seat(row: Row[Any]) -> Seat:
    return Seat(
        id=row.id,
        slot=Slot.model_validate_json(row.body),
        member=row.member,
        state=SeatState(row.state),
        exposure=row.exposure,
        claimed_at=row.claimed_at,
        expires_at=row.expires_at,
        draft=row.draft,
        draft_version=row.draft_version,
        draft_saved_at=row.draft_saved_at,
        clock=_tally(row.clock),
        read_brief_at=row.read_brief_at,
        judgment=row.judgment,
    )
