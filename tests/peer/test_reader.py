"""Reading grades: what is stated is read, what is not stated is never invented."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.boswell import NoGrade
from guildhall.peer.reader import Descriptors, read_grade
from tests.peer.replies import GRADES, PROSE, grades, labelled_replies, letters, part_replies, sentence_replies


@given(labelled_replies())
def test_a_labelled_grade_is_read_in_every_form_composites_d_and_f_included(reply):
    text, grade = reply
    reading = read_grade(text)
    assert reading.grade == grade
    assert reading.span is not None


@pytest.mark.parametrize("grade", GRADES)
def test_every_grade_of_the_scale_can_be_stated_and_read_back(grade):
    reading = read_grade(f"Well argued throughout.\n\nGrade: {grade}")
    assert reading.grade == grade
    assert reading.span is not None
    start, end = reading.span
    assert f"Well argued throughout.\n\nGrade: {grade}"[start:end] == grade


@given(sentence_replies())
def test_a_grade_given_in_a_sentence_is_read(reply):
    text, grade = reply
    assert read_grade(text).grade == grade


@given(part_replies())
def test_part_grades_alone_are_no_grade_and_say_so(reply):
    text, _, _ = reply
    reading = read_grade(text)
    assert (reading.grade, reading.reason) == (None, NoGrade.PART_GRADES)


@given(part_replies(), grades, st.sampled_from(["Overall Grade: {}", "**Final Grade: {}**", "## Overall\n\nGrade: {}"]))
def test_an_overall_grade_wins_over_part_grades(reply, grade, closing):
    text, _, _ = reply
    assert read_grade(f"{text}\n\n{closing.format(grade)}").grade == grade


@given(letters, letters)
def test_the_last_explicit_decision_wins(first, second):
    text = f"Overall Grade: {first}\n\nOn reflection I was too quick.\n\nOverall Grade: {second}"
    assert read_grade(text).grade == second


@given(st.lists(PROSE, min_size=1, max_size=6))
def test_prose_that_gives_no_grade_yields_none(paragraphs):
    assert read_grade("\n\n".join(paragraphs)).grade is None


@given(st.text(max_size=400))
def test_any_text_at_all_can_be_read(text):
    reading = read_grade(text)
    if reading.span:
        assert 0 <= reading.span[0] < reading.span[1] <= len(text)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("grade: b+", "B+"),
        ("Grade: B minus", "B-"),
        ("Final grade: B-plus", "B+"),
        ("Grade: A- to B+", "A-/B+"),
        ("Grade: B+/A-", "A-/B+"),
        ("I find it between an A- and a B+.", "A-/B+"),
        ("Grade: 87/100 (B+)", "B+"),
        ("Grade: a solid B", "B"),
        ("Ｇrade is fine.\n\nGrade：Ｂ＋", "B+"),
        ("B+", "B+"),
        ("**Grade:** Grade: A-", "A-"),
        ("Grade: A确认", "A"),
        ("| Criterion | Grade |\n|---|---|\n| Depth | A |\n| Overall | B+ |", "B+"),
    ],
)
def test_odd_ways_to_state_a_grade_are_understood(text, grade):
    assert read_grade(text).grade == grade


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I cannot assign a letter grade because no essay was provided.", NoGrade.REFUSED),
        ("Grade: N/A (there is nothing to grade)", NoGrade.REFUSED),
        ("My feedback follows.\n\nGrade: <LetterGrade>", NoGrade.PLACEHOLDER),
        ("Grade: A+/A/A-/B+/B/B-/C+/C/C-", NoGrade.PLACEHOLDER),
        ("The essay is well made and the argument holds.\n\n**Grade:**", NoGrade.TRUNCATED),
        ("The essay relies on credible sources such as Human Rights", NoGrade.TRUNCATED),
        ("An imperfect but ineffective essay, not excellent.", NoGrade.NOTHING_STATED),
        ("Grade: A/B.", NoGrade.NOTHING_STATED),
        ("", NoGrade.NOTHING_STATED),
    ],
)
def test_a_missing_grade_comes_with_its_reason(text, reason):
    reading = read_grade(text)
    assert (reading.grade, reading.reason) == (None, reason)


def test_descriptors_only_ever_suggest_and_only_when_asked():
    praise = "An outstanding, exceptional essay."
    assert read_grade(praise).grade is None
    suggestion = read_grade(praise, infer=Descriptors.OURS)
    assert (suggestion.grade, suggestion.inferred, suggestion.rule) == ("A", True, "descriptors")
    assert read_grade("Not excellent, hardly good.", infer=Descriptors.OURS).grade is None


@pytest.mark.parametrize(
    "unit",
    ["A+ ", "Grade: A Grade: B ", "B+\n", "**Strengths:**\nGrade: B\n## Python\nGrade: A\n", "not ", "A/B/C/", "#"],
)
def test_reading_time_grows_linearly_with_length(unit):
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        tries = []
        for _ in range(3):  # the best of three: a collection of garbage may fall into any one of them
            started = time.process_time()
            read_grade(text)
            tries.append(time.process_time() - started)
        return min(tries)

    # Sixteen times the length: 16 times the work if linear, 256 times if quadratic. Far from both, on any machine.
    assert seconds(32_000) < 64 * seconds(2_000) + 0.05


def test_real_replies_are_read_as_people_read_them(realdata):
    path = realdata / "boswell" / "grader_replies_dev.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines][::8]
    wrong = [
        row["id"]
        for row in rows
        if (read_grade(row["text"]).grade or "N/A") not in (row["grade"], *row.get("accept", []))
    ]
    assert len(wrong) <= 0.005 * len(rows)
