"""From a grader's verdict to a judgment: places mapped to submissions by the stored order, in one transaction.

The client says "A"; only the server knows what stood there. A request that comes twice (a double click, a retry after a
lost answer) is recognised by its key and makes one judgment.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from guildhall.domain.authors import Person
from guildhall.domain.halls import HallDesign, Member, SeatState, SeverityVerdict, SlotKind, Verdict
from guildhall.domain.judgments import CRITERIA, Judgment, SeverityRating, TimeCorrection
from guildhall.errors import InputError
from guildhall.grading.eligibility import Refusal
from guildhall.grading.follow_up import follow_up
from guildhall.grading.queue import Queue, Seat
from guildhall.store.audit import record
from guildhall.store.outbox import Outbox

AMEND_S = 7 * 86400.0
FINISHED = frozenset({SeatState.SUBMITTED, SeatState.SURPLUS})


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
    queue: Queue,
    seat: Seat,
    member: Member,
    verdict: Verdict,
    *,
    design: HallDesign,
    submit_key: str,
    now: float,
    correction: TimeCorrection | None = None,
) -> Receipt:
    """Keep a verdict. Durable when this returns; never refused for lateness.

    A rule that came to forbid this grader the set since they took it, a set given back before, or a brief that was
    never opened makes the judgment surplus, and the audit log says so. The last planned judgment of a set plans what
    follows from it.
    """
    known = queue.submitted_with(submit_key)
    if known:
        return Receipt(known, queue.seat(seat.id).state, repeated=True)
    _require_complete(verdict, seat, design)
    with queue.store.transaction() as connection:
        fresh = queue.locked_seat(connection, seat.id)
        if fresh.state in FINISHED and fresh.judgment:
            return Receipt(fresh.judgment, fresh.state, repeated=True)
        refusal = _refusal(queue, fresh, member, design)
        planned = refusal is None and fresh.slot.kind is SlotKind.PLANNED and queue.may_fill(fresh)
        judgment = _judgment(fresh, member, verdict, now=now, planned=planned, correction=correction)
        queue.store.add(judgment)
        state = queue.finish(
            connection, fresh.id, judgment=judgment.key, submit_key=submit_key, now=now, counts=refusal is None
        )
        facts = {"seat": fresh.id, "state": state, "judgment": judgment.key, "refusal": refusal}
        record(queue.store, at=now, actor=member.code_name, action="submit", subject=fresh.slot.id, facts=facts)
        if planned:
            follow_up(queue, fresh.slot, design)
            _announce(queue, fresh, member, now=now)
    return Receipt(judgment.key, state, repeated=False)


def _refusal(queue: Queue, seat: Seat, member: Member, design: HallDesign) -> Refusal | None:
    """Why what was judged must not count; None when it may."""
    if seat.state is SeatState.DECLINED:
        return Refusal.GIVEN_BACK
    return Refusal.UNREAD if seat.read_brief_at is None else queue.refusal(member, seat.slot, design)


def _announce(queue: Queue, seat: Seat, member: Member, *, now: float) -> None:
    """Tell programs that wait for it; they learn no more than a manager's board shows."""
    outbox, study = Outbox(queue.store), seat.slot.study
    facts = {"study": study, "task": seat.slot.task, "grader": member.code_name}
    outbox.announce("judgment.submitted", facts, now=now)
    if outbox.awaited("study.complete") and queue.is_complete(study):
        judgments = queue.progress(study)["done"]
        outbox.announce("study.complete", {"study": study, "judgments": judgments}, now=now)


def may_amend(seat: Seat, judgment: Judgment, *, now: float) -> bool:
    """A judgment can be changed for a week; a training set, whose answer was shown, not at all."""
    return seat.slot.kind is not SlotKind.TRAINING and now - judgment.made_at.timestamp() <= AMEND_S


