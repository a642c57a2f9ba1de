"""The short form of the coverage protocol: every interval, a few seeded runs, against what 95 % could ever give."""

from __future__ import annotations

import pytest
from proofs._examining import Record, examine, holm, p_value
from proofs.coverage import SITTINGS, digest_of_code
from proofs.simulator import CELLS

SLOW = {"win rates resampled": 6, "small cells": 12, "savings": 6, "prediction-powered means": 24, "preferences": 24}


@pytest.mark.parametrize("name", SITTINGS)
def test_no_interval_of_this_sitting_is_far_from_its_level(name):
    for record in examine(name, SITTINGS[name], runs=SLOW.get(name, 36)):
        assert record.n or record.absent, "a sitting that shows nothing examines nothing"
        assert p_value(record) > 1e-6, f"{record.interval}: {record.held} of {record.n}"


def test_the_cells_are_24_and_cross_every_level_evenly():
    assert len(set(CELLS)) == 24
    for name, levels in (("rate", 4), ("ties", 3), ("task_sd", 3), ("grader_sd", 3), ("missing", 2), ("n_tasks", 2)):
        values = [getattr(cell, name) for cell in CELLS]
        assert {values.count(value) for value in values} == {24 // levels}


def test_an_interval_that_covers_85_percent_fails_and_one_at_95_passes():
    bad = Record("bad", "level", 2016, 1714, 0, 0.8, 1.0)
    good = Record("good", "level", 2016, 1916, 0, 0.9, 1.0)
    wide = Record("wide", "exact", 2016, 2016, 0, 1.0, 2.0)
    failed, passed, exact = holm([p_value(bad), p_value(good), p_value(wide)])
    assert failed < 1e-6
    assert passed > 0.5
    assert exact > 0.5


def test_a_level_interval_that_covers_too_much_fails_too():
    assert p_value(Record("wide", "level", 2016, 2000, 0, 1.0, 2.0)) < 1e-6


def test_the_same_run_gives_the_same_record_and_code_has_a_digest():
    sitting = SITTINGS["trend"]
    assert examine("trend", sitting, runs=24) == examine("trend", sitting, runs=24)
    assert digest_of_code(sitting.__module__) != digest_of_code(SITTINGS["savings"].__module__)
