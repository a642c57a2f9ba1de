"""The gate: what its conditions mean, what it refuses to read, and that nothing unknown ever passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.differences import GateOutcome, ModelDifference
from guildhall.domain.estimates import Estimate
from guildhall.errors import BadCondition, UnknownName
from guildhall.study.comparing import GateCondition, hold_against, parse_condition


def estimate(value: float | None, interval: tuple[float, float] | None = None) -> Estimate:
    why = None if interval else "2 paired tasks; an interval needs at least 3"
    return Estimate(value=value, interval=interval, estimand="a difference", method="t", why_no_interval=why)


def difference(value: float | None, interval: tuple[float, float] | None, model: str = "alpha") -> ModelDifference:
    rates = dict.fromkeys(("win", "win_or_tie", "half_tie"), estimate(value, interval))
    return ModelDifference(model=model, against=model, first=rates, second=rates, difference=rates)


def outcome(text: str, value: float | None, interval: tuple[float, float] | None) -> GateOutcome:
    [finding] = hold_against([parse_condition(text)], [difference(value, interval)])
    return finding.outcome


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("win_or_tie < -0.03", GateCondition("win_or_tie < -0.03", "win_or_tie", None, "<", -0.03, "value")),
        ("win(alpha)<=.5", GateCondition("win(alpha)<=.5", "win", "alpha", "<=", 0.5, "value")),
        (
            "possibly half_tie( a(b) ) drops  by more than 0.05",
            GateCondition(
                "possibly half_tie( a(b) ) drops  by more than 0.05", "half_tie", "a(b)", "<", -0.05, "possibly"
            ),
        ),
        (
            "certainly win rises by more than 0",
            GateCondition("certainly win rises by more than 0", "win", None, ">", 0.0, "certainly"),
        ),
    ],
)
def test_a_condition_reads_as_it_is_written(text: str, expected: GateCondition) -> None:
    assert parse_condition(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "win_or_tie",
        "win_or_tie < ",
        "win_or_tie < -3%",
        "win_or_tie < -0.03 and win < 0",
        "win_or_tie = 0.1",
        "winrate < 0",
        "WIN < 0",
        "win_or_tie(alpha < 0",
        "win_or_tie(a b) < 0",
        "win_or_tie < -3",
        "win_or_tie < nan",
        "win_or_tie < 1e-3",
        "probably win < 0",
        "possiblywin < 0",
        "win drops by more than -0.1",
        "win drops by 0.1",
        "win < -0.03; rm",
    ],
)
def test_anything_else_is_refused_and_not_guessed_at(text: str) -> None:
    with pytest.raises(BadCondition):
        parse_condition(text)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_condition(text)
    except BadCondition as refused:
        assert refused.text == text


@pytest.mark.parametrize(
    ("decider", "interval", "expected"),
    [
        ("", (-0.10, 0.02), GateOutcome.FAILED),
        ("", (-0.06, 0.02), GateOutcome.FAILED),
        ("certainly ", (-0.10, 0.02), GateOutcome.PASSED),
        ("certainly ", (-0.10, -0.031), GateOutcome.FAILED),
        ("possibly ", (-0.10, 0.02), GateOutcome.FAILED),
        ("possibly ", (-0.041, -0.039), GateOutcome.FAILED),
    ],
)
def test_value_and_interval_decide_as_the_word_says(
    decider: str, interval: tuple[float, float], expected: GateOutcome
) -> None:
    assert outcome(f"{decider}win_or_tie < -0.03", -0.04, interval) is expected


def test_a_good_difference_passes_all_three() -> None:
    for decider in ("", "possibly ", "certainly "):
        assert outcome(f"{decider}win_or_tie < -0.03", 0.02, (-0.01, 0.05)) is GateOutcome.PASSED


@given(
    value=st.floats(-1, 1),
    text=st.sampled_from(("win < -0.1", "possibly win < -0.1", "certainly win < -0.1", "win > 0.9")),
)
def test_without_an_interval_nothing_passes(value: float, text: str) -> None:
    assert outcome(text, value, None) is not GateOutcome.PASSED


def test_without_a_difference_the_gate_is_undecided() -> None:
    assert outcome("win < -0.1", None, None) is GateOutcome.UNDECIDED


@given(
    ends=st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    limit=st.integers(-100, 100),
    relation=st.sampled_from(("<", "<=", ">", ">=")),
)
def test_what_is_certain_is_so_by_value_and_what_is_so_by_value_is_possible(
    ends: list[float], limit: int, relation: str
) -> None:
    low, value, high = ends
    certain, plain, possible = (
        outcome(f"{word}win {relation} {limit / 100:.2f}", value, (low, high)) is GateOutcome.FAILED
        for word in ("certainly ", "", "possibly ")
    )
    assert certain <= plain <= possible


def test_a_condition_without_a_model_is_held_against_every_model() -> None:
    models = [difference(-0.2, (-0.3, -0.1)), difference(0.1, (0.05, 0.15), model="beta")]
    findings = hold_against([parse_condition("win < -0.05")], models)
    assert [(one.model, one.outcome) for one in findings] == [
        ("alpha", GateOutcome.FAILED),
        ("beta", GateOutcome.PASSED),
    ]


def test_an_unknown_model_and_an_empty_comparison_are_errors() -> None:
    with pytest.raises(UnknownName, match="gamma"):
        hold_against([parse_condition("win(gamma) < 0")], [difference(0.1, (0.0, 0.2))])
    with pytest.raises(UnknownName):
        hold_against([parse_condition("win < 0")], [])
