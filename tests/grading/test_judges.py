"""Automatic judges on a study whose truth is known: every verdict kept, every failure counted, no author ever shown."""

from __future__ import annotations

import pytest

from guildhall.analysis.accountability import Account
from guildhall.domain.judges import PanelPlan
from guildhall.domain.judgments import Judgment
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.grading.judges.asking import Kept, orders
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel, ByPanel, seated
from guildhall.grading.judges.queue import judge, standing
from guildhall.grading.judges.verdicts import AskingOutcome
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from guildhall.study.accounting import account_of
from guildhall.study.judge_rows import JudgedWork
from tests.grading.scripted_judges import (
    LIKES_KIN,
    LIKES_LONGER,
    SECRETS,
    SEEN,
    TextPreparer,
    World,
    judge_plan,
    world,
)

TERMS = Terms(run="judging")


def desk(workspace: Workspace, made: World) -> JudgeDesk:
    return JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]


def run(
    workspace: Workspace, made: World, grader: AutomaticGrader, *, sweeps: int = 3, again: bool = False, terms=TERMS
) -> AskingOutcome:
    return judge(grader, made.comparisons, desk=desk(workspace, made), terms=terms, sweeps=sweeps, again=again)


def work(workspace: Workspace, made: World) -> JudgedWork:
    return JudgedWork(workspace, made.study, made.makers, {"kin": "plum", "perfect": "plum"})


def rows(workspace: Workspace, made: World):
    """Everything that counts, by people and by programs."""
    known = work(workspace, made)
    return [row for group in known.groups for row in known.rows(known.counted(group))]


def held(workspace: Workspace, made: World, name: str, *, sweeps: int = 1) -> Account:
    run(workspace, made, ByModel(judge_plan(name)), sweeps=sweeps)
    return account_of(work(workspace, made), name, level=0.99)


def within(measured, truth: float) -> bool:
    return measured.interval is not None and measured.interval[0] <= truth <= measured.interval[1]


def test_each_order_of_each_sweep_is_one_stored_verdict(workspace):
    made = world(workspace, tasks=2)
    ended = run(workspace, made, ByModel(judge_plan("perfect")))
    kept = [one for one in workspace.store.find(Judgment) if not one.grader.key.startswith("person:")]
    assert ended.verdicts == len(kept) == 2 * 2 * 2 * 3
    places = {(one.comparison, one.order, one.sweep) for one in kept}
    assert len(places) == len(kept)
    assert {one.order for one in kept} == {order for pair in made.comparisons for order in orders(pair)}


def test_asking_again_asks_for_nothing_and_costs_nothing(workspace):
    made = world(workspace, tasks=2)
    run(workspace, made, ByModel(judge_plan("perfect")))
    before = Ledger(workspace.store).spent().usage.calls
    assert run(workspace, made, ByModel(judge_plan("perfect"))) == AskingOutcome()
    assert Ledger(workspace.store).spent().usage.calls == before


def test_no_request_holds_an_author(workspace):
    SEEN.clear()
    made = world(workspace, tasks=3)
    run(workspace, made, ByModel(judge_plan("perfect")), sweeps=1)
    assert len(SEEN) == 12
    for request in SEEN:
        assert not [secret for secret in SECRETS if secret in request]


def test_a_limit_leaves_the_rest_for_the_next_run(workspace):
    made = world(workspace, tasks=3)
    tight = Terms(run="judging", limits=Limits(run_tokens=5000), pace=Pace(connections=1))
    ended = run(workspace, made, ByModel(judge_plan("perfect")), terms=tight)
    assert ended.left and "tokens" in str(ended.why_left)
    rest = run(workspace, made, ByModel(judge_plan("perfect")))
    assert ended.verdicts + rest.verdicts == 36 and not rest.left


def test_failures_are_kept_counted_and_judged_again(workspace):
    made = world(workspace, tasks=20)
    grader = ByModel(judge_plan("malformed"))
    ended = run(workspace, made, grader, sweeps=1)
    assert ended.failures > 0 and ended.verdicts + ended.failures == 80
    assert run(workspace, made, grader, sweeps=1) == AskingOutcome(), "failures are not asked again unless one says so"
    left = ended.failures
    while left:
        left = run(workspace, made, grader, sweeps=1, again=True).failures
    now = standing(workspace.store, grader, made.comparisons, sweeps=1)
    assert (now.verdicts, now.failures, now.to_do) == (80, 0, 0)
    failed = workspace.store.find(Judgment, failed=True)
    assert len(failed) >= ended.failures and all("unreadable" in str(one.failure) for one in failed)
    assert all(row.score is not None for row in rows(workspace, made)), "replaced failures are out of the rows"


def test_a_perfect_judge_is_found_unbiased_and_above_the_constants(workspace):
    found = held(workspace, world(workspace, tasks=30), "perfect")
    assert found.agreement is not None and found.agreement.constant is not None
    assert found.agreement.constant.beaten
    assert found.first_place.value == 0.5 and found.flips.value == 0.0
    assert found.coverage.verdicts == found.coverage.asked == 120


