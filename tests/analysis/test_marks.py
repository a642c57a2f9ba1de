"""Plain figures of a cross-marking table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.marks import (
    MarkRow,
    efficiency,
    evaluate_grader,
    kendall_tau_b,
    mark_table,
    medians_given,
    medians_received,
)

MARKS = {
    "ada": {"ada": 4.0, "bea": 3.0, "cyd": 3.5},
    "bea": {"ada": 2.0, "bea": 4.25, "cyd": 3.0},
    "cyd": {"ada": 1.0, "bea": 2.0, "cyd": 4.0},
}
TABLE = mark_table(MarkRow(author, grader, "x", mark) for author, row in MARKS.items() for grader, mark in row.items())


def test_received_is_about_authors_and_given_is_about_graders():
    assert medians_received(TABLE) == {"ada": 3.25, "bea": 2.5, "cyd": 1.5}
    assert medians_given(TABLE) == {"ada": 2.0, "bea": 3.0, "cyd": 3.5}


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
