"""Nothing a grader knows tells what stands where; in full as `make prove ONLY=blind-order`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sqlalchemy import select

from guildhall.domain.halls import Slot
from guildhall.domain.judgments import Comparison
from guildhall.grading.adjudicating import adjudication_slot, slots_of
from guildhall.grading.design import OrderKey
from guildhall.grading.opening import layout_of, sealed_orders
from guildhall.grading.queue import Queue
from guildhall.store.backup import restore_backup, take_backup
from guildhall.store.bundles import export_bundle, import_bundle
from guildhall.store.hall import slots
from guildhall.store.records import Store
from guildhall.store.secret import KEY_FILE
from guildhall.store.workspace import Workspace
from tests.grading.guessing import Sittings, best_guess, facts_of, sittings, under_fair_coins
from tests.grading.halls import DESIGN, hall, layout, relaid
from tests.web.studies import make_task, open_study

QUICK = DESIGN.but(graders_per_set=2, severity_raters=0)


def test_the_queue_gives_out_the_same_slots_whatever_their_orders_are(store: Store, tmp_path: Path) -> None:
    """So an order can be told from what is offered, and when, by nobody."""
    queue, people = hall(store, graders=4, tasks=8, models=2, design=QUICK)
    with Workspace.create(tmp_path / "other") as other:
        again, _ = hall(other.store, graders=4, tasks=0, design=QUICK)
        again.plan(relaid(8, key=OrderKey(b"another"), models=2, design=QUICK).slots)
        other.store.add_all(layout(8, models=2, design=QUICK).comparisons)
        one, two = (sittings(which, people, design=QUICK, each=6, rng=Random(5)) for which in (queue, again))
    assert [[slot.id for slot in row] for row in one.slots] == [[slot.id for slot in row] for row in two.slots]
    assert (one.places != two.places).any()


@pytest.fixture(scope="module")
def given() -> Sittings:
    """Forty graders with twelve sets each, dealt in line: the queue's own dealing is the full proof's."""
    laid, rng = layout(60, models=4, design=QUICK).slots, Random(1)
    by_task = [[slot for slot in laid if slot.task == f"t-{number}"] for number in range(60)]
    rows = [[by_task[(grader * 12 + number) % 60].pop() for number in range(12)] for grader in range(40)]
    return Sittings(tuple(map(tuple, rows)), np.cumsum([[rng.random() for _ in range(12)] for _ in rows], axis=1))


def test_the_best_of_many_rules_does_no_better_than_under_fair_coins(given: Sittings) -> None:
    bound = np.quantile(under_fair_coins(given, times=100, seed=2), 0.99)
    assert best_guess(given.places, facts_of(given), 2) <= bound < 0.65
    per_set = Counter((slot.comparison, slot.turn) for row in given.slots for slot in row)
    assert set(per_set.values()) == {1}, "the two gradings of each pair stand in the two orders"


@pytest.mark.parametrize("how", ["alternating", "blocks of four", "balanced twelves"])
def test_the_search_finds_out_an_order_that_is_balanced_within_a_grader(given: Sittings, how: str) -> None:
    rng = Random(3)
    block = {"alternating": 2, "blocks of four": 4, "balanced twelves": 12}[how]
    made = []
    for _ in range(40):
        row: list[int] = []
        while len(row) < 12:
            row += [0, 1] if how == "alternating" else rng.sample([0, 1] * (block // 2), block)
        made.append(row)
    bound = np.quantile(under_fair_coins(given, times=100, seed=2), 0.99)
    assert best_guess(np.array(made), facts_of(given), 2) > bound


def test_a_queue_without_a_key_draws_no_order_that_another_could_repeat(store: Store) -> None:
    assert Queue(store).order_key != Queue(store).order_key


def test_a_restored_study_goes_on_in_the_same_orders_and_nothing_kept_tells_them(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "one") as one, Workspace.create(tmp_path / "two") as two:
        study = open_study(one, [make_task(number) for number in range(8)], models=3)
        take_backup(one, tmp_path / "b.tar", now=0.0)
        key = sealed_orders(one)
        for file in (tmp_path / "one").rglob("*"):
            assert file.name == KEY_FILE or not file.is_file() or key.secret not in file.read_bytes(), file
        assert key.secret not in (tmp_path / "b.tar").read_bytes()
        with restore_backup(tmp_path / "b.tar", tmp_path / "again", key=one.path / KEY_FILE) as again:
            assert layout_of(again, study) == layout_of(one, study) and sealed_orders(again) == key
            set_ = next(again.store.each(Comparison))
            extra = [adjudication_slot(site_queue(each), set_, planned(each, set_)) for each in (one, again)]
            assert extra[0] == extra[1]
        # Whoever has the study, its seed and its files, as a bundle gives them, lays out other orders.
        export_bundle(one.store, one.blobs, tmp_path / "b.bundle")
        import_bundle(two.store, two.blobs, tmp_path / "b.bundle")
        laid, guessed = layout_of(one, study).slots, layout_of(two, study).slots
        assert [slot.id for slot in laid] == [slot.id for slot in guessed]
        assert 15 < sum(a.turn == b.turn for a, b in zip(laid, guessed, strict=True)) < len(laid) - 15


def site_queue(workspace: Workspace) -> Queue:
    return Queue(workspace.store, order_key=sealed_orders(workspace))


def planned(workspace: Workspace, set_: Comparison) -> list[Slot]:
    with workspace.store.reading() as connection:
        return [slot for slot, _ in slots_of(connection, set_.key)]


def test_an_open_study_of_an_older_version_keeps_the_orders_it_has(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        study = open_study(workspace, [make_task(number) for number in range(3)])
        queue, now = site_queue(workspace), layout_of(workspace, study).slots
        older = [slot.but(order=slot.order[::-1], turn=1 - slot.turn) for slot in now]
        with workspace.store.transaction() as connection:
            connection.execute(slots.delete())
        assert queue.plan(older) == len(now) and queue.plan(now) == 0
        with workspace.store.reading() as connection:
            kept = [Slot.model_validate_json(body) for body in connection.execute(select(slots.c.body)).scalars()]
        assert sorted(kept, key=lambda slot: slot.id) == sorted(older, key=lambda slot: slot.id)
