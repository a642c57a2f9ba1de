"""People grade a drawn share, a judge all: the draw, the joined rates, the judge's bias, and what is said of both."""

from __future__ import annotations

from json import loads
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from sqlalchemy import func, select
from typer.testing import CliRunner

from guildhall.analysis.drawn_studies import (
    MORE_HOURS,
    ONE_MORE_GRADER,
    ONE_MORE_SAMPLE,
    Assumed,
    PlannedWork,
    next_offers,
)
from guildhall.cli.study import app
from guildhall.domain.authors import GraderKind
from guildhall.domain.draws import FEWEST_DRAWN, Planned, draw_pairs
from guildhall.domain.halls import HallDesign, Member, Role
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import Rule
from guildhall.domain.report import WARNING
from guildhall.domain.studies import Study
from guildhall.errors import InputError, NotEnoughData
from guildhall.grading.opening import layout_of
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.reports.text import as_json, markdown
from guildhall.store.hall import seats, slots
from guildhall.study.people import next_best
from guildhall.study.reporting import study_report
from guildhall.study.studies import OpenStudy
from tests.study.shared import Shared, judge_judges, people_judge, shared_study
from tests.study.told import records, rows, section

MODELS = ("alpha", "beta")


def quality(seed: int = 1, tasks: int = 60) -> dict[tuple[str, str], float]:
    rng = Random(seed)
    return {(model, f"t-{number:03d}"): float(rng.random() < 0.5) for model in MODELS for number in range(tasks)}


def joined(shared: Shared) -> dict[str, dict[str, Any]]:
    report = study_report(shared.workspace, shared.study.frozen())
    return {row["model"]: row for row in rows(section(report, "joined").table("joined"))}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """60 tasks, a quarter drawn; the judge calls four of five losses of alpha wins, and is right on beta."""
    shared, truth, rng = shared_study(tmp_path_factory.mktemp("shared"), tasks=60), quality(), Random(4)
    kind = {key: rng.random() < 0.8 for key in truth}
    people_judge(shared, lambda model, task, _: truth[model, task] if rng.random() < 0.9 else 1 - truth[model, task])
    judge_judges(shared, lambda model, task, _: 1.0 if model == "alpha" and kind[model, task] else truth[model, task])
    return shared


def planned(tasks: int = 40, authors: tuple[str, ...] = MODELS) -> list[Planned]:
    return [Planned(f"t-{number}", name, 1) for number in range(tasks) for name in authors]


def test_a_draw_takes_the_same_number_of_each_author_and_a_larger_share_holds_a_smaller_one():
    small, large = (draw_pairs(planned(), share=share, about=["s", 1]) for share in (0.1, 0.3))
    assert [(len(one.pairs), one.chance) for one in small.authors.values()] == [(4, 0.1)] * 2
    assert all(set(small.authors[name].pairs) < set(large.authors[name].pairs) for name in MODELS)
    assert small != draw_pairs(planned(), share=0.1, about=["s", 2])
    assert small == draw_pairs(planned()[::-1], share=0.1, about=["s", 1])


def test_every_pair_is_drawn_as_often_as_its_chance_says():
    times = dict.fromkeys(planned(20), 0)
    for seed in range(600):
        draw = draw_pairs(planned(20), share=0.2, about=["s", seed])
        for work in times:
            times[work] += draw.chance(work) is not None
    shares = np.array(list(times.values())) / 600
    assert shares.mean() == pytest.approx(0.2) and abs(shares - 0.2).max() < 0.075


def test_a_share_so_small_that_an_author_had_none_still_draws_what_an_interval_needs():
    draw = draw_pairs(planned(30), share=0.001, about=["s", 1])
    assert [len(one.pairs) for one in draw.authors.values()] == [FEWEST_DRAWN] * 2
    few = draw_pairs(planned(2), share=0.001, about=["s", 1])
    assert [one.chance for one in few.authors.values()] == [1.0, 1.0]


def test_a_share_is_of_pairs_and_of_named_authors():
    with pytest.raises(ValidationError, match="drawn of pairs"):
        HallDesign(share=0.1, set_size=3)
    nobody = Study(id="s", title="s", seed=1, tasks=("t@1",), design={"format": 2, "people": {"share": 0.1}})
    with pytest.raises(InputError, match="name them"):
        nobody.drawn()


