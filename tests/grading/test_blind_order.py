"""Nothing a grader knows tells what stands where; in full as `make prove ONLY=blind-order`."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from guildhall.domain.halls import Slot
from guildhall.grading.design import OrderKey, lay_out
from guildhall.grading.queue import Queue
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from tests.grading.guessing import Sittings, best_guess, facts_of, sittings, under_fair_coins
from tests.grading.halls import DESIGN, hall, layout, submissions, task

QUICK = DESIGN.but(graders_per_set=2, severity_raters=0)


@pytest.mark.timeout(240)
def test_the_queue_gives_out_the_same_slots_whatever_their_orders_are(store: Store, tmp_path_factory) -> None:
    """So an order can be told from what is offered, and when, by nobody."""
    queue, people = hall(store, graders=4, tasks=8, models=2, design=QUICK)
    with Workspace.create(tmp_path_factory.mktemp("other") / "w") as other:
        again, _ = hall(other.store, graders=4, tasks=0, design=QUICK)
        again.plan(relaid(b"another", 8, models=2))
        other.store.add_all(layout(8, models=2, design=QUICK).comparisons)
        one, two = (sittings(which, people, design=QUICK, each=6, rng=Random(5)) for which in (queue, again))
    assert [[slot.id for slot in row] for row in one.slots] == [[slot.id for slot in row] for row in two.slots]
    assert (one.places != two.places).any()


def relaid(secret: bytes, tasks: int, *, models: int) -> tuple[Slot, ...]:
    made = [one for number in range(tasks) for one in submissions(number, models=models)]
    about = [task(number) for number in range(tasks)]
    key = OrderKey(secret)
    return lay_out(study="s", tasks=about, submissions=made, design=QUICK, seed=0, order_key=key).slots


@pytest.fixture(scope="module")
def given() -> Sittings:
    """Forty graders with twelve sets each, dealt in line: the queue's own dealing is the full proof's."""
    slots, rng = layout(60, models=4, design=QUICK).slots, Random(1)
    by_task = [[slot for slot in slots if slot.task == f"t-{number}"] for number in range(60)]
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
