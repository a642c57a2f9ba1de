"""The layout of human grading: balanced, told by nothing that anybody sees, honest about who is missing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.halls import HallDesign, Member, Slot
from guildhall.errors import NotEnoughData
from guildhall.grading.design import OrderKey, latin_orders, lay_out, require_staff, staffing
from guildhall.grading.opening import pool_of
from tests.grading.halls import DESIGN, layout, submissions, task

KEY = OrderKey(b"secret")


@given(seed=st.integers(0, 2**32), graders=st.integers(1, 9))
def test_the_two_orders_of_a_pair_differ_by_at_most_one(seed: int, graders: int) -> None:
    planned = layout(3, design=HallDesign(graders_per_set=graders), models=2, seed=seed)
    for comparison in planned.comparisons:
        turns = Counter(slot.turn for slot in planned.slots if slot.comparison == comparison.key)
        assert abs(turns[0] - turns[1]) <= 1


@given(size=st.integers(2, 9), blocks=st.integers(1, 4), more=st.integers(0, 8), seed=st.integers(0, 2**32))
def test_every_side_stands_equally_often_at_every_place_of_a_set(size: int, blocks: int, more: int, seed: int) -> None:
    count = blocks * size + more % size
    orders = KEY.orders(size, count, seed)
    assert len(orders) == count and all(sorted(order) == [*range(size)] for order in orders)
    for place in range(size):
        times = Counter(order[place] for order in orders)
        assert {times[side] for side in range(size)} <= ({blocks, blocks + 1} if more % size else {blocks})
    # A grading more, asked for later, changes none of those that were given.
    assert KEY.orders(size, count + 1, seed)[:count] == orders


def test_in_sets_of_three_each_neighbourhood_comes_equally_often_in_six() -> None:
    for seed in range(50):
        neighbours = Counter(pair for order in KEY.orders(3, 6, seed) for pair in pairwise(order))
        assert set(neighbours.values()) == {2} and len(neighbours) == 6


def test_the_gradings_of_one_set_tell_nothing_about_those_of_another() -> None:
    """All sixteen ways in which the first two gradings of four pairs can fall come about equally often."""
    ways = Counter(tuple(KEY.orders(2, 3, seed, set_)[0][0] for set_ in range(4)) for seed in range(3200))
    assert len(ways) == 16 and sum((count - 200) ** 2 / 200 for count in ways.values()) < 37.7, "chi-squared, .999"


def test_orders_follow_from_the_secret_and_from_no_seed_that_is_shown() -> None:
    """Under another secret all but the orders stays; under the same secret all stays."""
    tasks, made = [task(n) for n in range(30)], [one for n in range(30) for one in submissions(n, models=3)]

    def laid(secret: bytes, design: HallDesign) -> list[Slot]:
        found = lay_out(study="s", tasks=tasks, submissions=made, design=design, seed=0, order_key=OrderKey(secret))
        return list(found.slots)

    for design in (DESIGN, DESIGN.but(set_size=4)):
        one, other = laid(b"one", design), laid(b"other", design)
        assert one == laid(b"one", design)
        assert [(slot.id, slot.rank) for slot in one] == [(slot.id, slot.rank) for slot in other]
        alike = sum(a.turn == b.turn for a, b in zip(one, other, strict=True)) / len(one)
        assert abs(alike - 1 / design.set_size) < 4 * (0.25 / len(one)) ** 0.5


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8])
def test_latin_orders_show_every_side_at_every_place_and_before_every_other_equally(size: int) -> None:
    rows = latin_orders(size)
    places = Counter((place, side) for row in rows for place, side in enumerate(row))
    assert len(places) == size * size and len(set(places.values())) == 1
    neighbours = Counter(pair for row in rows for pair in pairwise(row))
    assert len(set(neighbours.values())) == 1 and len(neighbours) == size * (size - 1)


def test_the_same_seed_gives_the_same_plan_and_another_does_not() -> None:
    assert layout(4, seed=7) == layout(4, seed=7)
    assert layout(4, seed=7) != layout(4, seed=8)
    assert "secret" not in repr(KEY)


def test_tasks_without_an_expert_take_no_part_and_are_listed() -> None:
    made = [one for one in submissions(0) if one.author.kind == "model"] + submissions(1)
    planned = lay_out(study="s", tasks=[task(0), task(1)], submissions=made, design=DESIGN, seed=0, order_key=KEY)
    assert planned.without_expert == ("t-0",)
    assert {slot.task for slot in planned.slots} == {"t-1"}


def test_three_samples_and_three_graders_make_nine_gradings_a_task_and_model() -> None:
    assert len(layout(5, models=2, samples=3).slots) == 5 * 2 * 9


def test_the_papers_design_needs_63_graders_a_task_in_pairs_and_9_in_sets_of_eight() -> None:
    pairs = layout(1, models=7, samples=3)
    assert staffing(pairs, DESIGN).graders_needed == {"Editors": 63}
    eight = DESIGN.but(set_size=8)
    assert staffing(layout(1, models=7, samples=3, design=eight), eight).graders_needed == {"Editors": 9}


def test_a_pool_too_small_is_refused_in_words_that_say_what_would_help() -> None:
    plan = staffing(layout(1, models=2), DESIGN, pool={"Editors": 3})
    with pytest.raises(NotEnoughData, match=r"Editors: 3 graders at hand, 6 needed.*exposure_limit = 2"):
        require_staff(plan)
    require_staff(staffing(layout(1, models=2), DESIGN, pool={"Editors": 6}))


def test_the_cost_preview_is_minutes_times_wage_times_gradings() -> None:
    design = DESIGN.but(hourly_wage_usd=60.0, minutes_per_set=109.0)
    plan = staffing(layout(2, design=design), design)
    assert plan.gradings == 6
    assert plan.cost_usd == pytest.approx(6 * 109)
    assert staffing(layout(2), DESIGN).cost_usd is None


def test_a_pool_counts_graders_of_the_occupation_or_everybody_where_it_does_not_matter() -> None:
    people = [
        Member(id=name, code_name=name, role=role, occupations=(occupation,))
        for name, role, occupation in (
            ("a", "grader", "Editors"),
            ("b", "grader", "Lawyers"),
            ("c", "manager", "Editors"),
        )
    ]
    assert pool_of(people, {"Editors"}, DESIGN) == {"Editors": 1}
    assert pool_of(people, {"Editors"}, DESIGN.but(match_occupation=False)) == {"Editors": 2}