def test_only_drawn_pairs_are_laid_out_for_people_and_the_judge_gets_all(judged: Shared):
    form = judged.study.frozen()
    draw = form.design.draw
    assert draw is not None
    layout = layout_of(judged.workspace, form)
    assert len(layout.comparisons) == sum(len(one.pairs) for one in draw.authors.values()) == 30
    assert {slot.probability for slot in layout.slots} == {0.25} and len(layout.slots) == 60
    assert judged.study.kept is not None and form.key == judged.study.kept.key


def test_work_that_comes_late_or_never_moves_no_draw(judged: Shared, tmp_path: Path):
    late = shared_study(tmp_path, tasks=60, nothing=lambda model, task: task < "t-030")
    assert late.study.frozen().design.draw == judged.study.frozen().design.draw
    drawn = {(c.task) for c in layout_of(late.workspace, late.study.frozen()).comparisons}
    assert drawn <= {c.task for c in layout_of(judged.workspace, judged.study.frozen()).comparisons}


def test_the_report_leads_with_the_joined_rate_and_by_how_much_the_judge_is_too_kind(judged: Shared):
    report = study_report(judged.workspace, judged.study.frozen())
    assert [one.name for one in report.sections][:2] == ["joined", "headline"]
    assert report.conclusions[:3] == section(report, "joined").words[:3]
    found = joined(judged)
    alpha, beta = found["alpha"], found["beta"]
    assert alpha["bias"].value > 0.1 and alpha["bias"].interval[0] > 0, "it gives alpha two of five pairs that it lost"
    assert beta["bias"].interval[0] < 0 < beta["bias"].interval[1]
    assert any("alpha: too kind by" in words for words in report.conclusions)
    assert not any(words.startswith("Departed") for words in report.planned_and_done)
    assert (alpha["drawn"], alpha["graded"], alpha["gradings"], alpha["ungiven"]) == (15, 15, 30, 0)
    assert beta["joined"].half_width < 0.9 * beta["people"].half_width
    assert beta["gradings"] < beta["worth"] <= beta["ceiling"]


def test_people_alone_are_what_the_headline_tells_and_the_judge_alone_what_its_own_report_tells(judged: Shared):
    report = study_report(judged.workspace, judged.study.frozen())
    own = study_report(judged.workspace, judged.study.frozen(), graders="judge:juror")
    headline, alone = ({name: row["half_tie"] for name, row in records(one).items()} for one in (report, own))
    for model, row in joined(judged).items():
        assert row["people"].value == pytest.approx(headline[model].value)
        assert row["judge"] == alone[model]
    assert own.section("joined") is None


def test_a_grading_outside_the_draw_counts_nowhere(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=30), quality()
    people_judge(shared, lambda model, task, _: truth[model, task])
    judge_judges(shared, lambda model, task, _: truth[model, task])
    before = joined(shared)
    more = shared_study(tmp_path / "more", tasks=30, share=0.5)
    people_judge(more, lambda model, task, _: truth[model, task])
    outside = {one.key for one in layout_of(more.workspace, more.study.frozen()).comparisons}
    outside -= {one.key for one in layout_of(shared.workspace, shared.study.frozen()).comparisons}
    for one in more.workspace.store.each(Judgment):
        if one.comparison in outside:
            shared.workspace.store.add(more.workspace.store.get(Comparison, one.comparison))
            shared.workspace.store.add(one)
    report = study_report(shared.workspace, shared.study.frozen())
    assert report.left_out[Rule.SURPLUS] == 2 * len(outside) > 0
    assert joined(shared) == before


def test_a_judge_that_is_constant_moves_nothing_and_its_bias_is_told(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=60), quality()
    people_judge(shared, lambda model, task, _: truth[model, task])
    judge_judges(shared, lambda *_: 1.0)
    for row in joined(shared).values():
        assert row["joined"].value == row["people"].value and row["joined"].interval == row["people"].interval
        assert row["lambda"] == 0 and row["correlation"] is None and row["ceiling"] is None
        assert row["bias"].value == pytest.approx(1 - row["people"].value)


