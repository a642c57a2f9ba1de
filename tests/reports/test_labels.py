"""Names beside points: they keep inside, and keep clear of each other and of the points where there is room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guildhall.reports.plots.lines import LETTER, PLACES, places_of

POINTS = st.lists(
    st.tuples(st.floats(0, 690), st.floats(0, 320), st.text("abcdefgh-", min_size=1, max_size=20)), max_size=12
)


def test_two_models_of_one_day_and_rate_get_names_in_two_places():
    one, other = places_of([(300, 100, "alpha"), (300, 101, "beta")], width=690)
    assert one != other


def test_a_name_at_the_right_edge_turns_to_the_left():
    [place] = places_of([(685, 100, "a-model-with-a-name")], width=690)
    assert place.align == "right"


def test_a_name_with_room_stands_where_eyes_look_first():
    assert places_of([(100, 100, "alpha"), (500, 100, "beta")], width=690) == [PLACES[0], PLACES[0]]


@given(points=POINTS)
def test_every_point_gets_a_place_and_no_short_name_sticks_out(points):
    places = places_of(points, width=690)
    assert len(places) == len(points)
    if len(points) == 1:
        [(x, _, name)], [place] = points, places
        left = x + place.dx - (LETTER * len(name) if place.align == "right" else 0)
        assert -10 <= left <= 700 - LETTER * len(name)
