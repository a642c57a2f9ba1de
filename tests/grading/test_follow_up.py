"""What follows from a finished set: adjudication, the severity queue with its controls, second thoughts."""

from __future__ import annotations

from random import Random

import pytest

from guildhall.domain.halls import HallDesign, Member, SeatState, SeverityVerdict, SlotKind, Verdict
from guildhall.domain.judgments import Comparison, Judgment, Severity, SeverityRating, TimeCorrection
from guildhall.errors import InputError
from guildhall.grading.queue import Queue, Seat
from guildhall.grading.submitting import AMEND_S, amend, control_probability, rate_severity, submit
from guildhall.store.audit import history
from guildhall.store.records import Store
from tests.grading.halls import DESIGN, VERDICT, AtOnce, hall

SEVERITY = (SlotKind.SEVERITY,)


def vote(queue: Queue, member: Member, *, for_expert: bool | None, design: HallDesign = DESIGN) -> Seat:
    """Claim and submit, the expert's side chosen whatever place it has; None is a tie."""
    seat = queue.claim(member, study="s", design=design, now=1.0)
    assert seat is not None
    expert = queue.store.get(Comparison, seat.slot.comparison).submissions[0]
    if for_expert is None:
        verdict = Verdict(ranks=(1, 1), tie_kind="both good", reason="They are equally good.")
    else:
        expert_first = seat.slot.order[0] == expert
        verdict = VERDICT.but(ranks=(1, 2) if expert_first is for_expert else (2, 1))
    submit(queue, seat, member, verdict, design=design, submit_key=seat.id, now=2.0)
    return queue.seat(seat.id)


def test_graders_who_contradict_each_other_call_for_one_more(store: Store) -> None:
    design = DESIGN.but(adjudicate=True, graders_per_set=3)
    queue, people = hall(store, graders=5, tasks=1, design=design)
    for person, choice in zip(people, (True, True, False), strict=False):
        vote(queue, person, for_expert=choice, design=design)
    extra = queue.claim(people[3], study="s", design=design, now=3.0)
    assert extra is not None and extra.slot.kind is SlotKind.ADJUDICATION
    submit(queue, extra, people[3], VERDICT, design=design, submit_key="extra", now=4.0)
    assert [one.planned for one in store.each(Judgment)] == [True, True, True, False]
    assert queue.claim(people[4], study="s", design=design, now=5.0) is None
    assert queue.progress("s") == {"planned": 3, "held": 0, "done": 3}


def test_a_tie_contradicts_nobody(store: Store) -> None:
    design = DESIGN.but(adjudicate=True)
    queue, people = hall(store, graders=4, tasks=1, design=design)
    for person, choice in zip(people, (True, None, True), strict=False):
        vote(queue, person, for_expert=choice, design=design)
    assert queue.claim(people[3], study="s", design=design, now=3.0) is None


def test_a_lost_deliverable_is_rated_by_somebody_who_did_not_judge_it(store: Store) -> None:
    queue, people = hall(store, graders=4, tasks=1)
    for person, choice in zip(people, (True, True, False), strict=False):
        vote(queue, person, for_expert=choice)
    assert queue.claim(people[0], study="s", design=DESIGN, now=3.0, kinds=SEVERITY) is None
    seat = queue.claim(people[3], study="s", design=DESIGN, now=3.0, kinds=SEVERITY)
    assert seat is not None
    comparison = store.get(Comparison, seat.slot.comparison)
    assert seat.slot.order == (comparison.submissions[1], comparison.submissions[0])
    said = SeverityVerdict(severity=Severity.BAD, reason="The totals are wrong.")
    first = rate_severity(queue, seat, people[3], said, design=DESIGN, now=4.0)
    assert rate_severity(queue, seat, people[3], said, design=DESIGN, now=5.0).repeated
    [rating] = store.find(SeverityRating)
    assert (rating.key, rating.submission) == (first.judgment, comparison.submissions[1])
    assert (rating.control, rating.sampling_rate, rating.severity) == (False, 1.0, Severity.BAD)


def test_a_deliverable_with_a_mean_of_one_half_is_not_lost_unless_any_loss_counts(store: Store) -> None:
    for design, expected in ((DESIGN.but(control_share=0.0), False), (DESIGN.but(severity_on_any_loss=True), True)):
        pair = design.but(graders_per_set=2)
        queue, people = hall(store, graders=3, tasks=1, design=pair) if not expected else _again(store, pair)
        for person, choice in zip(people, (True, False), strict=False):
            vote(queue, person, for_expert=choice, design=pair)
        seat = queue.claim(people[2], study="s", design=pair, now=3.0, kinds=SEVERITY)
        assert (seat is not None) is expected