def test_a_judge_that_failed_on_half_drops_no_work(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=60), quality()
    people_judge(shared, lambda model, task, _: truth[model, task])
    judge_judges(shared, lambda model, task, _: truth[model, task] if task < "t-030" else None)
    report = study_report(shared.workspace, shared.study.frozen())
    told = section(report, "joined").table("joined")
    assert any("60 of 120 works have no verdict of juror" in words for words in told.words)
    for row in rows(told):
        assert row["joined"].n_tasks == 60 and row["joined"].n_samples == 60 and row["joined"].interval


def test_tasks_the_judge_cannot_grade_stay_in_through_people_and_are_counted(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=60, web=lambda number: number < 12), quality()
    people_judge(shared, lambda model, task, _: 0.0 if task < "t-012" else truth[model, task])
    judge_judges(shared, lambda model, task, _: truth[model, task])
    report = study_report(shared.workspace, shared.study.frozen())
    told = section(report, "joined").table("joined")
    assert any("24 of 120 works are on tasks that juror cannot grade" in words for words in told.words)
    for row in rows(told):
        assert row["joined"].value < row["judge"].value and abs(row["bias"].value) < 0.005


def test_what_a_rule_decides_is_known_and_weighs_as_much_as_it_is(tmp_path: Path):
    """A third of the work left nothing: a loss by rule, drawn or not; people grade only what there is."""
    truth = quality()
    shared = shared_study(tmp_path, tasks=60, nothing=lambda model, task: int(task[2:]) % 3 == 0)
    people_judge(shared, lambda model, task, _: truth[model, task])
    judge_judges(shared, lambda model, task, _: truth[model, task])
    for model, row in joined(shared).items():
        kept = [value for (name, task), value in truth.items() if name == model and int(task[2:]) % 3]
        assert row["joined"].value == pytest.approx(sum(kept) / 60, abs=2e-3), "the judge is perfect"


def test_gradings_that_are_not_given_are_said_first_and_bounded(tmp_path: Path):
    shared, truth, rng = shared_study(tmp_path, tasks=60), quality(), Random(3)
    people_judge(shared, lambda model, task, _: truth[model, task] if rng.random() < 0.8 else None)
    judge_judges(shared, lambda model, task, _: truth[model, task])
    report = study_report(shared.workspace, shared.study.frozen())
    assert report.conclusions[0].startswith(WARNING) and "were not given" in report.conclusions[0]
    for row in rows(section(report, "joined").table("joined")):
        assert row["gradings"] + row["ungiven"] == 30
        assert row["least"] <= row["joined"].value <= row["most"] and row["least"] < row["most"]


def test_where_everybody_declines_the_report_says_first_that_nothing_is_known_of_the_judge(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=20), quality()
    people_judge(shared, lambda *_: None)
    judge_judges(shared, lambda model, task, _: truth[model, task])
    report = study_report(shared.workspace, shared.study.frozen())
    assert report.conclusions[0] == f"{WARNING}people gave none of their gradings of 10 drawn pairs: " + (
        "nothing is known of how kind or strict juror is."
    )
    assert any(words.startswith("Departed from the plan: graders") for words in report.planned_and_done)


def test_simulated_graders_are_joined_in_a_rehearsal_only_and_every_output_says_so(tmp_path: Path):
    truth = quality()
    for rehearsal in (True, False):
        shared = shared_study(tmp_path / str(rehearsal), tasks=20, rehearsal=rehearsal)
        people_judge(shared, lambda model, task, _: truth[model, task], kind=GraderKind.SIMULATED)
        judge_judges(shared, lambda model, task, _: truth[model, task])
        report = study_report(shared.workspace, shared.study.frozen())
        found = report.section("joined")
        if rehearsal:
            assert found is not None and found.tables
            assert "rehearsal" in markdown(report)[:400].lower() and "rehearsal" in as_json(report)[:2000].lower()
        else:
            assert found is not None and not found.tables


