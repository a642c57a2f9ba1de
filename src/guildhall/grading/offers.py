"""What the queue can offer a grader, read so that it costs the same in the first week of a hall and in its tenth year.

A claim asks about the sets it may give and the last few the grader took, never about everything they ever judged. Each
statement is made once and filled in later: on a busy evening, building it anew would cost more than the answer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, exists, func, select, union_all

from guildhall.domain.halls import HallDesign, Member, SeatState, Slot, SlotKind
from guildhall.domain.values import Id
from guildhall.store.hall import members, seats, slots

_AT_ONCE = 40
"""How many open slots one look considers; the next look goes on behind them."""


def offers(
    connection: Connection, member: Member, *, study: Id, design: HallDesign, kinds: Sequence[SlotKind]
) -> Iterator[Slot]:
    """Open slots on sets the grader has not met, in line; the task they have just left comes last among each few.

    How the sides are ordered has no say here: if it had, a grader could tell from the number of a set what it hides.
    """
    if design.match_occupation and not member.occupations:
        return
    occupations = member.occupations if design.match_occupation else ()
    about: dict[str, Any] = {f"occupation_{number}": name for number, name in enumerate(occupations)}
    about |= {"study": study, "member": member.id, "kinds": [*kinds], "limit": design.exposure_limit, "behind": -1}
    query = _open_slots(len(occupations), limited=SlotKind.SEVERITY not in kinds)
    last = connection.execute(_LATEST, {"member": member.id}).scalar()
    found = connection.execute(query, about).all()
    while found:
        yield from (
            Slot.model_validate_json(offer.body) for offer in sorted(found, key=lambda offer: offer.task == last)
        )
        more = len(found) == _AT_ONCE
        found = connection.execute(query, about | {"behind": found[-1].rank}).all() if more else []


@cache
def _open_slots(occupations: int, *, limited: bool) -> Select[Any]:
    """The next open slots in their order, of so many occupations (of any, when 0); `limited` to tasks not yet worn.

    Each occupation is walked by itself in the order of its index: one walk through several would read and sort all
    that is open in them.
    """
    mine = (seats.c.member == bindparam("member"), seats.c.task == slots.c.task)
    query = select(slots.c.body, slots.c.task, slots.c.rank).where(
        slots.c.study == bindparam("study"),
        slots.c.kind.in_(bindparam("kinds", expanding=True)),
        slots.c.done.is_(False),
        slots.c.holder.is_(None),
        slots.c.rank > bindparam("behind"),
        ~exists(seats.c.comparison).where(*mine, seats.c.comparison == slots.c.comparison),
    )
    if limited:
        # From the index alone, and so without sets that were opened and given back: the rules ask about those again.
        times = select(func.count()).where(*mine, seats.c.study == slots.c.study, seats.c.state != SeatState.DECLINED)
        query = query.where(times.correlate(slots).scalar_subquery() < bindparam("limit"))
    if not occupations:
        return query.order_by(slots.c.rank).limit(_AT_ONCE)
    walks = [
        query.where(slots.c.occupation == bindparam(f"occupation_{number}")).order_by(slots.c.rank).limit(_AT_ONCE)
        for number in range(occupations)
    ]
    together = union_all(*(select(walk.subquery()) for walk in walks)).subquery()
    return walks[0] if occupations == 1 else select(together).order_by(together.c.rank).limit(_AT_ONCE)


_LATEST = (
    select(seats.c.task)
    .where(seats.c.member == bindparam("member"))
    .order_by(seats.c.claimed_at.desc(), seats.c.id.desc())
    .limit(1)
)


_WHAT = (seats.c.member, seats.c.slot, seats.c.study, seats.c.comparison, seats.c.task, seats.c.state)
_MET = select(*_WHAT, seats.c.read_brief_at).where(
    seats.c.member.in_(bindparam("members", expanding=True)), seats.c.task.in_(bindparam("tasks", expanding=True))
)
_EMPLOYED = select(members.c.employer_mark, members.c.body).where(
    members.c.employer_mark.in_(bindparam("marks", expanding=True))
)


def met(connection: Connection, people: Iterable[Member], tasks: Collection[Id]) -> dict[Id, list[Any]]:
    """The seats each of some graders has taken on these tasks: all that the rules ask about."""
    found: dict[Id, list[Any]] = {one.id: [] for one in people}
    for seat in connection.execute(_MET, {"members": [*found], "tasks": [*tasks]}):
        found[seat.member].append(seat)
    return found


def colleagues(connection: Connection, people: Iterable[Member]) -> dict[str | None, set[str]]:
    """Mark of an employer -> the code names under which its people have work in the bank."""
    found: dict[str | None, set[str]] = {one.employer_mark: set() for one in people}
    marks = [mark for mark in found if mark is not None]
    for mark, body in connection.execute(_EMPLOYED, {"marks": marks}) if marks else ():
        found[mark].update(json.loads(body)["author_names"])
    return found