def test_an_always_a_judge_is_found_out(workspace):
    found = held(workspace, world(workspace, tasks=20), "always-a")
    assert found.first_place.value == 1.0 and within(found.first_place, 1.0)
    assert found.position.value == pytest.approx(1.0) and found.flips.value == 1.0
    assert found.agreement is not None and found.agreement.constant is not None
    assert not found.agreement.constant.beaten


def test_a_judge_that_likes_length_is_found_out(workspace):
    found = held(workspace, world(workspace, tasks=40), "longer")
    assert within(found.longer, LIKES_LONGER) and not within(found.longer_of_people, LIKES_LONGER)
    assert found.length.interval is not None and found.length.interval[0] > 0


def test_a_judge_that_favours_its_family_is_found_out(workspace):
    made = world(workspace, tasks=50)
    found = held(workspace, made, "kin")
    # Merits are drawn alike for everybody, so that a model's fair score is 0.5, and favour lifts its family from there.
    assert within(found.kin, LIKES_KIN * 0.5)
    assert within(held(workspace, made, "perfect").kin, 0.0)


def test_refusals_drop_their_round_and_both_denominators_are_told(workspace):
    made = world(workspace, tasks=40)
    found = held(workspace, made, "refuses")
    refused = found.coverage.failures["refused"]
    assert found.coverage.asked == 160 and found.coverage.verdicts == 160 - refused
    mine = [row for row in rows(workspace, made) if row.grader == "refuses"]
    assert len(mine) == found.coverage.verdicts - found.coverage.left_out_with_them
    assert len(mine) % 2 == 0 and found.coverage.left_out_with_them > 0


def test_a_random_judge_agrees_with_itself_as_often_as_a_coin(workspace):
    found = held(workspace, world(workspace, tasks=40), "random", sweeps=3)
    assert within(found.reliability, 0.5) and within(found.first_place, 0.5)


def test_baselines_judge_everything_once_and_tell_no_lies(workspace):
    made = world(workspace, tasks=4)
    for name in BASELINES:
        ended = run(workspace, made, ByBaseline(name))
        assert ended.verdicts == 16 and run(workspace, made, ByBaseline(name)) == AskingOutcome()
    found = rows(workspace, made)
    assert {row.score for row in found if row.grader == "always-human"} == {0.0}
    assert {row.score for row in found if row.grader == "always-tie"} == {0.5}


def test_a_panel_votes_and_its_members_are_not_asked_twice(workspace):
    made = world(workspace, tasks=3)
    members = (judge_plan("perfect"), judge_plan("always-a"), judge_plan("longer"))
    run(workspace, made, ByModel(members[0]), sweeps=1)
    calls = Ledger(workspace.store).spent().usage.calls
    panel = ByPanel(PanelPlan(name="panel", members=members))
    ended = run(workspace, made, panel, sweeps=1)
    assert ended.verdicts == 12 and Ledger(workspace.store).spent().usage.calls == calls + 24
    verdicts = workspace.store.find(Judgment, grader=panel.plan.grader.key)
    assert len(verdicts) == 12 and run(workspace, made, panel, sweeps=1) == AskingOutcome()


def test_a_panel_draws_by_seed_and_routes_recordings(workspace):
    made = world(workspace, tasks=10)
    members = (*(judge_plan(name) for name in ("perfect", "random", "longer")), judge_plan("kin", takes=("audio",)))
    panel = PanelPlan(name="panel", members=members, draw=2)
    drawn = [seated(panel, one, 1, set()) for one in made.comparisons]
    assert all(len(two) == 2 for two in drawn) and len({tuple(m.name for m in two) for two in drawn}) > 2
    assert drawn == [seated(panel, one, 1, set()) for one in made.comparisons]
    assert [member.name for member in seated(panel, made.comparisons[0], 1, {"audio"})] == ["kin"]


def test_a_weighty_member_outvotes_two(workspace):
    made = world(workspace, tasks=4)
    members = (judge_plan("perfect"), judge_plan("always-a"), judge_plan("random"))
    panel = ByPanel(PanelPlan(name="panel", members=members, weights={"perfect": 5.0}))
    run(workspace, made, panel, sweeps=1)
    by_place = {(row.sample, row.shown_first): row.score for row in rows(workspace, made) if row.grader == "perfect"}
    for row in rows(workspace, made):
        if row.grader == "panel" and by_place[row.sample, row.shown_first] != 0.5:
            assert row.score == by_place[row.sample, row.shown_first]


def test_kept_verdicts_are_found_by_place(workspace):
    made = world(workspace, tasks=1)
    grader = ByModel(judge_plan("perfect"))
    run(workspace, made, grader, sweeps=2)
    kept = Kept(workspace.store, grader.graders())
    assert len(list(kept.missing(made.comparisons, sweeps=3, again=False))) == 4
