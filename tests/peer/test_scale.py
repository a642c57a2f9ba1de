"""Scales and conversions, as the seed documents them and as corrected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.grades import (
    COMPOSITES,
    LETTERS,
    NUMERIC,
    Ladder,
    compose,
    letter_of,
    letter_of_percentage,
    mean,
    median,
    numeric,
    percentage,
)
from guildhall.errors import UnknownName

numbers = st.floats(0, 4.25, allow_nan=False)


@pytest.mark.parametrize(
    ("composite", "value"),
    [("A/A-", 3.875), ("A-/B+", 3.5), ("B+/B", 3.125), ("B/B-", 2.875), ("D-/F", 0.375), ("A+/A", 4.125)],
)
def test_composites_lie_midway_between_their_neighbours(composite, value):
    assert numeric(composite) == value
    assert letter_of(value) == composite
    assert letter_of(value + 0.0099) == composite
    assert letter_of(value + 0.02) == composite.split("/")[0]


@pytest.mark.parametrize("ladder", Ladder)
@pytest.mark.parametrize("letter", LETTERS)
def test_each_letter_survives_the_way_through_percentages(letter, ladder):
    assert letter_of(numeric(letter)) == letter
    assert letter_of_percentage(percentage(numeric(letter), ladder=ladder)) == letter


@given(numbers, numbers)
def test_the_corrected_percentage_never_falls_as_the_number_rises(one, other):
    low, high = sorted((one, other))
    assert percentage(low) <= percentage(high)


@pytest.mark.parametrize(
    ("value", "percent"), [(3.5, 90), (3.7, 92), (3.75, 90), (4.24, 96), (4.25, 100), (0.3, 23), (2.0, 73)]
)
def test_the_published_ladder_is_kept_with_its_faults(value, percent):
    assert percentage(value, ladder=Ladder.PUBLISHED) == percent


@given(numbers)
def test_every_number_has_a_letter_whose_value_is_near(value):
    assert abs(numeric(letter_of(value)) - value) <= 0.375


def test_only_neighbours_compose():
    assert compose("B+", "A-") == "A-/B+"
    assert compose("A", "B") is None
    assert len(COMPOSITES) == len(LETTERS) - 1
    with pytest.raises(UnknownName):
        numeric("A/B")


@given(st.lists(st.sampled_from(list(NUMERIC.values())), min_size=1))
def test_half_of_the_marks_lie_on_each_side_of_the_median(marks):
    middle = median(marks)
    assert sum(mark <= middle for mark in marks) * 2 >= len(marks) <= sum(mark >= middle for mark in marks) * 2


def test_nothing_has_neither_median_nor_mean():
    assert median([]) is None
    assert mean([]) is None
