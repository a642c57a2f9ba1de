"""A verdict is read in the form it was asked for, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.submissions import StopReason, Usage
from guildhall.domain.tasks import RubricItem
from guildhall.domain.values import sha256
from guildhall.engine.calls import Reply
from guildhall.engine.models import parsed
from guildhall.errors import UnreadableVerdict
from guildhall.judging.rubrics import read_items
from guildhall.judging.verdicts import failure_of, read_ranking, read_verdict

RANKS = {"A": (1, 2), "B": (2, 1), "TIE": (1, 1)}


def reply(text: str, **fields: object) -> Reply:
    made = {"call": sha256(b"c"), "text": text, "usage": Usage(), "made_at": datetime(2026, 1, 1, tzinfo=UTC), **fields}
    return Reply.model_validate(made)


@pytest.mark.parametrize("letter", RANKS)
def test_a_last_line_that_is_the_verdict_alone_is_read(letter):
    found = read_verdict(reply(f"A is longer.\n\n  VERDICT[{letter}]  \n\n"), places=2, by_schema=False)
    assert found.ranks == RANKS[letter] and found.reason == "A is longer."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "VERDICT[A] is what I would say.",
        "Not VERDICT[A].",
        "VERDICT[A]\nVERDICT[A] or VERDICT[B]",
        "VERDICT[C]",
        "VERDICT[a]",
        "**VERDICT[A]**",
        "VERDICT[A]\nI hope this helps!",
        "VERDICT[]",
        '{"verdict": "A"}',
    ],
)
def test_anything_else_is_refused_and_never_a_tie(text):
    with pytest.raises(UnreadableVerdict):
        read_verdict(reply(text), places=2, by_schema=False)


@given(st.text())
def test_no_text_without_a_verdict_line_is_ever_a_verdict(text):
    last = [line.strip() for line in text.splitlines() if line.strip()][-1:]
    if last not in (["VERDICT[A]"], ["VERDICT[B]"], ["VERDICT[TIE]"]):
        with pytest.raises(UnreadableVerdict):
            read_verdict(reply(text), places=2, by_schema=False)


def test_an_answer_by_schema_is_read_with_its_criteria():
    text = '{"reason": "B adds up", "criteria": {"correctness": "B", "style": "TIE", "wit": "A"}, "verdict": "B"}'
    found = read_verdict(reply(text, data=parsed(text)), places=2, by_schema=True)
    assert found.ranks == (2, 1) and found.criteria == {"correctness": 1, "style": 0}


@pytest.mark.parametrize("text", ["VERDICT[A]", '{"verdict": "C"}', '["A"]', "null"])
def test_an_answer_that_breaks_its_schema_is_refused(text):
    with pytest.raises(UnreadableVerdict):
        read_verdict(reply(text, data=parsed(text)), places=2, by_schema=True)


def test_rankings_keep_ties_and_every_letter():
    assert read_ranking("Reasons.\nRANKING[C>A=B]", 3) == (2, 2, 1)
    assert read_ranking("RANKING[A=B>C]", 3) == (1, 1, 3)
    for wrong in ("RANKING[A>B]", "RANKING[A>A>B]", "RANKING[A>B>C>D]", "RANKING[A<B>C]"):
        with pytest.raises(UnreadableVerdict):
            read_ranking(wrong, 3)


@given(st.permutations("ABCD"))
def test_a_ranking_without_ties_gives_each_letter_its_place(letters):
    assert read_ranking(f"RANKING[{'>'.join(letters)}]", 4) == tuple(letters.index(one) + 1 for one in "ABCD")
    assert tuple(letters) in set(permutations("ABCD"))


def test_refusals_truncation_and_errors_are_failures_by_name():
    assert failure_of(reply("VERDICT[A]")) is None
    assert str(failure_of(reply("I cannot", stop=StopReason.REFUSED))).startswith("refused: ")
    assert str(failure_of(reply("VERD", stop=StopReason.TRUNCATED))).startswith("truncated: ")
    assert str(failure_of(reply("", error="HTTP 500"))) == "provider failed: HTTP 500"


def test_rubric_items_are_read_one_by_one_and_quotations_are_checked():
    items = [(1, RubricItem(text="Totals", points=5)), (2, RubricItem(text="Typos", points=-2))]
    items += [(3, RubricItem(text="Chart", points=1)), (4, RubricItem(text="Twice", points=1))]
    text = 'ITEM 1: MET | "The  total is 4-5"\nITEM 2: NOT | ""\nITEM 4: MET | ""\nITEM 4: NOT | ""'
    first, second, third, fourth = read_items(reply(text), items, shown_text="... the total\nis 4–5 and")
    assert (first.outcome, first.found) == ("met", True)
    assert (second.outcome, second.found) == ("not met", None)
    assert third.outcome is None and "not answered" in str(third.failure)
    assert fourth.outcome is None and "more than once" in str(fourth.failure)
    (made_up,) = read_items(reply('ITEM 1: MET | "invented"'), items[:1], shown_text="the total")
    assert made_up.found is False