def test_a_share_that_is_changed_after_the_first_judgment_takes_a_reason_and_keeps_every_drawn_pair(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=40), quality()
    people_judge(shared, lambda model, task, _: truth[model, task])
    judge_judges(shared, lambda model, task, _: truth[model, task])
    path = tmp_path / "study.toml"
    path.write_text(path.read_text().replace("share = 0.25", "share = 0.5"))
    with pytest.raises(InputError, match="--changed"):
        OpenStudy.open(path, shared.workspace).freeze()
    with pytest.raises(InputError, match="say why"):
        OpenStudy.open(path, shared.workspace, changed=True).freeze()
    earlier = shared.study.frozen().design.draw
    form = OpenStudy.open(path, shared.workspace, changed=True).freeze(why="the intervals are too wide")
    later = form.design.draw
    assert earlier is not None and later is not None
    assert all(set(earlier.authors[name].pairs) < set(later.authors[name].pairs) for name in MODELS)
    report = study_report(shared.workspace, form)
    assert report.conclusions[0].startswith(WARNING), "the pairs drawn since then wait"
    assert any("the intervals are too wide" in words for words in report.planned_and_done)


def test_two_models_with_equal_verdicts_differ_by_nothing_that_is_shown(tmp_path: Path):
    shared, truth = shared_study(tmp_path, tasks=40), quality()
    people_judge(shared, lambda _, task, __: truth["alpha", task])
    judge_judges(shared, lambda _, task, __: truth["alpha", task])
    report = study_report(shared.workspace, shared.study.frozen())
    [row] = rows(section(report, "joined").table("joined-differences"))
    difference = row["difference"]
    assert difference.value == pytest.approx(0, abs=1e-9)
    assert difference.interval is None or difference.interval[0] <= 0 <= difference.interval[1]


def test_the_plan_stops_on_the_width_of_joined_intervals(tmp_path: Path):
    truth = quality()
    for width, words in ((0.9, "so it stops here"), (0.05, "so it goes on")):
        plan = f'[plan.looks]\nat = [0.5, 1.0]\nstop = "width reached"\nwidth = {width}\n'
        shared = shared_study(tmp_path / str(width), tasks=40, plan=plan)
        people_judge(shared, lambda model, task, number: float((int(task[2:]) + number) % 3 > 0))
        judge_judges(shared, lambda model, task, _: truth[model, task])
        told = section(study_report(shared.workspace, shared.study.frozen()), "joined").table("joined").words
        assert any(words in one for one in told)


def test_a_study_kept_before_there_were_shares_is_the_same_study(tmp_path: Path):
    shared = shared_study(tmp_path, tasks=10, share=1.0)
    design = shared.study.frozen().design.model_dump(mode="json")
    old = {name: what for name, what in design.items() if name not in {"draw", "plan"}}
    old["people"] = {name: what for name, what in old["people"].items() if name != "share"}
    form = shared.study.frozen().but(design=old)
    assert form.drawn() == form and form.design.draw is None
    assert "draw" not in form.design.model_dump(mode="json")
    assert '"share"' not in form.canonical().decode()


def test_every_offer_is_kept_and_a_declined_pair_goes_to_somebody_else(tmp_path: Path):
    shared = shared_study(tmp_path, tasks=12, k=1)
    store, form = shared.workspace.store, shared.study.frozen()
    layout = layout_of(shared.workspace, form)
    store.add_all(layout.comparisons)
    queue = Queue(store)
    queue.plan(layout.slots)
    roster = Roster(store, pepper=b"x")
    people = [
        Member(id=name, code_name=name, role=Role.GRADER, occupations=("Editors", "Actuaries"), quiz_passed=True)
        for name in ("g-1", "g-2")
    ]
    for one in people:
        roster.invite(one, personal={})
    first = queue.claim(people[0], study=form.id, design=form.design.hall, now=0.0)
    assert first is not None
    queue.decline(first.id, "too long", now=1.0)
    offered = set()
    for _ in range(len(layout.slots)):
        seat = queue.claim(people[1], study=form.id, design=form.design.hall.but(held_at_once=50), now=2.0)
        if seat is not None:
            offered.add(seat.slot.id)
    assert first.slot.id in offered
    with store.reading() as connection:
        kept = connection.execute(select(seats.c.state, func.count()).group_by(seats.c.state)).all()
        assert connection.execute(select(func.count()).select_from(slots)).scalar() == len(layout.slots)
    assert {str(state): n for state, n in kept}["declined"] == 1


