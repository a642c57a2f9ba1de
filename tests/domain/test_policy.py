"""Groups of graders read and print alike, and rank by what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from guildhall.domain.authors import GraderKind, ModelGrader, Person
from guildhall.domain.policy import NAMED, GraderGroup, GroupKind, MissingRule, Policy, Rule
from guildhall.domain.submissions import StopReason

NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
GROUPS = st.sampled_from(GroupKind).flatmap(
    lambda kind: st.builds(GraderGroup, kind=st.just(kind), name=NAMES if kind in NAMED else st.none())
)


@given(group=GROUPS)
def test_a_group_prints_what_it_is_read_from(group: GraderGroup) -> None:
    assert GraderGroup.parse(str(group)) == group
    assert GraderGroup.model_validate_json(group.model_dump_json()) == group
    assert TypeAdapter(str).validate_json(group.model_dump_json()) == str(group)
    assert group.but() == group


@pytest.mark.parametrize("text", ["", "judge", "judge:", "expert:ann", "expert:", "automatic", "people+judge", "j:x"])
def test_a_text_that_names_no_group_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        GraderGroup.parse(text)


def test_a_report_leads_with_experts_then_people_then_the_plans_judges() -> None:
    order = [
        "expert",
        "crowd",
        "people+judge:j",
        "judge:planned",
        "judge:a-stranger",
        "constant:always-tie",
        "simulated",
    ]
    groups = [GraderGroup.parse(text) for text in order]
    ranks = [group.rank({"planned"}) for group in groups]
    assert ranks == sorted(set(ranks))


def test_in_a_rehearsal_simulated_graders_stand_where_experts_stand() -> None:
    simulated, expert = GraderGroup(kind=GroupKind.SIMULATED), GraderGroup(kind=GroupKind.EXPERT)
    assert simulated.rank(rehearsal=True) == expert.rank()
    assert simulated.rank() > GraderGroup.parse("constant:always-tie").rank()


@pytest.mark.parametrize("kind", GraderKind)
def test_every_person_belongs_to_the_group_of_their_kind(kind: GraderKind) -> None:
    assert str(GraderGroup.of(Person(code_name="ann", grader_kind=kind))) == kind.value


def test_a_constant_verdict_is_no_judge() -> None:
    constant = ModelGrader(name="always-tie", settings={"baseline": "1"})
    panel = ModelGrader(name="always-tie", settings={"panel": "abc"})
    assert str(GraderGroup.of(constant)) == "constant:always-tie"
    assert str(GraderGroup.of(panel)) == "judge:always-tie"


@pytest.mark.parametrize("stop", StopReason)
def test_only_faults_of_ours_are_missing_unless_the_plan_says_otherwise(stop: StopReason) -> None:
    ours = {StopReason.SANDBOX_FAILED, StopReason.PROVIDER_FAILED, StopReason.STORAGE_FAILED}
    assert MissingRule().fate(stop) == ("missing" if stop in ours else "loss")


def test_a_policy_is_read_back_whole() -> None:
    policy = Policy(
        studies=("s",), baseline="expert", graders=GraderGroup.parse("judge:j"), ungradable={"t@1": "audio"}
    )
    assert Policy.model_validate_json(policy.model_dump_json()) == policy
    assert policy.but(baseline="old").graders == policy.graders


def test_rules_are_told_apart_by_their_words() -> None:
    assert len({rule.value for rule in Rule}) == 12
