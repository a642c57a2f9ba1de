"""The queue: never more than k, none starved, nothing lost, nothing twice, on both databases."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest

from guildhall.domain.halls import HallDesign, Member, Role, SeatState
from guildhall.domain.judgments import Judgment
from guildhall.errors import InputError
from guildhall.grading.clock import Beat
from guildhall.grading.people import Roster, new_code_name
from guildhall.grading.queue import Queue, Seat, StaleDraft
from guildhall.grading.submitting import submit
from guildhall.store.audit import broken_links, history
from guildhall.store.hall import audit, member_secrets
from guildhall.store.records import Store
from tests.grading.halls import DESIGN, VERDICT, hall

HOUR = 3600.0


def grade(queue: Queue, member: Member, *, now: float = 0.0, design: HallDesign = DESIGN) -> str | None:
    seat = queue.claim(member, study="s", design=design, now=now)
    if seat is None:
        return None
    return submit(queue, seat, member, VERDICT, design=design, submit_key=f"key-{seat.id}", now=now).judgment


def race(store: Store, *, graders: int, tasks: int, rounds: int, seed: int) -> Counter[str]:
    """All graders at once claim and submit, give back or walk away, until nothing is left for anybody."""
    queue, people = hall(store, graders=graders, tasks=tasks)
    rng = random.Random(seed)
    plans = {person.id: [rng.random() for _ in range(1000)] for person in people}
    clock = [0.0]

    def work(person: Member) -> None:
        for chance in plans[person.id]:
            clock[0] += 1
            seat = queue.claim(person, study="s", design=DESIGN, now=clock[0])
            if seat is None:
                return
            if chance < 0.1:
                queue.decline(seat.id, "not my field", now=clock[0])
            else:
                submit(queue, seat, person, VERDICT, design=DESIGN, submit_key=seat.id, now=clock[0])

    for _ in range(rounds):
        threads = [threading.Thread(target=work, args=(person,)) for person in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return Counter(judgment.comparison for judgment in store.each(Judgment))


def test_overlap_is_never_exceeded_and_no_item_starves(store: Store) -> None:
    gradings = race(store, graders=12, tasks=8, rounds=2, seed=0)
    assert len(gradings) == 8
    assert set(gradings.values()) == {3}


def test_two_clicks_of_one_grader_never_take_two_places_on_one_set(store: Store) -> None:
    queue, (person, *_) = hall(store, tasks=1, graders=3)
    start, seats = threading.Barrier(4), []

    def click() -> None:
        start.wait()
        seats.append(queue.claim(person, study="s", design=DESIGN, now=0.0))

    clicks = [threading.Thread(target=click) for _ in range(4)]
    for one in clicks:
        one.start()
    for one in clicks:
        one.join()
    assert len({seat.id for seat in seats if seat is not None}) == len(queue.seats_of(person.id)) == 1


def test_a_grader_meets_a_task_once(store: Store) -> None:
    queue, people = hall(store, graders=3, tasks=12, models=2)
    for now in range(13):
        grade(queue, people[0], now=float(now))
    seats = queue.seats_of(people[0].id)
    assert len({seat.slot.task for seat in seats}) == len(seats) == 12


def test_an_expired_lease_keeps_its_draft_and_frees_the_slot(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=1, design=DESIGN.but(graders_per_set=1))
    first = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
    assert first is not None
    queue.save(first.id, "half done", version=0, now=10.0, lease_s=HOUR)
    second = queue.claim(people[1], study="s", design=DESIGN, now=2 * HOUR)
    assert second is not None and second.slot.id == first.slot.id
    kept = queue.seat(first.id)
    assert (kept.state, kept.draft) == (SeatState.EXPIRED, "half done")


def test_late_work_is_kept_as_surplus_and_never_refused(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=1, design=DESIGN.but(graders_per_set=1))
    late = queue.claim(people[0], study="s", design=DESIGN.but(lease_hours=1), now=0.0)
    assert late is not None
    assert grade(queue, people[1], now=2 * HOUR)
    receipt = submit(queue, late, people[0], VERDICT, design=DESIGN, submit_key="late", now=3 * HOUR)
    assert receipt.state is SeatState.SURPLUS
    assert [judgment.planned for judgment in store.each(Judgment)] == [True, False]
    assert queue.progress("s") == {"planned": 1, "held": 0, "done": 1}


def test_a_late_submit_into_a_free_slot_counts_as_planned(store: Store) -> None:
    queue, people = hall(store, graders=1, tasks=1)
    seat = queue.claim(people[0], study="s", design=DESIGN.but(lease_hours=1), now=0.0)
    assert seat is not None
    assert (
        submit(queue, seat, people[0], VERDICT, design=DESIGN, submit_key="k", now=9 * HOUR).state
        is SeatState.SUBMITTED
    )


def test_a_double_click_is_one_judgment(store: Store) -> None:
    queue, people = hall(store, graders=1, tasks=1)
    seat = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
    assert seat is not None
    first = submit(queue, seat, people[0], VERDICT, design=DESIGN, submit_key="k", now=1.0)
    again = submit(queue, seat, people[0], VERDICT, design=DESIGN, submit_key="k", now=2.0)
    other = submit(queue, seat, people[0], VERDICT, design=DESIGN, submit_key="another tab", now=3.0)
    assert first.judgment == again.judgment == other.judgment
    assert (first.repeated, again.repeated, other.repeated) == (False, True, True)
    assert store.count(Judgment) == 1


def test_two_clicks_at_the_same_moment_are_one_judgment(store: Store) -> None:
    queue, people = hall(store, graders=6, tasks=1, design=DESIGN.but(graders_per_set=6))
    for person in people:
        seat = queue.claim(person, study="s", design=DESIGN, now=0.0)
        assert seat is not None

        def click(now: float, seat: Seat = seat, person: Member = person) -> None:
            submit(queue, seat, person, VERDICT, design=DESIGN, submit_key=seat.id, now=now)

        clicks = [threading.Thread(target=click, args=(float(number),)) for number in range(1, 7)]
        for thread in clicks:
            thread.start()
        for thread in clicks:
            thread.join()
    assert store.count(Judgment) == 6
    assert queue.progress("s") == {"planned": 6, "held": 0, "done": 6}


def test_a_stale_draft_is_handed_back_with_the_newer_one(store: Store) -> None:
    queue, people = hall(store, graders=1, tasks=1)
    seat = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
    assert seat is not None
    assert queue.save(seat.id, "tab one", version=0, now=1.0, lease_s=HOUR) == 1
    with pytest.raises(StaleDraft) as caught:
        queue.save(seat.id, "tab two", version=0, now=2.0, lease_s=HOUR)
    assert (caught.value.stored, caught.value.version) == ("tab one", 1)


def test_declining_frees_the_slot_and_is_not_offered_again(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=1, design=DESIGN.but(graders_per_set=1))
    seat = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
    assert seat is not None
    queue.decline(seat.id, "conflict of interest", now=1.0)
    assert queue.claim(people[0], study="s", design=DESIGN, now=2.0) is None
    assert queue.claim(people[1], study="s", design=DESIGN, now=2.0) is not None


def test_a_short_reason_is_refused_before_anything_is_kept(store: Store) -> None:
    queue, people = hall(store, graders=1, tasks=1)
    seat = queue.claim(people[0], study="s", design=DESIGN, now=0.0)
    assert seat is not None
    with pytest.raises(InputError, match="at least 3 words"):
        submit(queue, seat, people[0], VERDICT.but(reason="good"), design=DESIGN, submit_key="k", now=1.0)
    assert store.count(Judgment) == 0


def test_graders_of_another_occupation_conflicts_and_missing_quizzes_get_nothing(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    for barred in (person.but(occupations=("Lawyers",)), person.but(conflicts=("t-0",))):
        assert queue.claim(barred, study="s", design=DESIGN, now=0.0) is None
    assert queue.claim(person, study="s", design=DESIGN.but(quiz_required=True), now=0.0) is None
    assert queue.claim(person.but(quiz_passed=True), study="s", design=DESIGN.but(quiz_required=True), now=0.0)


def test_beats_count_time_and_keep_the_lease(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    seat = queue.claim(person, study="s", design=DESIGN.but(lease_hours=1), now=0.0)
    assert seat is not None
    for now in range(0, 7200, 15):
        queue.beat(seat.id, Beat(visible=True), now=float(now), lease_s=HOUR)
    kept = queue.seat(seat.id)
    assert kept.state is SeatState.LIVE and abs(kept.clock.active_s - 7185) < 2
    submit(queue, kept, person, VERDICT, design=DESIGN, submit_key="k", now=7200.0)
    [judgment] = store.find(Judgment)
    assert judgment.active_s == kept.clock.active_s and judgment.exposure == 1


def test_without_beats_active_time_is_unknown(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    assert grade(queue, person, now=5.0)
    [judgment] = store.find(Judgment)
    assert judgment.active_s is None and judgment.wall_s is None


def test_the_audit_log_shows_a_changed_or_missing_row(store: Store) -> None:
    queue, people = hall(store, graders=3, tasks=1)
    for person in people:
        grade(queue, person)
    assert broken_links(store) == [] and len(history(store)) == 3
    with store.transaction() as connection:
        connection.execute(audit.update().where(audit.c.seq == 2).values(actor="somebody else"))
    assert broken_links(store) == [2]


def test_erasing_a_person_leaves_judgments_and_nothing_that_names_them(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    grade(queue, person)
    roster = Roster(store, pepper=b"test")
    assert roster.personal(person.id) == {"name": "Name p-0", "email": "p-0@example.org"}
    assert roster.by_mark(roster.mark("P-0@example.org")) == person
    roster.erase(person.id)
    assert roster.personal(person.id) is None and roster.by_mark(roster.mark("p-0@example.org")) is None
    with store.reading() as connection:
        left = repr(connection.execute(member_secrets.select()).all())
    assert "example.org" not in left
    assert store.count(Judgment) == 1


def test_personal_fields_are_sealed_at_rest(store: Store) -> None:
    hall(store, graders=1, tasks=1)
    with store.reading() as connection:
        rows = repr(connection.execute(member_secrets.select()).all())
    assert "Name p-0" not in rows and "example.org" not in rows


def test_graders_are_listed_only_while_they_are_few(store: Store) -> None:
    hall(store, graders=3, tasks=1)
    roster = Roster(store, pepper=b"test")
    assert roster.code_names(Role.GRADER, most=3) == ["grader-0", "grader-1", "grader-2"]
    assert roster.code_names(Role.GRADER, most=2) is None


def test_code_names_are_new() -> None:
    taken: set[str] = set()
    for _ in range(200):
        taken.add(new_code_name(taken))
    assert len(taken) == 200
