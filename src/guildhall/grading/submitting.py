"""From a grader's verdict to a judgment: places mapped to submissions by the stored order, in one transaction.

The client says "A"; only the server knows what stood there. A request that comes twice (a double click, a retry after a
lost answer) is recognised by its key and makes one judgment.

What follows when the planned gradings of a set are in: an extra grader on disagreement, severity of what was lost.
All of it is planned inside the transaction that keeps the last judgment, with ids made from the comparison, so that
nothing is planned twice. Controls for the severity queue (deliverables that were not lost) are drawn with a
probability that keeps their share near the design's; the probability is stored, and estimates weigh by its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from statistics import fmean

from sqlalchemy import func, select

from guildhall.domain.authors import Person
from guildhall.domain.halls import HallDesign, Member, SeatState, SeverityVerdict, Slot, SlotKind, Verdict
from guildhall.domain.judgments import CRITERIA, Comparison, Judgment, Outcome, SeverityRating, TimeCorrection
from guildhall.domain.values import Digest
from guildhall.errors import InputError
from guildhall.grading.adjudicating import adjudication_slot, slots_of
from guildhall.grading.design import slot_id
from guildhall.grading.eligibility import Refusal
from guildhall.grading.queue import Queue, Seat
from guildhall.store.audit import record
from guildhall.store.hall import seats, slots
from guildhall.store.outbox import Outbox


def follow_up(queue: Queue, slot: Slot, design: HallDesign) -> tuple[Slot, ...]:
    """Plan what the outcome of a set calls for, once all its planned gradings are in; else nothing."""
    judgments = _complete(queue, slot.comparison)
    if slot.kind is not SlotKind.PLANNED or not judgments:
        return ()
    comparison = queue.store.get(Comparison, slot.comparison)
    made: list[Slot] = []
    if design.adjudicate and disagree(judgments, comparison):
        with queue.store.reading() as connection:
            there = [one for one, _ in slots_of(connection, slot.comparison)]
        made.append(adjudication_slot(queue, comparison, there))
    if design.severity_raters:
        for model in comparison.submissions[1:]:
            made += _severity(queue, comparison, slot, model, judgments, design)
    queue.plan(made)
    return tuple(made)


def disagree(judgments: Sequence[Judgment], comparison: Comparison) -> bool:
    """Whether two graders put some two submissions in opposite orders; a tie contradicts nobody."""
    shown = comparison.submissions
    for index, first in enumerate(shown):
        for second in shown[index + 1 :]:
            if {Outcome.WIN, Outcome.LOSS} <= {judgment.outcome(first, second) for judgment in judgments}:
                return True
    return False


def was_lost(outcomes: Sequence[Outcome], *, on_any_loss: bool) -> bool:
    """Whether severity is asked for: the mean score is below one half (or, by choice, anyone voted it down)."""
    if on_any_loss:
        return Outcome.LOSS in outcomes
    return fmean(outcome.score for outcome in outcomes) < 0.5


def control_probability(*, share: float, lost: int, kept: int) -> float:
    """How likely the next deliverable that was not lost becomes a control, after `lost` and `kept` earlier ones.

    With L lost and K kept deliverables, L * share / (1 - share) controls make up `share` of all severity items.
    """
    wanted = share / (1 - share) * (lost + 1) / (kept + 1)
    return min(1.0, wanted)


def _complete(queue: Queue, comparison: Digest) -> list[Judgment]:
    """The planned judgments of a comparison when none is missing; else an empty list."""
    of_it = (slots.c.comparison == comparison, slots.c.kind == SlotKind.PLANNED)
    with queue.store.reading() as connection:
        if connection.execute(select(func.count()).where(*of_it, slots.c.done.is_(False))).scalar_one():
            return []
        joined = select(seats.c.judgment).join(slots, slots.c.holder == seats.c.id).where(*of_it)
        keys = connection.execute(joined).scalars().all()
    return [queue.store.get(Judgment, key) for key in keys]


def _severity(
    queue: Queue, comparison: Comparison, slot: Slot, model: Digest, judgments: Sequence[Judgment], design: HallDesign
) -> list[Slot]:
    outcomes = [outcome for one in judgments if (outcome := one.outcome(model, comparison.submissions[0])) is not None]
    if not outcomes:
        return []
    probability, control = 1.0, False
    if not was_lost(outcomes, on_any_loss=design.severity_on_any_loss):
        lost, kept = _so_far(queue, slot.study)
        probability, control = control_probability(share=design.control_share, lost=lost, kept=kept), True
        if probability <= 0 or Random(slot_id(comparison.key, model, "drawn")).random() >= probability:
            return []
    return [
        slot.but(
            id=slot_id(comparison.key, model, number),
            kind=SlotKind.SEVERITY,
            order=(model, comparison.submissions[0]),
            turn=0,
            rank=Random(slot_id(comparison.key, model, number, "rank")).randrange(2**31),
            probability=probability,
            control=control,
        )
        for number in range(design.severity_raters)
    ]


def _so_far(queue: Queue, study: str) -> tuple[int, int]:
    """Lost deliverables of a study so far, and complete comparisons that called for no rating as lost."""
    with queue.store.reading() as connection:
        mine = (slots.c.study == study, slots.c.kind == SlotKind.SEVERITY)
        rows = connection.execute(select(slots.c.body).where(*mine)).scalars().all()
        planned = (slots.c.study == study, slots.c.kind == SlotKind.PLANNED)
        complete = (
            select(slots.c.comparison)
            .where(*planned)
            .group_by(slots.c.comparison)
            .having(func.count() == func.count().filter(slots.c.done.is_(True)))
        )
        done = connection.execute(select(func.count()).select_from(complete.subquery())).scalar_one()
    items = {(one.comparison, one.order[0]) for one in map(Slot.model_validate_json, rows) if not one.control}
    # The comparison at hand is complete already and is the one being decided about.
    return len(items), max(0, done - 1 - len(items))


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
