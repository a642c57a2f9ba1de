"""Screening only ever advises: rules say what to look at again, a model's answer is read strictly or is N/A."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.reviews import Criterion, Draft, Opinion
from guildhall.domain.submissions import Usage
from guildhall.domain.tasks import OnetTags, ReviewState
from guildhall.engine.calls import Reply
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.engine.terms import Terms
from guildhall.store.workspace import Workspace
from guildhall.taskbank.review.screening import doubts, draft_as_text, read_advice, screen_by_model, screen_by_rule
from tests.taskbank.reviewing import BRIEF, draft_task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def draft(**more: Any) -> Draft:
    return Draft(task=draft_task(**more).but(review=ReviewState.DRAFT), author="canary-author", made_at=NOON)


def test_a_sound_draft_gives_nothing_to_look_at_again() -> None:
    screening = screen_by_rule(draft(), texts={"ledger.csv": "month,total\n1,2\n"}, made_at=NOON)
    assert {one.opinion for one in screening.advice} == {Opinion.FINE}


@pytest.mark.parametrize(
    ("criterion", "more"),
    [
        (Criterion.OCCUPATION, {"onet": OnetTags(), "occupation": "Film and Video Editors"}),
        (Criterion.COMPUTER, {"brief": BRIEF + " Weld the frame.", "expert_files": ()}),
        (Criterion.SUBSTANCE, {"expert_hours": 0.1}),
        (Criterion.SUBSTANCE, {"expert_hours": None}),
        (Criterion.SUBSTANCE, {"brief": "Prepare a memo from ledger.csv."}),
        (Criterion.FILES, {"reference_files": ()}),
        (Criterion.FILES, {"expert_files": (), "expert_text": "Done."}),
        (Criterion.SELF_CONTAINED, {"brief": BRIEF + " Compare it with budget.xlsx."}),
        (Criterion.SELF_CONTAINED, {"brief": BRIEF + " See https://example.org/rates for the rates."}),
        (Criterion.PRIVACY, {"brief": BRIEF + " Questions go to jo.doe@example.org."}),
        (Criterion.PRIVACY, {"expert_text": "Her number is (212) 555-0147."}),
        (Criterion.SOFTWARE, {"brief": BRIEF + " Enter the totals into our internal system."}),
        (Criterion.SOFTWARE, {"brief": BRIEF + " Build the layout in InDesign."}),
        (Criterion.KNOWLEDGE, {"brief": BRIEF + " Lay it out in our usual format."}),
        (Criterion.TALKS, {"brief": BRIEF + " Interview the owner first."}),
    ],
)
def test_each_rule_sees_what_it_is_for(criterion: Criterion, more: dict[str, Any]) -> None:
    assert doubts(draft_task(**more), texts={})[criterion]


def test_personal_data_inside_a_file_is_seen() -> None:
    found = doubts(draft_task(), texts={"ledger.csv": "id,ssn\n1,123-45-6789\n"})[Criterion.PRIVACY]
    assert found and "ledger.csv" in found and "123" not in found


def answered(data: object, *, error: str | None = None) -> Reply:
    return Reply(call="0" * 64, text=json.dumps(data), data=data, error=error, usage=Usage(calls=1), made_at=NOON)


GOOD = {str(one): {"opinion": "fine", "words": "Yes."} for one in Criterion}


@pytest.mark.parametrize(
    "reply",
    [
        answered(None),
        answered("fine"),
        answered([GOOD]),
        answered(GOOD | {"extra": GOOD["not trivial"]}),
        answered({name: point for name, point in GOOD.items() if name != "not trivial"}),
        answered(GOOD | {"not trivial": {"opinion": "great", "words": "!"}}),
        answered(GOOD | {"not trivial": {"opinion": "fine"}}),
        answered(GOOD | {"not trivial": "fine"}),
        answered(GOOD, error="the provider refused"),
    ],
)
def test_what_cannot_be_read_is_not_applicable_and_says_why(reply: Reply) -> None:
    advice = read_advice(reply)
    assert {one.opinion for one in advice} == {Opinion.UNKNOWN} and all(one.words for one in advice)


@given(data=st.recursive(st.none() | st.booleans() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)))
def test_no_stray_answer_is_ever_fine(data: object) -> None:
    assert {one.opinion for one in read_advice(answered(data))} == {Opinion.UNKNOWN}


@scripted("screening-critic")
def critic(turn: Turn) -> Answer:
    assert "canary-author" not in "".join(said.text for said in turn.messages)
    doubtful = {"files attached": {"opinion": "look again", "words": "There is no ledger."}}
    return Answer(text=json.dumps(GOOD | doubtful))


def test_a_model_screens_without_learning_who_wrote_the_draft(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        terms = Terms(run="screening")
        [made] = screen_by_model(
            [draft()], texts={}, model="scripted/screening-critic", workspace=workspace, terms=terms
        )
        [other] = screen_by_model([draft()], texts={}, model="scripted/echo", workspace=workspace, terms=terms)
    assert [one.criterion for one in made.advice if one.opinion is Opinion.LOOK_AGAIN] == [Criterion.FILES]
    assert {one.opinion for one in other.advice} == {Opinion.UNKNOWN}
    assert (made.screener, made.draft) == ("scripted/screening-critic", "memo@1") and made.prompt_digest


def test_the_draft_stands_between_markers() -> None:
    text = draft_as_text(draft(), {"ledger.csv": "x" * 50_000})
    assert text.startswith("DRAFT BEGINS") and text.endswith("DRAFT ENDS") and len(text) < 25_000


def test_a_screening_of_an_earlier_version_speaks_of_six_points_and_is_still_read() -> None:
    screening = screen_by_rule(draft(), texts={}, made_at=NOON)
    assert len(screening.advice) == 9
    earlier = screening.but(advice=screening.advice[:6])
    assert type(earlier).model_validate_json(earlier.model_dump_json()) == earlier
    with pytest.raises(ValueError, match="every criterion"):
        screening.but(advice=screening.advice[:7])
