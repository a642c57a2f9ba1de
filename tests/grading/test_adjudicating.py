"""One grader more on a set, at a manager's wish: on record, one at a time, and never part of primary estimates."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from guildhall.domain.halls import HallDesign, Member, Role, SlotKind
from guildhall.domain.judgments import Judgment
from guildhall.errors import InputError, UnknownName
from guildhall.grading.adjudicating import adjudications, ask_for_one_more, missing_gradings, who_may
from guildhall.grading.queue import Queue
from guildhall.grading.submitting import submit
from guildhall.store.audit import history
from guildhall.store.records import Store
from tests.grading.halls import DESIGN, VERDICT, hall

MANAGER = Member(id="m", code_name="manager-1", role=Role.MANAGER)
TWO = DESIGN.but(graders_per_set=2, severity_raters=0)


def judge(queue: Queue, member: Member, design: HallDesign = TWO) -> str:
    """Take the next set and submit; the comparison that was judged."""
    seat = queue.claim(member, study="s", design=design, now=1.0)
    assert seat is not None
    submit(queue, seat, member, VERDICT, design=design, submit_key=seat.id, now=2.0)
    return seat.slot.comparison


def ask(queue: Queue, comparison: str, study: str = "s") -> str:
    return ask_for_one_more(queue, study, comparison, why="look again", by=MANAGER, now=3.0).id


def test_a_grader_more_judges_outside_the_plan_and_the_wish_is_on_record(store: Store) -> None:
    queue, people = hall(store, graders=4, tasks=1, design=TWO)
    [comparison] = {judge(queue, person) for person in people[:2]}
    slot = ask(queue, comparison)
    [row] = history(store, subject=slot)
    assert (row["actor"], row["action"], row["facts"]["why"]) == ("manager-1", "adjudication asked", "look again")
    [waiting] = adjudications(queue, "s")[comparison]
    assert (waiting.grader, waiting.judgment) == (None, None)
    assert who_may(queue, [waiting.slot], people, TWO) == {slot: ["grader-2", "grader-3"]}
    assert judge(queue, people[2]) == comparison
    [given] = adjudications(queue, "s")[comparison]
    assert given.grader == "grader-2" and given.judgment is not None
    assert [one.planned for one in store.each(Judgment)] == [True, True, False]
    assert queue.progress("s") == {"planned": 2, "held": 0, "done": 2}


def test_one_more_is_asked_for_only_when_nothing_is_outstanding(store: Store) -> None:
    queue, people = hall(store, graders=5, tasks=1, design=TWO)
    comparison = judge(queue, people[0])
    assert missing_gradings(queue, "s") == {comparison: 1}
    with pytest.raises(InputError, match="planned gradings"):
        ask(queue, comparison)
    judge(queue, people[1])
    first = ask(queue, comparison)
    with pytest.raises(InputError, match="asked for before"):
        ask(queue, comparison)
    judge(queue, people[2])
    assert ask(queue, comparison) != first
    judge(queue, people[3])
    assert [one.grader for one in adjudications(queue, "s")[comparison]] == ["grader-2", "grader-3"]


def test_a_set_of_another_study_or_of_none_is_unknown(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=1, design=TWO)
    [comparison] = {judge(queue, person) for person in people}
    for study, key in (("other", comparison), ("s", "0" * 64)):
        with pytest.raises(UnknownName):
            ask(queue, key, study)


def test_two_managers_who_ask_at_once_get_one_grader_between_them(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=1, design=TWO)
    [comparison] = {judge(queue, person) for person in people}

    def attempt(_: int) -> str | None:
        try:
            return ask(queue, comparison)
        except InputError:
            return None

    with ThreadPoolExecutor(4) as pool:
        made = [slot for slot in pool.map(attempt, range(8)) if slot is not None]
    assert len(made) == 1 and len(adjudications(queue, "s")[comparison]) == 1


def test_orders_stay_balanced_with_every_grader_more(store: Store) -> None:
    design = TWO.but(graders_per_set=3)
    queue, people = hall(store, graders=9, tasks=1, design=design)
    [comparison] = {judge(queue, person, design) for person in people[:3]}
    turns = Counter(seat.slot.turn for person in people[:3] for seat in queue.seats_of(person.id))
    for person in people[3:]:
        ask(queue, comparison)
        judge(queue, person, design)
        [seat] = queue.seats_of(person.id)
        assert seat.slot.kind is SlotKind.ADJUDICATION
        turns[seat.slot.turn] += 1
        assert abs(turns[0] - turns[1]) <= 1
