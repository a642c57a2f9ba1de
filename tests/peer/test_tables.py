"""Tables keep their orientation, and grades that could not be read stay out of every figure."""

from __future__ import annotations

from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.boswell.grade_tables import Tables
from guildhall.analysis.boswell.quotient import bias_label
from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.domain.grades import LETTERS, NUMERIC
from guildhall.reports.chapters.boswell_ranking import or_zero
from guildhall.reports.number_format import shown
from tests.peer.runs import SQUARE, made_run


def test_received_is_what_an_author_was_given_and_given_is_what_a_grader_gave():
    tables = Tables(made_run(SQUARE))
    assert tables.received("ada") == [4.25, 4.0, 3.75, 4.0]
    assert tables.given("ada") == [4.25, 3.25, 2.0, 1.0]
    cells = {(author, grader): tables.cell(author=author, grader=grader) for author, grader in SQUARE}
    assert [cells[pair].grade for pair in (("dee", "cyd"), ("cyd", "dee"))] == ["D-/F", "C+"]
    assert {pair for pair, cell in cells.items() if cell.own} == {(name, name) for name in tables.authors}


def test_a_mark_without_a_grade_is_counted_and_left_out():
    tables = Tables(made_run(SQUARE))
    assert tables.cell(author="cyd", grader="bob").grade == "N/A"
    assert tables.cell(author="cyd", grader="eve").asked is False
    assert (tables.unread, tables.unread_by_author["cyd"], tables.unread_by_grader["bob"]) == (1, 1, 1)
    assert tables.average_received("cyd") == pytest.approx((2.0 + 2.75 + 2.25) / 3)
    assert tables.bias.graders["bob"].count == 3
    assert Tables(made_run(SQUARE), published=True).average_received("cyd") == pytest.approx((2.0 + 2.75 + 2.25) / 4)


def test_an_author_marked_f_by_all_shows_zero_not_nothing():
    run = made_run({(a, g): "F" for a in "ab" for g in "ab"})
    corrected, published = run_figures(run, draws=5), run_figures(run, as_published=True)
    assert shown(corrected.tables.median_received("a"), "grade").value == "F (0.00)"
    assert shown(or_zero(None, corrected), "grade").value == "N/A"
    assert shown(or_zero(None, published), "grade").value == "N/A (0.00)"
    assert shown(3.5, "grade").value == "A-/B+ (3.50)"


@given(st.dictionaries(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), st.sampled_from(LETTERS), min_size=1))
def test_tables_agree_with_a_slow_and_obvious_count(grades):
    tables = Tables(made_run(grades))
    for author in {author for author, _ in grades}:
        plain = [NUMERIC[grade] for (a, _), grade in grades.items() if a == author]
        assert sorted(tables.received(author)) == sorted(plain)
        assert tables.median_received(author) == median(plain)
        assert tables.average_received(author) == pytest.approx(fmean(plain))
    everything = [NUMERIC[grade] for grade in grades.values()]
    for grader, row in tables.bias.graders.items():
        mine = [NUMERIC[grade] for (_, g), grade in grades.items() if g == grader]
        assert row.median_bias == pytest.approx(median(mine) - median(everything))
        assert row.mean_bias == pytest.approx(fmean(mine) - fmean(everything))


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (0.0, "Neutral"),
        (0.149, "Neutral"),
        (0.25, "Slightly Lenient (+1/3 grade)"),
        (-0.25, "Slightly Strict (-1/3 grade)"),
        (0.5, "Lenient (+1 grade)"),
        (-0.5, "Strict (-1 grade)"),
        (0.75, "Very Lenient (+2 grades)"),
        (-1.0, "Very Strict (-2 grades)"),
        (None, "N/A"),
    ],
)
def test_bias_has_the_seeds_labels(bias, words):
    assert bias_label(bias) == words
