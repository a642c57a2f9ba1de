"""What a claim asks of the store: the same few questions whatever lies behind a grader, and none that reads a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.domain.halls import Member, SlotKind
from guildhall.grading.offers import offers
from guildhall.grading.queue import Queue
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from tests.grading.halls import DESIGN, MANY, OCCUPATION, hall, layout
from tests.grading.test_queue import grade
from tests.statements import statements

MOST_TRIPS = 10
"""Lock the grader, free what ran out, what they hold, the last set, the offers, what was met on one, colleagues, hold,
sit down; begin is one more on SQLite."""


def test_a_claim_asks_as_often_after_thirty_sets_as_at_the_first(store: Store) -> None:
    _, [person] = hall(store, graders=1, tasks=32)
    queue, trips = Queue(store), []
    for now in range(31):
        with statements(store) as said:
            assert queue.claim(person, study="s", design=MANY, now=float(now))
        trips.append(len(said))
    assert len(set(trips)) == 1 and trips[0] <= MOST_TRIPS, trips


@pytest.mark.parametrize("kinds", [(SlotKind.PLANNED, SlotKind.ADJUDICATION), (SlotKind.SEVERITY,)])
@pytest.mark.parametrize("occupations", [(OCCUPATION,), (OCCUPATION, "Archivists")])
def test_a_claim_reads_no_table_from_end_to_end(
    occupations: tuple[str, ...], kinds: tuple[SlotKind, ...], tmp_path: Path
) -> None:
    # On SQLite only: PostgreSQL reads a small table whole, and rightly so.
    with Workspace.create(tmp_path / "w") as workspace:
        plans = _plans_of_a_claim(workspace.store, occupations, kinds)
    steps = [step for plan in plans for step in plan]
    assert not [step for step in steps if step.startswith(("SCAN slots", "SCAN seats", "SCAN members"))], plans
    behind = [step for plan in plans for step in plan if step.startswith("SEARCH seats") and _asks_for_slots(plan)]
    assert behind and all("COVERING" in step for step in behind), plans


def _plans_of_a_claim(store: Store, occupations: tuple[str, ...], kinds: tuple[SlotKind, ...]) -> list[list[str]]:
    """How SQLite would carry out each statement of a claim by a grader who has judged before."""
    queue, [person] = hall(store, graders=1, tasks=5)
    for now in range(3):
        grade(queue, person, now=float(now))
    with statements(store) as said:
        Queue(store).claim(person.but(occupations=occupations), study="s", design=DESIGN, now=9.0, kinds=kinds)
    with store.reading() as connection:
        return [
            [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            for statement, parameters in said
            if not statement.startswith("BEGIN")
        ]


def _asks_for_slots(plan: list[str]) -> bool:
    return any(step.startswith("SEARCH slots") for step in plan)


def test_a_grader_whom_the_first_sets_in_line_are_forbidden_gets_a_later_one(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=30)
    in_line = _tasks_in_line(queue, person)
    forbidden = person.but(conflicts=tuple(in_line[:-1]))
    seat = queue.claim(forbidden, study="s", design=DESIGN, now=0.0)
    assert seat is not None and seat.slot.task == in_line[-1]
    assert queue.claim(forbidden, study="s", design=MANY, now=1.0) is None


def _tasks_in_line(queue: Queue, person: Member) -> list[str]:
    """Tasks in the order in which their last open slots come: with three slots each, the last are far behind."""
    with queue.store.reading() as connection:
        found = offers(connection, person, study="s", design=DESIGN, kinds=(SlotKind.PLANNED,))
        ranked = sorted(found, key=lambda slot: slot.rank)
    assert len(ranked) == 90
    first = {slot.task: slot.rank for slot in reversed(ranked)}
    return sorted(first, key=lambda task: first[task])


def test_offers_of_two_occupations_come_in_one_order(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=0)
    queue.plan([slot.but(occupation="Archivists") if slot.task < "t-4" else slot for slot in layout(8).slots])
    both = person.but(occupations=("Archivists", OCCUPATION))
    with store.reading() as connection:
        found = [*offers(connection, both, study="s", design=DESIGN, kinds=(SlotKind.PLANNED,))]
    assert len({slot.id for slot in found}) == 24
    assert found == sorted(found, key=lambda slot: slot.rank)


def test_what_a_claim_hands_over_is_what_was_kept(store: Store) -> None:
    queue, [person] = hall(store, graders=1, tasks=1)
    seat = queue.claim(person, study="s", design=DESIGN, now=12.5)
    assert seat is not None and seat == queue.seat(seat.id)
