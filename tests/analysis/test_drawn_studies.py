"""Planning by drawing: more graders and more hours narrow what a study shows, and a pilot tells nothing of effects."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from guildhall.analysis.drawn_studies import Assumed, PlannedWork, assumed_from, draw, drawn_table
from guildhall.cli.analyze import app

ASKED = PlannedWork(tasks=30, samples=1, graders_per_set=3, minutes=60, wage_usd=50)


def test_a_table_has_every_number_of_graders_with_every_share_of_the_hours() -> None:
    found = drawn_table(ASKED, Assumed(severity=1.0), graders=[4, 24], shares=(0.5, 1.0), seed=1)
    assert [(one.graders, one.hours) for one in found] == [(4, 45), (4, 90), (24, 45), (24, 90)]
    assert [one.cost_usd for one in found] == [2250, 4500, 2250, 4500]
    few, many = found[1], found[3]
    assert few.width and many.width and few.smallest_difference and many.smallest_difference
    assert many.width < few.width, "severe graders: more of them narrow what the same hours show"
    assert many.per_hour == pytest.approx(1 / (many.width**2 * 90))
    assert many.per_dollar == pytest.approx(1 / (many.width**2 * 4500))


def test_a_pilot_says_how_far_graders_differ_and_nothing_of_who_wins() -> None:
    rng = np.random.default_rng(2)
    big = PlannedWork(tasks=80, samples=1, graders_per_set=3, minutes=60)
    alike, apart = (
        assumed_from(draw(big, Assumed(severity=spread, tastes=0.0), graders=8, gradings=240, rng=rng))
        for spread in (0.0, 1.2)
    )
    assert apart.severity > alike.severity + 0.3
    assert alike.ties == pytest.approx(0.15, abs=0.05)
    pilot = draw(big, Assumed(severity=1.0), graders=8, gradings=240, rng=rng)
    turned = replace(pilot, halves=(2 - pilot.halves).astype(np.int8))
    one, other = assumed_from(pilot), assumed_from(turned)
    assert one.rate == other.rate == 0.5
    assert (one.severity, one.tasks_differ) == pytest.approx((other.severity, other.tasks_differ))


def test_the_command_prints_the_table_and_what_it_takes_for_granted() -> None:
    made = CliRunner().invoke(app, ["power", "--tasks", "12", "--pool", "3", "--pool", "5", "--wage", "40", "--json"])
    assert made.exit_code == 0, made.output
    rows = json.loads(made.stdout)["drawn"]
    assert {row["graders"] for row in rows} == {3, 5} and all(row["cost_usd"] for row in rows)
    shown = CliRunner().invoke(app, ["power", "--tasks", "12", "--pool", "4"])
    assert "by graders and hours" in shown.stdout and "assumed, nothing was judged" in shown.stderr