def card(shared: Shared, table: str, **asked: str) -> dict[str, Any]:
    found = section(study_report(shared.workspace, shared.study.frozen(), **asked), "scorecard")
    return {row["figure"]: row["estimate"] for row in rows(found.table(table))}


def test_every_report_has_a_scorecard_of_each_judge_with_what_it_is_and_left_unsaid(tmp_path: Path):
    shared, truth, rng = shared_study(tmp_path, tasks=40, web=lambda number: number < 4), quality(), Random(5)
    people_judge(shared, lambda model, task, _: truth[model, task] if rng.random() < 0.9 else 1 - truth[model, task])
    judge_judges(shared, lambda model, task, number: 1.0 if number else truth[model, task] if task < "t-030" else None)
    found = section(study_report(shared.workspace, shared.study.frozen()), "scorecard")
    [judge] = rows(found.table("judges"))
    assert (judge["judge"], judge["model"]) == ("judge:juror", "mockllm/juror") and "prompt" in judge["settings"]
    assert judge["failures"] == judge["broken"] == 20, "where one order failed the other is left out with it"
    assert judge["verdicts"] == 2 * 2 * (40 - 4 - 10) and judge["last"] == judge["checked"] == "2026-01-01"
    told, swayed = card(shared, "scorecard"), card(shared, "swayed")
    losses = [truth[model, f"t-{number:03d}"] == 0 for model in MODELS for number in range(4, 30)]
    assert told["verdicts that turn with the sides"].value == pytest.approx(np.mean(losses), abs=0.05)
    assert swayed["score at A less score elsewhere"].interval[0] > 0
    assert (
        told["people's score where it says better"].value
        > told["people's score where it says neither worse nor better"].value
    )
    alone = card(shared, "scorecard", graders="judge:juror")
    assert alone == {"verdicts that turn with the sides": told["verdicts that turn with the sides"]}


def test_a_judge_that_does_not_beat_its_best_constant_is_marked(tmp_path: Path):
    shared, rng = shared_study(tmp_path, tasks=40), Random(6)
    people_judge(shared, lambda *_: float(rng.random() < 0.2))
    judge_judges(shared, lambda *_: float(rng.random() < 0.5))
    found = section(study_report(shared.workspace, shared.study.frozen()), "scorecard")
    assert found.words[0].startswith(f"{WARNING}judge:juror agrees with people less often than always-human")
    told = card(shared, "scorecard")
    assert told["always-human agrees with people"].value > told["agrees with people"].value


def test_next_says_what_one_graders_hours_would_do_and_one_more_of_few_graders_who_differ_is_best(judged: Shared):
    offers, occupation, assumed = next_best(judged.study)
    assert {one.what for one in offers} == {ONE_MORE_GRADER, MORE_HOURS, ONE_MORE_SAMPLE}
    afters = [one.after for one in offers if one.after is not None]
    assert afters == sorted(afters) and "pilot" in assumed.source
    assert {one.gradings for one in offers} == {5} and offers[0].hours == pytest.approx(5 * 109 / 60)
    assert occupation is not None and occupation[0] in {"Editors", "Actuaries"} and 0 < occupation[1] < 1
    path = judged.workspace.path / "study.toml"
    ran = CliRunner().invoke(app, ["next", str(path), "--workspace", str(judged.workspace.path), "--json"])
    assert ran.exit_code == 0 and [one["what"] for one in loads(ran.output)["offers"]] == [one.what for one in offers]
    few = PlannedWork(tasks=120, samples=2, graders_per_set=2, minutes=60)
    differ = next_offers(few, Assumed(severity=1.0), graders=4, gradings=120, draws=12)
    assert differ[0].what == ONE_MORE_GRADER and (differ[0].narrower_per_hour or 0) > 0
    alone = next_offers(few, Assumed(), graders=2, gradings=80, draws=8)
    assert alone[0].what == ONE_MORE_GRADER and alone[0].before is None, "two graders are no sample of graders"


def test_next_refuses_a_study_of_which_too_little_was_judged(tmp_path: Path):
    shared = shared_study(tmp_path, tasks=12)
    people_judge(shared, lambda *_: 1.0)
    with pytest.raises(NotEnoughData, match="fewer than 30 gradings"):
        next_best(shared.study)
