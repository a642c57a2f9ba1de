"""Designs keep their bytes whatever joins them later; plans are whole; departures from them are found."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from guildhall.domain.authors import ModelRun
from guildhall.domain.design import FORMAT, Design, Plan, PlanChoices, deviations
from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import JudgePlan, PlannedJudge
from guildhall.domain.policy import GraderGroup, MissingRule, Policy
from guildhall.domain.studies import Study
from guildhall.domain.values import canonical_json, sha256
from tests.strategies import settings

DUMPS = sorted((Path(__file__).parent.parent / "data" / "schema").glob("*.rows.json"))
KEPT = [(dump.name, row) for dump in DUMPS for row in json.loads(dump.read_text()).get("studies", [])]
JUDGE = PlannedJudge(plan=JudgePlan(name="j", model="maker/j"), prompt_digests=("0" * 64,))


def design(**parts: object) -> Design:
    return Design.model_validate({"format": FORMAT, **parts})


def study(made: Design, *names: str, title: str = "S") -> Study:
    runs = tuple(ModelRun(name=name, model=f"maker/{name}") for name in names)
    return Study(id="s", title=title, seed=0, tasks=("t@1",), authors=runs, design=made)


def test_there_are_kept_studies_to_read() -> None:
    assert len(KEPT) >= 27


@pytest.mark.parametrize(("dump", "row"), KEPT, ids=[f"{dump}-{row['seq']}" for dump, row in KEPT])
def test_every_study_ever_kept_keeps_its_bytes_its_digest_and_its_key(dump: str, row: dict[str, str]) -> None:
    read = Study.model_validate_json(row["body"])
    for again in (read, read.but(), read.but(design=read.design.but()), pickle.loads(pickle.dumps(read))):
        assert again.canonical().decode() == row["body"], dump
        assert (again.content_digest(), again.key) == (row["digest"], row["key"])


@given(junk=settings)
def test_an_old_form_is_written_as_it_was_read_whatever_it_held(junk):
    known = {"people": {"minutes_per_set": 20, "graders_per_set": 2}, "baseline": "old", "tasks": {"first": 3}}
    written = {**{name: what for name, what in junk.items() if name not in Design.model_fields}, **known}
    read = Design.model_validate(written)
    assert read.canonical() == canonical_json(written)
    assert read.people == HallDesign(minutes_per_set=20.0, graders_per_set=2) and read.baseline == "old"
    assert Design.model_validate_json(read.canonical()) == read
    assert read.but(baseline="new").canonical() == canonical_json({**written, "baseline": "new"})


def test_what_a_design_hands_out_cannot_change_it() -> None:
    read = Design.model_validate({"junk": [1]})
    read.model_dump()["junk"].append(2)
    assert read.canonical() == b'{"junk":[1]}'


def test_a_design_of_today_refuses_what_it_does_not_know_and_an_old_one_what_came_later() -> None:
    with pytest.raises(ValidationError, match="colour"):
        design(colour="blue")
    with pytest.raises(ValidationError, match="format = 2"):
        Design(rehearsal=True)
    with pytest.raises(ValidationError, match="format"):
        Design.model_validate({"format": 3})


def test_what_is_not_said_is_not_written() -> None:
    assert Design().canonical() == b"{}"
    assert set(json.loads(design(baseline="expert").canonical())) == {"format", "baseline"}
    assert sha256(design(people=HallDesign()).but().canonical()) == design(people=HallDesign()).content_digest()


@pytest.mark.parametrize(
    ("parts", "chosen", "leads"),
    [
        ({}, None, "expert"),
        ({"people": HallDesign(), "judges": (JUDGE,)}, None, "expert"),
        ({"judges": (JUDGE,)}, None, "judge:j"),
        ({"rehearsal": True}, None, "simulated"),
        ({"people": HallDesign()}, "crowd", "crowd"),
        ({"people": HallDesign(), "judges": (JUDGE,)}, "people+judge:j", "people+judge:j"),
    ],
)
def test_the_plan_is_whole_whatever_the_file_leaves_out(parts: dict[str, Any], chosen: str | None, leads: str) -> None:
    choices = PlanChoices.model_validate({"graders": chosen, "level": 0.9})
    plan = design(**parts).planned(choices, authors=["a", "a", "b"]).plan
    assert plan is not None and (str(plan.graders), plan.level, plan.samples) == (leads, 0.9, {"a": 2, "b": 1})
    assert plan.graders_per_set == (3 if "people" in parts else None)
    assert set(plan.model_dump()) == set(Plan.model_fields)


@pytest.mark.parametrize(
    ("choices", "fault"),
    [
        ({"graders": "judge:stranger"}, "no judge of that name"),
        ({"graders": "simulated"}, "rehearsal"),
        ({"comparisons": [["a", "a"]]}, "themselves"),
        ({"waves": [{"tasks": 0.5, "weight": 1.0}]}, "add up"),
        ({"looks": {"at": [1.0, 0.5]}}, "larger"),
        ({"looks": {"stop": "width reached"}}, "width"),
        ({"excluded": [{"figure": "median minutes"}]}, "below"),
        ({"level": 95}, "level"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(choices: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        design().planned(PlanChoices.model_validate(choices), authors=["a"])


def test_a_study_names_only_authors_it_has() -> None:
    with pytest.raises(ValidationError, match="'old' is neither"):
        study(design(baseline="old"), "a")
    pairs = PlanChoices(comparisons=(("a", "stranger"),))
    with pytest.raises(ValidationError, match="'stranger' is neither"):
        study(design().planned(pairs, authors=["a"]), "a")
    assert study(design(baseline="a"), "a").baseline == "a"


def test_replacing_a_form_and_saying_why_come_together() -> None:
    for half in ({"replaces": "s:0"}, {"why": "because"}):
        with pytest.raises(ValidationError, match="says why"):
            design(**half)


def test_a_form_is_compared_as_far_as_a_form_of_its_time_says() -> None:
    today = design(people=HallDesign(), judges=(JUDGE,), sweeps=2).planned(PlanChoices(), authors=())
    old = Design.model_validate({"people": HallDesign().model_dump(mode="json"), "prices": {}, "junk": 1})
    assert today.same_as(old) and not old.same_as(today)
    assert not today.but(baseline="b", plan=None).same_as(old)
    assert today.but(replaces="s:0", why="because").same_as(today)
    other = JUDGE.but(plan=JUDGE.plan.but(context_tokens=9000))
    assert not today.but(judges=(other,)).same_as(today)
    assert today.but(judges=(other,)).changed_from(today) == ("judges",)


def policy(**parts: object) -> Policy:
    as_planned = {"studies": ("s",), "baseline": "expert", "graders": "expert", "losses": MissingRule()}
    return Policy.model_validate(as_planned | parts)


def test_what_was_done_as_planned_is_no_departure() -> None:
    planned = study(design(people=HallDesign()).planned(PlanChoices(), authors=["a"]), "a")
    assert deviations(planned, policy(), [planned]) == ()


@pytest.mark.parametrize(
    ("done", "what"),
    [
        ({"graders": "crowd"}, "graders"),
        ({"baseline": "a"}, "baseline"),
        ({"first_exposure": True}, "exposure"),
        ({"losses": MissingRule(refused="missing")}, "work that is missing"),
        ({"planned_only": False}, "gradings beyond the plan"),
        ({"whole_rounds": False}, "rounds of a judge"),
        ({"collapse": "swap-to-tie"}, "a judge that follows the side"),
        ({"excluded": ("person:ann",)}, "graders left out"),
    ],
)
def test_every_departure_is_found_and_named(done: dict[str, Any], what: str) -> None:
    planned = study(design(people=HallDesign()).planned(PlanChoices(), authors=["a"]), "a")
    (found,) = deviations(planned, policy(**done), [planned])
    assert found.what == what and found.planned != found.done and found.why is None


def test_a_judge_under_other_settings_departs_from_the_plan() -> None:
    planned = study(design(judges=(JUDGE,)).planned(PlanChoices(), authors=["a"]), "a")
    as_planned = policy(graders="judge:j", grader_keys=JUDGE.keys)
    assert deviations(planned, as_planned, [planned]) == ()
    (found,) = deviations(planned, as_planned.but(grader_keys=("judge:j:other",)), [planned])
    assert found.what == "settings of the judge" and JUDGE.keys[0] in found.planned


def test_a_later_form_is_told_with_what_changed_and_why() -> None:
    first = study(design(people=HallDesign()).planned(PlanChoices(), authors=["a"]), "a")
    changed = first.design.but(people=HallDesign(graders_per_set=5), replaces=first.key, why="too few graders")
    second = study(changed.planned(PlanChoices(), authors=["a"]), "a", title="T")
    (found,) = deviations(second, policy(), [first, second])
    assert (found.what, found.why) == ("design", "too few graders")
    assert first.key in found.planned and "title, people, plan" in found.done
    (alone,) = deviations(second, policy(), [second])
    assert "not known" in alone.done


def test_nobody_departs_from_a_plan_that_was_never_made() -> None:
    old = study(Design(people=HallDesign()), "a", "a")
    assert deviations(old, policy(graders="simulated"), [old]) == ()
    assert old.plan == Plan.of_old_form(old) and old.plan.graders == GraderGroup.parse("expert")
    assert old.plan.samples == {"a": 2}


@given(st.sampled_from([None, True]))
def test_only_a_rehearsal_says_so_first(rehearsal):
    made = study(design(**({"rehearsal": True} if rehearsal else {})), "a")
    assert (made.heading != made.title) == bool(rehearsal) == (made.design.rehearsal_note is not None)
    assert made.heading.endswith(made.title)