def amend(
    queue: Queue,
    seat: Seat,
    member: Member,
    verdict: Verdict,
    *,
    why: str,
    design: HallDesign,
    now: float,
    correction: TimeCorrection | None = None,
) -> Receipt:
    """Keep a second thought: a new judgment that replaces the last one, which stays kept."""
    if not why.strip():
        raise InputError("say why you change your judgment")
    _require_complete(verdict, seat, design)
    with queue.store.transaction() as connection:
        fresh = queue.locked_seat(connection, seat.id)
        if fresh.state not in FINISHED or fresh.judgment is None:
            raise InputError("this set has no judgment yet; submit it first")
        before = queue.store.get(Judgment, fresh.judgment)
        if not may_amend(fresh, first_of(queue, before), now=now):
            raise InputError("a judgment can be changed for seven days; tell the manager what is wrong with it")
        made = _judgment(fresh, member, verdict, now=now, planned=before.planned, correction=correction)
        # Asked last and only once: a later answer would know more.
        judgment = made.but(replaces=before.key, guess=before.guess)
        queue.store.add(judgment)
        queue.amend(connection, fresh.id, judgment=judgment.key)
        facts = {"seat": fresh.id, "before": before.key, "judgment": judgment.key, "why": why}
        record(queue.store, at=now, actor=member.code_name, action="amend", subject=fresh.slot.id, facts=facts)
    return Receipt(judgment.key, fresh.state, repeated=False)


def first_of(queue: Queue, judgment: Judgment) -> Judgment:
    """The judgment a chain of changes began with."""
    while judgment.replaces is not None:
        judgment = queue.store.get(Judgment, judgment.replaces)
    return judgment


def rate_severity(
    queue: Queue, seat: Seat, member: Member, verdict: SeverityVerdict, *, design: HallDesign, now: float
) -> Receipt:
    """Keep how bad a deliverable is. A second press of the button changes nothing."""
    if len(verdict.reason.split()) < design.minimum_reason_words:
        raise InputError(f"give your reasons in at least {design.minimum_reason_words} words")
    with queue.store.transaction() as connection:
        fresh = queue.locked_seat(connection, seat.id)
        if fresh.state in FINISHED and fresh.judgment:
            return Receipt(fresh.judgment, fresh.state, repeated=True)
        if fresh.state is SeatState.DECLINED or fresh.read_brief_at is None:
            raise InputError("you gave this deliverable back, or have not opened it; take the next one from your list")
        rating = SeverityRating(
            study=fresh.slot.study,
            submission=fresh.slot.order[0],
            comparison=fresh.slot.comparison,
            grader=_person(member),
            severity=verdict.severity,
            reason=verdict.reason,
            control=fresh.slot.control,
            sampling_rate=fresh.slot.probability,
            active_s=fresh.clock.active_s if fresh.clock.started is not None else None,
            made_at=datetime.fromtimestamp(now, UTC),
        )
        queue.store.add(rating)
        state = queue.finish(connection, fresh.id, judgment=rating.key, submit_key=fresh.id, now=now)
        facts = {"seat": fresh.id, "state": state, "rating": rating.key}
        record(queue.store, at=now, actor=member.code_name, action="rate", subject=fresh.slot.id, facts=facts)
    return Receipt(rating.key, state, repeated=False)


def _require_complete(verdict: Verdict, seat: Seat, design: HallDesign) -> None:
    faults = check_verdict(verdict, seat, design)
    if faults:
        raise InputError("; ".join(faults))


def _person(member: Member) -> Person:
    return Person(code_name=member.code_name, grader_kind=member.grader_kind)


def _judgment(
    seat: Seat, member: Member, verdict: Verdict, *, now: float, planned: bool, correction: TimeCorrection | None
) -> Judgment:
    counted = seat.clock.started is not None
    return Judgment(
        comparison=seat.slot.comparison,
        grader=_person(member),
        order=seat.slot.order,
        exposure=seat.exposure,
        planned=planned,
        active_s=seat.clock.active_s if counted else None,
        wall_s=seat.clock.wall_s if counted else None,
        correction=correction,
        made_at=datetime.fromtimestamp(now, UTC),
        **verdict.model_dump(),
    )
