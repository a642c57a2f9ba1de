"""What follows when the planned gradings of a set are in: an extra grader on disagreement, severity of what was lost.

All of it is planned inside the transaction that keeps the last judgment, with ids made from the comparison, so that
nothing is planned twice. Controls for the severity queue (deliverables that were not lost) are drawn with a probability
that keeps their share near the design's; the probability is stored, and estimates weigh by its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import fmean

from sqlalchemy import func, select

from guildhall.domain.halls import HallDesign, Slot, SlotKind
from guildhall.domain.judgments import Comparison, Judgment, Outcome
from guildhall.domain.values import Digest
from guildhall.grading.adjudicating import adjudication_slot, slots_of
from guildhall.grading.design import slot_id
from guildhall.grading.queue import Queue
from guildhall.store.hall import seats, slots


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
