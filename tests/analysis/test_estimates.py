"""An estimate: light to import, complete when made, and the same number wherever it was written."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from guildhall.domain.boards import Board
from guildhall.domain.estimates import LATER, Estimate
from guildhall.domain.trained import FittedWeights, SplitMargin
from guildhall.domain.values import Value

RATE = Estimate(value=0.5, interval=(0.4, 0.6), estimand="a rate", method="t over tasks", n_tasks=40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
known = st.none() | numbers
counts = st.none() | st.integers(0, 10**9)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    ends = draw(st.none() | st.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair))))
    return Estimate(
        value=draw(st.none() | numbers),
        interval=ends,
        level=draw(st.sampled_from([0.9, 0.95])),
        estimand=draw(st.text()),
        target=draw(st.none() | st.text()),
        unit=draw(st.text()),
        method=draw(st.text()),
        why_no_interval=None if ends else draw(st.text()),
        n_tasks=draw(counts),
        n_samples=draw(counts),
        n_judgments=draw(counts),
        n_excluded=draw(st.integers(0, 9)),
        seed=draw(counts),
        effective_tasks=draw(known),
        effective_graders=draw(known),
        df_graders=draw(known),
        design_effect=draw(known),
    )


class Figure(Value):
    """A value that holds an estimate."""

    name: str
    estimate: Estimate


def figure(**changes: Any) -> Figure:
    return Figure.model_validate({"name": "a figure", "estimate": asdict(RATE) | changes})


@given(one=estimates())
def test_an_estimate_written_as_json_and_read_again_is_the_same(one):
    held = Figure(name="a figure", estimate=one)
    assert Figure.model_validate_json(held.model_dump_json()) == held
    assert held.estimate is one


def test_what_the_first_version_wrote_reads_with_the_later_fields_unknown():
    written = {name: value for name, value in asdict(RATE).items() if name not in LATER}
    assert Figure.model_validate_json(json.dumps({"name": "a figure", "estimate": written})).estimate == RATE


@pytest.mark.parametrize(
    "change",
    [
        {"sd": 0.1},
        {"interval": None},
        {"why_no_interval": "too few tasks"},
        {"interval": (0.6, 0.4)},
        {"interval": (math.nan, 0.4)},
        {"interval": (0.4, math.inf)},
        {"value": math.nan},
        {"value": math.inf},
        {"value": "much"},
        {"n_tasks": 1.5},
    ],
)
def test_an_impossible_estimate_is_refused_where_it_is_read(change):
    with pytest.raises(ValidationError):
        figure(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"interval": None},
        {"why_no_interval": "too few tasks"},
        {"interval": (0.6, 0.4)},
        {"interval": (0.4, math.nan)},
        {"interval": (-math.inf, 0.4)},
        {"value": math.nan},
        {"value": -math.inf},
    ],
)
def test_an_impossible_estimate_is_refused_where_it_is_made(change):
    with pytest.raises(ValueError, match=r"an estimate|interval"):
        replace(RATE, **change)


def test_an_estimate_never_changes_once_made():
    with pytest.raises(FrozenInstanceError):
        RATE.value = 0.6  # type: ignore[misc]
    assert not hasattr(RATE, "__dict__")
    assert len({RATE, replace(RATE)}) == 1


def test_an_estimate_is_made_without_pydantic_or_numpy():
    code = (
        "import sys, guildhall.domain.estimates; print([m for m in ('pydantic', 'numpy', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_program_is_told_every_field_and_that_no_others_may_come():
    told = Board.model_json_schema()["$defs"]["Estimate"]
    assert set(told["properties"]) == {one.name for one in fields(Estimate)}
    assert told["additionalProperties"] is False


def test_a_trained_artefact_of_the_first_version_keeps_the_version_a_study_froze():
    margin = SplitMargin(mean=RATE, n_splits=5, least=0.1, most=0.2, above_zero=5)
    made = FittedWeights(
        name="panel",
        weights={"one": 0.7, "other": 1.3},
        ridge=3.0,
        learnt_from="0" * 64,
        n_samples=80,
        folds=10,
        seed=0,
        looks=5,
        agreement=RATE,
        equal_votes=replace(RATE, value=None, interval=None, why_no_interval="nothing varies"),
        best_member="one",
        best_member_agreement=0.6,
        gain_over_equal=margin,
        gain_over_best=margin,
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert made.version == "2f01a1e68c48"
    assert made.but(agreement=replace(RATE, effective_graders=4.0)).version != made.version
