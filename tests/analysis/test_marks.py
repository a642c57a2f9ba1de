"""Plain figures of a cross-marking table."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from guildhall.analysis.marks import (
    MarkRow,
    MarkTable,
    cross_mark_file,
    cross_marks,
    efficiency,
    evaluate_grader,
    kendall_tau_b,
    mark_table,
    medians_received,
    repeatability,
)
from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue, NothingMarked

MARKS = {
    "ada": {"ada": 4.0, "bea": 3.0, "cyd": 3.5},
    "bea": {"ada": 2.0, "bea": 4.25, "cyd": 3.0},
    "cyd": {"ada": 1.0, "bea": 2.0, "cyd": 4.0},
}
VALUES = np.array([0.0, 1.0, 1.7, 2.0, 3.3, 4.0])
TABLE = mark_table(MarkRow(author, grader, "x", mark) for author, row in MARKS.items() for grader, mark in row.items())


def test_received_is_about_authors():
    assert medians_received(TABLE) == {"ada": 3.25, "bea": 2.5, "cyd": 1.5}


def test_own_marks_enter_received_medians_only_when_asked():
    assert medians_received(TABLE, own_marks=True)["cyd"] == 2.0


def test_an_author_nobody_could_mark_has_no_median_rather_than_zero():
    table = mark_table([MarkRow("a", "b", "x", None), MarkRow("b", "a", "x", 0.0)])
    assert medians_received(table) == {"a": None, "b": 0.0}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=20))
def test_tau_b_counts_concordant_pairs_like_the_obvious_loop(pairs):
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    score = ties_first = ties_second = total = 0
    for i in range(len(pairs)):
        for j in range(i):
            a, b = np.sign(first[i] - first[j]), np.sign(second[i] - second[j])
            score, total = score + a * b, total + 1
            ties_first, ties_second = ties_first + (a == 0), ties_second + (b == 0)
    scale = np.sqrt((total - ties_first) * (total - ties_second))
    assert kendall_tau_b(first, second) == pytest.approx(score / scale if scale else 0.0)


def test_a_grader_of_constant_marks_is_not_perfect():
    rows = [
        MarkRow(f"w{n}", grader, "x", 3.75 if grader == "flat" else 2.0 + n / 4)
        for n in range(6)
        for grader in ("flat", "g1", "g2", "g3")
    ]
    table = mark_table(rows)
    assert evaluate_grader(table, "flat").tau_b == 0.0
    assert evaluate_grader(table, "g1").evaluation == pytest.approx(100.0)
    assert (evaluate_grader(table, "flat").evaluation or 0) < 50


def test_evaluation_is_absent_under_four_essays_with_the_reason():
    seen = evaluate_grader(TABLE, "ada")
    assert seen.evaluation is None
    assert seen.why_absent == "2 essays of others; at least 4 are needed"


def test_zero_efficiency_is_a_value_and_no_time_is_not():
    assert efficiency({"slow": 90.0, "fast": 6.0, "cached": None}, reference_s=60) == {
        "slow": 0.0,
        "fast": 90.0,
        "cached": None,
    }


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=80))
def test_medians_and_bias_equal_those_of_sorted_marks(rows):
    grader, author, mark = (np.array(column) for column in zip(*rows, strict=True))
    found = cross_marks(grader, author, mark, VALUES, n_models=4)
    marks = VALUES[mark]
    for g in range(4):
        for a in range(4):
            own = marks[(grader == g) & (author == a)]
            assert found.medians[g, a] == pytest.approx(np.median(own) if len(own) else np.nan, nan_ok=True)
            assert found.counts[g, a] == len(own)
        given_marks, received = marks[grader == g], marks[author == g]
        assert found.given[g] == pytest.approx(np.median(given_marks) if len(given_marks) else np.nan, nan_ok=True)
        assert found.received[g] == pytest.approx(np.median(received) if len(received) else np.nan, nan_ok=True)
        if len(given_marks):
            assert found.bias[g] == pytest.approx(np.median(given_marks) - np.median(marks))


def test_nothing_marked_is_refused():
    empty = np.array([], dtype=int)
    with pytest.raises(NothingMarked):
        cross_marks(empty, empty, empty, VALUES, n_models=2)


def test_the_command_shows_medians_bias_and_what_it_left_out(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("grader,author,mark\na,a,4\na,b,3\nb,a,2\nb,b,3\na,b,2\nc,b,\nb,a,1\n")
    found = json.loads(CliRunner().invoke(app, ["marks", str(path), "--json"]).stdout)
    assert found == {
        "models": [
            {"model": "a", "received": 2.0, "given": 3.0, "bias": 0.5, "gave": {"a": 4.0, "b": 2.5, "c": None}},
            {"model": "b", "received": 3.0, "given": 2.0, "bias": -0.5, "gave": {"a": 1.5, "b": 3.0, "c": None}},
            {"model": "c", "received": None, "given": None, "bias": None, "gave": dict.fromkeys("abc")},
        ],
        "n_marks": 6,
        "n_excluded": 1,
    }
    shown = CliRunner().invoke(app, ["marks", str(path)]).output
    assert "bias" in shown
    assert "1 rows without a mark" in shown
    path.write_text("grader,author,mark\n,a,4\n")
    with pytest.raises(ImpossibleValue, match="grader or author"):
        cross_mark_file(path)


def repeated(marks: dict[str, tuple[float, ...]]) -> MarkTable:
    rows = [MarkRow("w", "g", essay, mark, round=r) for essay, given in marks.items() for r, mark in enumerate(given)]
    return mark_table([*rows, MarkRow("g", "w", "once", 3.0)])


def test_a_grader_that_repeats_itself_has_distance_zero_and_no_interval():
    [found] = repeatability(repeated({f"e{n}": (n % 4, n % 4) for n in range(6)}))
    assert (found.grader, found.pairs, found.same, found.gap.value) == ("g", 6, 1.0, 0.0)
    assert found.gap.interval is None


def test_distance_between_repeats_by_hand():
    [found] = repeatability(repeated({"x": (3.0, 3.5, 4.0), "y": (2.0, 2.0), "z": (1.0, 2.0), "once": (4.0,)}))
    assert found.gap.value == pytest.approx(((0.5 + 0.5 + 1.0) / 3 + 0.0 + 1.0) / 3)
    assert found.pairs == 5
    assert found.same == pytest.approx(1 / 5)
    assert found.gap.interval is not None
