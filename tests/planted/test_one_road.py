"""One road from a judgment to a number: whatever prints a shared figure prints the same one, to the last digit."""

from __future__ import annotations

import pytest

from tests.planted.roads import ROADS, unlike, unlike_on_a_wave

pytestmark = pytest.mark.xdist_group("planted")
STORES = 8
"""Of the random planted stores, in a test run; the proof one-road walks 500."""


@pytest.mark.parametrize("road", ROADS)
def test_a_road_agrees_with_the_naive_twin_on_every_figure(stores, road):
    for planted in stores[:STORES]:
        differ = unlike(planted, road)
        assert not differ, f"store {planted.seed}: {len(differ)} figures of {road}, such as {min(differ.items())}"


def test_a_report_on_a_later_wave_agrees_with_the_naive_twin(stores):
    """Anchors tell of drift only; the earlier wave's rows are in where the report says that the waves are pooled."""
    waves = [planted for planted in stores if len(planted.studies) > 1]
    assert len(waves) >= 4
    for planted in waves[:4]:
        assert not unlike_on_a_wave(planted), planted.seed
