"""The layout of human grading: balanced, replayable from its seed, honest about who is missing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.halls import HallDesign, Member
from guildhall.errors import NotEnoughData
from guildhall.grading.design import latin_orders, lay_out, require_staff, staffing
from guildhall.grading.opening import pool_of
from tests.grading.halls import DESIGN, layout, submissions, task


@given(seed=st.integers(0, 2**32), graders=st.integers(1, 9))
def test_the_two_orders_of_a_pair_differ_by_at_most_one(seed: int, graders: int) -> None:
    planned = layout(3, design=HallDesign(graders_per_set=graders), models=2, seed=seed)
    for comparison in planned.comparisons:
        turns = Counter(slot.turn for slot in planned.slots if slot.comparison == comparison.key)
        assert abs(turns[0] - turns[1]) <= 1


def test_over_many_seeds_neither_order_is_favoured() -> None:
    firsts = Counter(layout(1, design=HallDesign(graders_per_set=1), seed=seed).slots[0].turn for seed in range(2000))
    assert abs(firsts[0] - firsts[1]) < 200


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


def test_tasks_without_an_expert_take_no_part_and_are_listed() -> None:
    made = [one for one in submissions(0) if one.author.kind == "model"] + submissions(1)
    planned = lay_out(study="s", tasks=[task(0), task(1)], submissions=made, design=DESIGN, seed=0)
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