def _again(store: Store, design: HallDesign) -> tuple[Queue, list[Member]]:
    from guildhall.grading.people import Roster
    from tests.grading.halls import layout

    people = [Member(id=f"q-{n}", code_name=f"again-{n}", role="grader", occupations=("Editors",)) for n in range(3)]
    for person in people:
        Roster(store, pepper=b"test").invite(person, personal={})
    planned = layout(2, design=design, seed=3)
    slots = [slot for slot in planned.slots if slot.task == "t-1"]
    store.add_all(planned.comparisons)
    queue = AtOnce(store)
    queue.plan(slots)
    return queue, people


def test_controls_make_up_their_share_and_carry_the_probability_they_were_drawn_with() -> None:
    share, rng = 0.15, Random(5)
    lost = kept = drawn = 0
    weighted = 0.0
    for _ in range(20_000):
        if rng.random() < 0.55:
            lost += 1
            continue
        probability = control_probability(share=share, lost=lost, kept=kept)
        kept += 1
        if rng.random() < probability:
            drawn += 1
            weighted += 1 / probability
    assert drawn / (drawn + lost) == pytest.approx(share, abs=0.01)
    assert weighted == pytest.approx(kept, rel=0.06)


def test_a_second_thought_replaces_the_judgment_and_both_stay(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    seat = vote(queue, person, for_expert=True)
    other = VERDICT.but(ranks=(2, 1), reason="I had misread the second table.")
    receipt = amend(queue, seat, person, other, why="misread a table", design=DESIGN, now=100.0)
    first, second = store.find(Judgment)
    assert second.replaces == first.key and receipt.judgment == second.key == queue.seat(seat.id).judgment
    assert second.planned
    assert history(store)[0]["facts"]["why"] == "misread a table"


def test_after_a_week_or_without_a_reason_nothing_is_amended(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    seat = vote(queue, person, for_expert=True)
    with pytest.raises(InputError, match="say why"):
        amend(queue, seat, person, VERDICT, why=" ", design=DESIGN, now=3.0)
    amend(queue, seat, person, VERDICT, why="a slip", design=DESIGN, now=AMEND_S)
    with pytest.raises(InputError, match="seven days"):
        amend(queue, seat, person, VERDICT, why="too late", design=DESIGN, now=AMEND_S + 10)


def test_a_corrected_time_is_kept_beside_the_clocks_own(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    seat = queue.claim(person, study="s", design=DESIGN, now=0.0)
    assert seat is not None
    said = TimeCorrection(active_s=3600, reason="read it on paper")
    submit(queue, seat, person, VERDICT, design=DESIGN, submit_key="k", now=1.0, correction=said)
    [judgment] = store.find(Judgment)
    assert judgment.active_s is None and judgment.correction == said


def test_nobody_judges_their_own_work_or_a_colleagues(store: Store) -> None:
    queue, [author, colleague, stranger] = hall(store, graders=3, tasks=1)
    from guildhall.grading.people import Roster

    roster = Roster(store, pepper=b"test")
    firm = roster.mark("A firm")
    author = author.but(author_names=("x",), employer_mark=firm)
    roster.change(author)
    assert queue.claim(author, study="s", design=DESIGN, now=0.0) is None
    assert queue.claim(colleague.but(employer_mark=firm), study="s", design=DESIGN, now=0.0) is None
    assert queue.claim(stranger.but(employer_mark=roster.mark("Other")), study="s", design=DESIGN, now=0.0)


def test_a_conflict_that_comes_up_while_judging_makes_the_judgment_surplus_and_frees_the_place(store: Store) -> None:
    queue, [late, other] = hall(store, graders=2, tasks=1, design=DESIGN.but(graders_per_set=1))
    seat = queue.claim(late, study="s", design=DESIGN, now=0.0)
    assert seat is not None
    receipt = submit(queue, seat, late.but(conflicts=("t-0",)), VERDICT, design=DESIGN, submit_key="k", now=1.0)
    assert receipt.state is SeatState.SURPLUS
    assert [one.planned for one in store.each(Judgment)] == [False]
    assert queue.claim(other, study="s", design=DESIGN, now=2.0) is not None
