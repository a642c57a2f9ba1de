"""Gold items: training before real work, checks among it, each grader's share held."""

from __future__ import annotations

from itertools import count as counting
from pathlib import Path
from typing import cast

import pytest

from guildhall.domain.halls import GoldItem, HallDesign, Member, SlotKind
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.errors import InputError
from guildhall.grading.gold import GoldDesk, gold_comparison, judged_right
from guildhall.grading.opening import open_hall
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.grading.submitting import submit
from guildhall.judging.preparing import Preparer
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from tests.grading.halls import DESIGN, VERDICT, hall, submissions, task


def golden(store: Store, *, count: int, training: bool) -> tuple[GoldItem, ...]:
    items = []
    for number in range(100, 100 + count):
        store.add(task(number))
        better, worse = submissions(number)
        store.add_all([better, worse])
        items.append(
            GoldItem(task=f"t-{number}", better=better.key, worse=worse.key, explanation="Totals.", training=training)
        )
        store.add(gold_comparison("s", items[-1]))
    return tuple(items)


CLOCK = map(float, counting(1))


def work(queue: Queue, desk: GoldDesk, member: Member, design: HallDesign, *, right: bool = True) -> SlotKind | None:
    slot, now = desk.next_slot(member), next(CLOCK)
    if slot:
        seat = queue.sit(member, slot, design=design, now=now)
    else:
        seat = queue.claim(member, study="s", design=design, now=now)
    if seat is None:
        return None
    better = store_better(queue, seat.slot.comparison)
    verdict = VERDICT.but(ranks=(1, 2) if (seat.slot.order[0] == better) is right else (2, 1))
    submit(queue, seat, member, verdict, design=design, submit_key=seat.id, now=next(CLOCK))
    return seat.slot.kind


def store_better(queue: Queue, comparison: str) -> str:
    return queue.store.get(Comparison, comparison).submissions[0]


def test_each_graders_share_of_checks_is_held_from_start_to_end(store: Store) -> None:
    design = DESIGN.but(gold_share=0.2, gold=golden(store, count=8, training=False))
    queue, [person] = hall(store, graders=1, tasks=24, design=design)
    desk = GoldDesk(queue, Roster(store, pepper=b"test"), study="s", design=design)
    kinds = [work(queue, desk, person, design) for _ in range(30)]
    for end in range(1, 31):
        assert abs(kinds[:end].count(SlotKind.GOLD) - 0.2 * end) <= 1
    assert all(not one.planned for one in store.each(Judgment) if store.get(Comparison, one.comparison).study != "s")
    assert queue.progress("s")["done"] == kinds.count(SlotKind.PLANNED)


def test_training_comes_first_and_opens_real_work_when_both_are_judged_as_known(store: Store) -> None:
    design = DESIGN.but(quiz_required=True, gold=golden(store, count=2, training=True))
    queue, [person] = hall(store, graders=1, tasks=1, design=design)
    roster = Roster(store, pepper=b"test")
    desk = GoldDesk(queue, roster, study="s", design=design)
    assert work(queue, desk, person, design, right=False) is SlotKind.TRAINING
    assert desk.note_result(person) is None
    assert work(queue, desk, person, design) is SlotKind.TRAINING
    assert desk.note_result(person) is False and not roster.get(person.id).quiz_passed
    assert queue.claim(person, study="s", design=design, now=3.0) is None
    for _ in range(2):
        assert work(queue, desk, person, design) is SlotKind.TRAINING
    assert desk.note_result(person) is True
    passed = roster.get(person.id)
    assert passed.quiz_passed
    assert work(queue, desk, passed, design) is SlotKind.PLANNED


def test_who_fails_every_attempt_gets_no_more_training(store: Store) -> None:
    design = DESIGN.but(quiz_required=True, quiz_attempts=1, gold=golden(store, count=1, training=True))
    queue, [person] = hall(store, graders=1, tasks=1, design=design)
    desk = GoldDesk(queue, Roster(store, pepper=b"test"), study="s", design=design)
    work(queue, desk, person, design, right=False)
    assert desk.note_result(person) is False
    assert desk.next_slot(person) is None


def test_a_tie_is_not_the_known_answer(store: Store) -> None:
    [item] = golden(store, count=1, training=False)
    comparison = gold_comparison("s", item)
    tie = Judgment(
        comparison=comparison.key,
        grader={"kind": "person", "code_name": "p"},
        order=comparison.submissions,
        ranks=(1, 1),
        made_at="2026-01-01T00:00:00Z",
    )
    assert not judged_right(tie, item)
    assert judged_right(tie.but(ranks=(1, 2)), item)


def test_a_gold_item_needs_two_different_submissions() -> None:
    one = Submission(task="t", author={"kind": "expert"}).key
    with pytest.raises(ValueError, match="two different submissions"):
        GoldItem(task="t", better=one, worse=one, explanation="")


def test_a_practice_set_of_a_task_outside_the_study_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        items = golden(workspace.store, count=1, training=True)
        workspace.store.add(task(1))
        people = {"quiz_required": True, "gold": [one.model_dump(mode="json") for one in items]}
        study = Study(id="s", title="A study", seed=1, tasks=(task(1).key,), design={"people": people})
        with pytest.raises(InputError, match=r"tasks that are not its own \(t-100\)"):
            open_hall(workspace, study, cast("Preparer", None))
        assert not any(Queue(workspace.store).progress("s").values())
