"""The leniency model: worked tables, invariances, a slow twin, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.leniency import MANY_ESSAYS, ONE_ESSAY, fit_leniency
from guildhall.analysis.marks import MarkRow, MarkTable, mark_table
from guildhall.errors import ImpossibleValue, NothingMarked, TooFewMarks, UnlinkedMarks

QUALITY = {"ada": 3.6, "bea": 3.1, "cyd": 2.4, "dot": 2.9}
SEVERITY = {"ada": 0.3, "bea": -0.1, "cyd": -0.4, "dot": 0.2}


def planted(*, essays: int = 1, noise: float = 0.0, own: float = 0.0, seed: int = 0) -> MarkTable:
    rng = np.random.default_rng(seed)
    return mark_table(
        MarkRow(a, g, str(essay), QUALITY[a] + SEVERITY[g] + own * (a == g) + noise * rng.normal())
        for a in QUALITY
        for essay in range(essays)
        for g in SEVERITY
    )


def test_noiseless_marks_give_the_planted_qualities_and_severities_back():
    fit = fit_leniency(planted(own=0.5))
    assert {name: one.value for name, one in fit.quality.items()} == pytest.approx(QUALITY)
    assert {name: one.value for name, one in fit.severity.items()} == pytest.approx(SEVERITY)
    assert fit.self_preference.value == pytest.approx(0.5)


def test_marks_without_error_leave_no_interval_rather_than_one_of_zero_width():
    exact = mark_table(MarkRow(a, g, "x", 3.0) for a in "abc" for g in "abc")
    quality = fit_leniency(exact).quality["a"]
    assert quality.interval is None
    assert "nothing over" in (quality.why_no_interval or "")


def test_severities_sum_to_zero_and_a_harsh_panel_does_not_sink_its_author():
    table = mark_table(
        MarkRow(author, grader, "x", QUALITY[author] + SEVERITY[grader])
        for author in QUALITY
        for grader in SEVERITY
        if (author, grader) != ("cyd", "ada")
    )
    fit = fit_leniency(table)
    assert sum(one.value or 0 for one in fit.severity.values()) == pytest.approx(0)
    assert fit.quality["cyd"].value == pytest.approx(2.4)


@given(shift=st.floats(-2, 2), seed=st.integers(0, 50))
def test_adding_a_constant_to_every_mark_moves_qualities_and_nothing_else(shift, seed):
    table = planted(essays=2, noise=0.2, seed=seed)
    moved = MarkTable(**{**vars(table), "mark": table.mark + shift})
    before, after = fit_leniency(table), fit_leniency(moved)
    assert after.severity_value == pytest.approx(before.severity_value, abs=1e-9)
    assert after.quality_value == pytest.approx(before.quality_value + shift, abs=1e-9)
    assert after.covariance == pytest.approx(before.covariance, abs=1e-9)


def test_the_normal_equations_agree_with_a_dense_least_squares_twin():
    table = planted(essays=3, noise=0.3)
    fit = fit_leniency(table)
    others = table.keep(~table.own)
    n_graders = len(SEVERITY)
    design = np.zeros((len(others.mark), len(table.essays) + n_graders - 1))
    design[np.arange(len(others.mark)), others.essay] = 1
    last = others.grader == n_graders - 1
    for column in range(n_graders - 1):
        design[:, len(table.essays) + column] = (others.grader == column).astype(float) - last
    solution, *_ = np.linalg.lstsq(design, others.mark, rcond=None)
    assert fit.essay_effect == pytest.approx(solution[: len(table.essays)])
    assert fit.severity_value[:-1] == pytest.approx(solution[len(table.essays) :])


def test_one_essay_an_author_is_said_to_be_about_this_essay():
    assert fit_leniency(planted(noise=0.2)).about == ONE_ESSAY
    assert fit_leniency(planted(essays=2, noise=0.2)).about == MANY_ESSAYS


def test_a_family_that_favours_its_own_is_found():
    rng = np.random.default_rng(3)
    families = {"ada": "north", "bea": "north", "cyd": "south", "dot": "south"}
    table = mark_table(
        MarkRow(a, g, str(e), QUALITY[a] + SEVERITY[g] + 0.4 * (families[a] == families[g]) + 0.05 * rng.normal())
        for a in QUALITY
        for g in SEVERITY
        for e in range(3)
    )
    preference = fit_leniency(table, families=families).family_preference
    assert preference.interval is not None
    assert preference.interval[0] < 0.4 < preference.interval[1]
    assert "no grader marked a relative" in (fit_leniency(table).family_preference.why_no_interval or "")


def test_discrimination_recovers_graders_who_stretch_their_marks():
    rng = np.random.default_rng(5)
    names = [f"m{index}" for index in range(8)]
    quality = dict(zip(names, np.linspace(2, 4, 8), strict=True))
    slope = dict(zip(names, [0.6, 1.6, 1, 1, 1, 1, 1, 1], strict=True))
    table = mark_table(
        MarkRow(a, g, str(e), 3 + slope[g] * (quality[a] - 3) + 0.1 * rng.normal())
        for a in names
        for g in names
        for e in range(4)
    )
    found = fit_leniency(table, discrimination=True).discrimination
    assert found is not None
    assert found["m0"] < 0.75 < 1.3 < found["m1"]
    assert np.mean(np.log(list(found.values()))) == pytest.approx(0)


def test_fewer_essays_are_needed_to_settle_a_wider_gap():
    fit = fit_leniency(planted(essays=3, noise=0.4))
    wide, narrow = fit.marks_to_settle("ada", "cyd"), fit.marks_to_settle("ada", "bea")
    assert wide is not None
    assert narrow is not None
    assert wide <= narrow


def test_graders_without_a_shared_essay_are_refused_by_name():
    rows = [MarkRow("a", "b", "x", 3.0), MarkRow("c", "d", "y", 2.0)]
    with pytest.raises(UnlinkedMarks, match="2 groups"):
        fit_leniency(mark_table(rows))


def test_what_cannot_be_used_is_refused():
    with pytest.raises(NothingMarked):
        mark_table([])
    with pytest.raises(NothingMarked):
        fit_leniency(mark_table([MarkRow("a", "a", "x", 4.0)]))
    with pytest.raises(ImpossibleValue):
        mark_table([MarkRow("a", "b", "x", float("nan"))])
    with pytest.raises(TooFewMarks):
        fit_leniency(planted(essays=3), discrimination=True)


def test_missing_marks_are_left_out_and_counted():
    table = mark_table([*(MarkRow(a, g, "x", 3.0) for a in "abc" for g in "abc"), MarkRow("a", "b", "y", None)])
    assert table.n_missing == 1
    assert table.missing_received.tolist() == [1, 0, 0]
    assert table.missing_given.tolist() == [0, 1, 0]
