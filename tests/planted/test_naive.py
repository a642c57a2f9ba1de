"""The planted stores hold what they claim to hold, and the naive twin loses no judgment on the way."""

from __future__ import annotations

import pytest

from guildhall.analysis.counting import LOOKED_AT
from guildhall.analysis.counting import count as counted_by
from guildhall.domain.authors import ModelGrader, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import PROGRAMS
from guildhall.domain.tasks import Task
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.policy import policies_of
from tests.planted.ledger import CONSTANTS, group_of, ranked
from tests.planted.naive import RULES, count, figures, groups_of, judgments_of, policy_of
from tests.planted.store import Shape, planted_store

pytestmark = pytest.mark.xdist_group("planted")
TAKEN_BY = set(RULES) - {"set aside", "excluded grader", "later exposure"}
"""The rules of a study's own policy; the other three are asked for."""


def test_counted_and_left_out_are_all_judgments_of_the_study(stores):
    taken = dict.fromkeys(RULES, 0)
    for planted in stores:
        for study in planted.studies:
            given = judgments_of(planted, study)
            for group in {group_of(one.grader) for one in study.judgments}:
                policy = policy_of(planted, study, group)
                found = count(given, policy)
                assert found.counted + sum(found.left_out.values()) == len(study.judgments)
                assert {row.judgment for row in found.rows} <= {one.key for one in study.judgments}
                taken = {rule: taken[rule] + found.left_out[rule] for rule in RULES}
    assert {rule for rule, number in taken.items() if number} == TAKEN_BY


def test_what_a_plan_may_exclude_is_taken_by_its_own_rule(stores):
    planted = next(one for one in stores if "expert" in groups_of(one, one.first))
    given = judgments_of(planted, planted.first)
    whole = policy_of(planted, planted.first, "expert")
    plain = count(given, whole)
    counted = {row.judgment for row in plain.rows}
    one = next(said for said in given.judgments if said.key in counted)
    for rule, policy in {
        "set aside": whole._replace(set_aside={one.key}),
        "excluded grader": whole._replace(excluded={one.grader.key}),
        "later exposure": whole._replace(first_exposure=True),
    }.items():
        found = count(given, policy)
        assert found.left_out[rule] == plain.counted - found.counted > 0
        assert found.counted + sum(found.left_out.values()) == len(given.judgments)


def test_wins_and_losses_change_places_when_every_verdict_is_turned(stores):
    for planted in stores[:5]:
        study = planted.first
        given = judgments_of(planted, study)
        for group in groups_of(planted, study):
            rows = count(given, policy_of(planted, study, group)).rows
            turned = figures([row._replace(halves=2 - row.halves) for row in rows])
            for model, one in figures(rows).items():
                assert (one.wins, one.half_tie) == (turned[model].losses, 1 - turned[model].half_tie)
                assert one.win_or_tie == 1 - turned[model].win


def test_planted_stores_hold_everything(stores):
    """Each of these is in at least one of the stores; most are in all of them."""
    studies = [study for planted in stores for study in planted.studies]
    judgments = [one for study in studies for one in study.judgments]
    people = [one for one in judgments if isinstance(one.grader, Person)]
    programs = [one for one in judgments if isinstance(one.grader, ModelGrader)]
    replaced = {one.replaces for one in judgments if one.replaces}
    assert {group_of(one.grader) for one in judgments} == {
        *("expert", "student", "simulated", "judge:judge-a", "judge:judge-b"),
        *(f"constant:{name}" for name in CONSTANTS),
    }
    assert all(
        len({one.grader.key for one in programs if one.grader.name == name}) > 1 for name in ("judge-a", "judge-b")
    )
    assert any(one.replaces and one.key in replaced for one in people), "no judgment was amended twice"
    assert any(one.failure for one in programs) and {one.sweep for one in programs} == {1, 2}
    assert any(not one.planned for one in people) and {one.exposure for one in people} == {1, 2}
    assert {len(one.order) for one in people} == {2, 3, 4}
    assert all(any(getattr(one, name) for one in people) for name in ("guess", "usability", "criteria", "correction"))
    assert any(one.omissions for one in programs)
    assert {study.baseline for study in studies} == {"expert", "alpha"}
    assert any(study.anchors for study in studies) and all(planted.gold for planted in stores)
    assert any(len(planted.ungradable) > 1 for planted in stores)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_ledger_says_was_put_in_is_what_the_store_holds(stores, seed):
    planted = stores[seed]
    with Workspace.open(planted.workspace) as workspace:
        store = workspace.store
        judgments = {one.key for study in planted.studies for one in study.judgments}
        assert {one.key for one in store.each(Judgment)} == judgments | {one.key for one in planted.gold_judgments}
        comparisons = {key for study in planted.studies for key in study.comparisons}
        assert {one.key for one in store.each(Comparison)} == comparisons | set(planted.gold)


def test_the_same_seed_plants_the_same_store(stores, tmp_path):
    again = planted_store(4, tmp_path)
    assert [one.key for one in again.first.judgments] == [one.key for one in stores[4].first.judgments]


def test_a_store_may_hold_two_wordings_of_a_task(tmp_path):
    planted = planted_store(0, tmp_path, shape=Shape(tasks=5, revised=True))
    with Workspace.open(planted.workspace) as workspace:
        versions = [one.version for one in workspace.store.each(Task)]
    assert versions.count(2) == 2 and set(planted.first.pins.values()) == set(planted.first.form.tasks)


def test_experts_lead_and_simulated_graders_come_last():
    groups = ["simulated", "constant:always-tie", "judge:z", "student", "judge:a", "expert"]
    assert ranked(groups) == ["expert", "student", "judge:a", "judge:z", "constant:always-tie", "simulated"]


def test_a_judge_that_contradicts_itself_when_sides_swap_counts_as_a_tie_only_where_the_policy_says_so(stores):
    moved = 0
    for planted in stores[:8]:
        with Workspace.open(planted.workspace) as workspace:
            form = planted.first.form
            verdicts = read_verdicts(workspace.store, [form.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
            for group, policy in policies_of(workspace, form, verdicts).items():
                as_given = counted_by(verdicts, policy)
                as_ties = counted_by(verdicts, policy.but(collapse="swap-to-tie"))
                pairs, halves = as_given.pairs, as_given.pairs.halves.tolist()
                places = (as_given.answers[name].to_list() for name in ("comparison", "work", "grader", "sweep"))
                rounds: dict[tuple[int, ...], list[int]] = {}
                for at, place in enumerate(zip(*places, strict=True)):
                    rounds.setdefault(place, []).append(at)
                flipped = [ats for ats in rounds.values() if {0, 2} <= {halves[at] for at in ats}]
                for at in (at for ats in flipped if group.kind in PROGRAMS for at in ats):
                    halves[at] = 1
                    moved += 1
                assert as_ties.pairs.halves.tolist() == halves
                assert as_ties.n_counted == as_given.n_counted and len(as_ties.pairs) == len(pairs)
    assert moved, "no judge of these stores contradicts itself, so nothing was shown"
