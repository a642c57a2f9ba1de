"""From judgments to a written report: a small hall of simulated graders, judged, counted and shown."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from guildhall.analysis.counting import LOOKED_AT, Counted
from guildhall.analysis.counting import count as counted_by
from guildhall.analysis.pairs import NOT_ASKED, is_word
from guildhall.analysis.ranks import differences
from guildhall.analysis.savings_files import read_savings
from guildhall.analysis.spreads import LIKE_THESE, THESE
from guildhall.documents.looking import Documents
from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.design import Design, Plan, PlanChoices
from guildhall.domain.halls import GoldItem
from guildhall.domain.judgments import BlindGuess, Comparison, Judgment
from guildhall.domain.policy import GraderGroup, Policy, Rule
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.tasks import Task
from guildhall.errors import NothingJudged
from guildhall.grading.design import expert_submission
from guildhall.grading.gold import gold_comparison
from guildhall.grading.opening import open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.policy import count_groups, policies_of
from guildhall.study.reporting import methods_of, study_report, write_study_report
from tests.study.made import judged_study
from tests.study.told import outcomes, rows, section

SECTORS = ("Information", "Government")
SPENT: dict[str, Any] = {"confidence": 80, "seconds": 90.0, "usage": Usage(cost_usd=0.5)}
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def task(number: int) -> Task:
    return Task(
        id=f"t-{number}",
        sector=SECTORS[number % 2],
        occupation="Editors",
        brief="Write a note.",
        expert_text="A careful note.",
        expert_hours=1 + number,
        hourly_wage_usd=50 + number,
    )


@pytest.fixture
def study(workspace: Workspace) -> Study:
    """Eight tasks, two models, text only: nothing needs to be rendered."""
    tasks = [task(number) for number in range(8)]
    workspace.store.add_all(tasks)
    for one in tasks:
        for name in ("alpha", "beta"):
            author = ModelRun(name=name, model=f"scripted/{name}")
            workspace.store.add(Submission(task=one.id, author=author, text=f"A note by {name}.", **SPENT))
    design = {"people": {"simulated_graders": 3, "exposure_limit": 2, "minimum_reason_words": 0}}
    made = Study(id="s", title="A small study", seed=3, tasks=tuple(one.key for one in tasks), design=design)
    workspace.store.add(made)
    return made


def judge_all(workspace: Workspace, study: Study) -> int:
    preparer = Preparer(workspace, cast("Documents", None))  # there are no files to look at
    open_hall(workspace, study, preparer)
    ticks = count(1_700_000_000)
    return simulate_hall(workspace, study, study.design.hall, clock=lambda: float(next(ticks))).judgments


def test_a_simulated_study_is_judged_counted_and_reported(workspace: Workspace, study: Study, tmp_path: Path) -> None:
    assert judge_all(workspace, study) == 8 * 2 * 3
    report = write_study_report(workspace, study, tmp_path / "report")
    assert "simulated" in report.warnings[0] and report.counts["judgments"] == 48
    assert set(report.rates) == {"alpha", "beta"}
    assert all(sum(told) == 24 for told in outcomes(report).values())
    assert "By sector" in {table.title for table in section(report, "breakdowns").tables}
    titles = {one.title for one in report.sections}
    assert {"Agreement between graders", "Agreement beyond chance", "Did the blind hold?"} <= titles
    confidence = rows(section(report, "calibration").table("confidence"))
    assert {one["model"] for one in confidence} == {"alpha", "beta"}
    assert all(one["brier"].n_samples == 8 for one in confidence), "each deliverable counts once"
    for name in ("report.html", "report.md", "report.json", "report.xlsx", "headline.csv", "judgments.csv"):
        assert (tmp_path / "report" / name).stat().st_size > 100
    assert len((tmp_path / "report" / "judgments.csv").read_text().splitlines()) == 1 + 48


def policy(graders: str) -> Policy:
    return Policy(studies=("s",), baseline="expert", graders=GraderGroup.parse(graders))


def counted(workspace: Workspace, graders: str = "expert") -> Counted:
    one = Study(id="s", title="One pair", seed=1, tasks=(task(0).key,))
    verdicts = read_verdicts(workspace.store, [one.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    return counted_by(verdicts, policies_of(workspace, one, verdicts)[GraderGroup.parse(graders)])


def test_the_methods_are_told_from_the_frozen_design(workspace: Workspace, study: Study) -> None:
    strict = {"set_size": 2, "graders_per_set": 5, "exposure_limit": 2, "quiz_required": True, "adjudicate": True}
    run = ModelRun(name="alpha", model="scripted/alpha", settings={"reasoning_effort": "high"}, tools="code")
    samples = (run, run.model_copy(update={"sample": 2}))
    frozen = study.model_copy(update={"authors": samples, "design": Design.model_validate({"people": strict})})
    told = methods_of(frozen, [task(0), task(1)], policy=policy("expert"), models=["alpha"])
    words = " ".join(told)
    for fact in ('settings {"reasoning_effort":"high"}', "tools: code", "2 samples a task", "5 graders judge each set"):
        assert fact in words
    assert "meets a task twice at most" in words and "pass a quiz" in words and "one more is asked" in words
    assert "own files" not in words
    handed = frozen.model_copy(update={"design": Design.model_validate({"people": strict | {"originals": True}})})
    told = methods_of(handed, [task(0)], policy=policy("expert"), models=["alpha"])
    assert "handed the makers' own files, cleaned" in " ".join(told) and "docx 1.00" in " ".join(told)
    program = methods_of(frozen, [task(0)], policy=policy("judge:judge"), models=["alpha"])
    assert "The judge is a program." in " ".join(program) and "quiz" not in " ".join(program)


def test_running_the_graders_again_adds_nothing(workspace: Workspace, study: Study) -> None:
    judge_all(workspace, study)
    assert judge_all(workspace, study) == 0


def test_the_report_is_the_same_bytes_twice(workspace: Workspace, study: Study, tmp_path: Path) -> None:
    judge_all(workspace, study)
    for name in ("a", "b"):
        write_study_report(workspace, study, tmp_path / name)
    first = {path.relative_to(tmp_path / "a"): path.read_bytes() for path in (tmp_path / "a").rglob("*.*")}
    assert len(first) > 12
    assert first == {path.relative_to(tmp_path / "b"): path.read_bytes() for path in (tmp_path / "b").rglob("*.*")}
    properties = zipfile.ZipFile(tmp_path / "a" / "report.xlsx").read("docProps/core.xml").decode()
    assert f"{datetime.now(UTC):%Y-}" not in properties, "the hour of writing is not in it"


def test_nothing_judged_is_an_error_and_not_a_row_of_zeros(workspace: Workspace, study: Study) -> None:
    with pytest.raises(NothingJudged):
        study_report(workspace, study)


def with_plan(study: Study, **chosen: Any) -> Study:
    """A later form of the study, analysed as the plan says."""
    plan = Plan.filled(PlanChoices.model_validate(chosen), study.design, authors=["alpha", "beta"])
    return study.model_copy(update={"design": study.design.model_copy(update={"format": 2, "plan": plan})})


def estimates_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "estimand" in value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from estimates_in(inner)


def test_every_interval_of_a_report_is_at_the_level_of_the_plan(workspace: Workspace, study: Study) -> None:
    judge_all(workspace, study)
    wide = study_report(workspace, with_plan(study, level=0.95)).model_dump(mode="json")
    told = study_report(workspace, with_plan(study, level=0.8)).model_dump(mode="json")
    narrow = list(estimates_in(told))
    assert len(narrow) > 50
    assert not [one["estimand"] for one in narrow if one["interval"] and one["level"] != 0.8]
    widths = [(one["interval"], other["interval"]) for one, other in zip(narrow, estimates_in(wide), strict=True)]
    assert all(a[1] - a[0] <= b[1] - b[0] for a, b in widths if a and b)
    assert "95 %" not in json.dumps(told["sections"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        ({"figure": "share of ties", "above": 0.9}, "sleepy"),
        ({"figure": "share on A", "above": 0.9}, "lefty"),
        ({"figure": "share on A", "above": 0.9, "from_judgments": 9}, None),
        ({"figure": "median minutes", "below": 1.0}, "hasty"),
        ({"figure": "known answers right", "below": 0.5}, "wrong"),
    ],
)
def test_graders_whom_a_rule_of_the_plan_leaves_out_are_counted_under_it(
    workspace: Workspace, study: Study, rule: dict[str, Any], taken: str | None
) -> None:
    says: dict[str, tuple[tuple[int, int], ...]] = {
        "careful": ((1, 2), (2, 1)) * 4,
        "sleepy": ((1, 1),) * 8,
        "lefty": ((1, 2),) * 8,
        "hasty": ((2, 1), (1, 2)) * 4,
        "wrong": ((2, 1), (1, 2)) * 4,
    }
    items = []
    for number, key in enumerate(study.tasks):
        expert = expert_submission(workspace.store.get(Task, key))
        made = Submission(task=key.id, author=ModelRun(name="alpha", model="scripted/alpha"), text=f"{number}")
        assert expert is not None
        items.append(GoldItem(task=key.id, better=expert.key, worse=made.key, explanation="The note is whole."))
        real = Comparison(study="s", task=key.id, submissions=(expert.key, made.key))
        check = gold_comparison("s", items[-1])
        workspace.store.add_all([expert, made, real, check])
        for name, ranks in says.items():
            common = {"grader": Person(code_name=name), "order": (expert.key, made.key), "made_at": MOMENT}
            answers = {"ranks": ranks[number], "active_s": 20 if name == "hasty" else 300}
            known = {"ranks": (2, 1) if name == "wrong" else (1, 2)}
            workspace.store.add(Judgment.model_validate({"comparison": real.key, **common, **answers}))
            workspace.store.add(Judgment.model_validate({"comparison": check.key, **common, **known}))
    hall = study.design.people.model_copy(update={"gold": tuple(items)}) if study.design.people else None
    checked = study.model_copy(update={"design": study.design.model_copy(update={"people": hall})})
    form = with_plan(checked, excluded=[rule])
    verdicts = read_verdicts(workspace.store, [form.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    found = next(count_groups(workspace, form, verdicts))
    assert found.policy.excluded == (() if taken is None else (f"person:{taken}",))
    assert found.left_out[Rule.EXCLUDED_GRADER] == (0 if taken is None else 8) and found.n_judgments == 40
    report = study_report(workspace, form)
    assert report.policy.excluded == found.policy.excluded


def pair(workspace: Workspace) -> tuple[Comparison, str, str]:
    one = task(0)
    expert = expert_submission(one)
    assert expert is not None
    model = Submission(task=one.id, author=ModelRun(name="alpha", model="scripted/alpha"), text="x")
    workspace.store.add_all([one, expert, model])
    comparison = Comparison(study="s", task=one.id, submissions=(expert.key, model.key))
    workspace.store.add(comparison)
    return comparison, expert.key, model.key


def test_failures_surplus_and_replaced_judgments_are_counted_and_left_out(workspace: Workspace) -> None:
    comparison, expert, model = pair(workspace)

    def judgment(name: str, **facts: object) -> Judgment:
        base = {
            "comparison": comparison.key,
            "grader": Person(code_name=name),
            "order": (model, expert),
            "made_at": MOMENT,
        }
        return Judgment.model_validate(base | facts)

    first = judgment("g-1", ranks=(1, 2), guess=BlindGuess.B)
    amended = judgment("g-1", ranks=(2, 1), replaces=first.key)
    failed = judgment("g-2", failure="refused")
    late = judgment("g-3", ranks=(1, 2), planned=False)
    workspace.store.add_all([first, amended, failed, late])
    found = counted(workspace)
    left_out = {rule: n for rule, n in found.left_out.items() if n}
    assert left_out == {Rule.REPLACED: 1, Rule.SURPLUS: 1, Rule.NO_VERDICT: 1}
    assert (found.n_counted, found.n_judgments) == (1, 4)
    pairs = found.pairs
    assert (pairs.score.tolist(), pairs.model_place.tolist(), pairs.guess.tolist()) == ([0.0], [0], [NOT_ASKED])


def test_a_guess_is_right_when_it_names_the_baseline(workspace: Workspace) -> None:
    comparison, expert, model = pair(workspace)
    for number, (guess, expected) in enumerate([(BlindGuess.B, 1), (BlindGuess.A, -1), (BlindGuess.CANNOT_TELL, 0)]):
        grader = Person(code_name=f"g-{number}")
        workspace.store.add(
            Judgment(
                comparison=comparison.key,
                grader=grader,
                order=(model, expert),
                ranks=(1, 2),
                guess=guess,
                made_at=MOMENT,
            )
        )
        pairs = counted(workspace).pairs
        assert pairs.guess[is_word(pairs.grader, grader.code_name)] == [expected]


def test_hours_fall_into_the_papers_bins(workspace: Workspace, study: Study) -> None:
    judge_all(workspace, study)
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    pairs = next(count_groups(workspace, study, verdicts)).pairs
    hours = pairs.columns["hours"]
    seen = {pairs.task.names[task]: hours.names[code] for task, code in zip(pairs.task.codes, hours.codes, strict=True)}
    assert (seen["t-0"], seen["t-1"], seen["t-3"], seen["t-7"]) == ("0-2 h", "2-4 h", "4-8 h", "8 h and more")


def test_speed_and_cost_come_from_the_studys_own_hours_wages_times_and_prices(
    workspace: Workspace, study: Study, tmp_path: Path
) -> None:
    judge_all(workspace, study)
    report = write_study_report(workspace, study, tmp_path / "report")
    found = section(report, "savings")
    assert "w = win" in found.words[0]
    speed, cost = ({row["model"]: row for row in rows(found.table(f"savings-{one}"))} for one in ("speed", "cost"))
    alpha = speed["alpha"]
    assert alpha["n_tasks"] == 8 and alpha["w"] == report.rates["alpha"]["win"], "a report has one value of `win`"
    # 4.5 hours on average against a minute and a half; 243 dollars against half a dollar.
    assert alpha["naive"].value == pytest.approx(4.5 * 60 / 1.5)
    wages = sum((1 + number) * (50 + number) for number in range(8)) / 8
    assert cost["alpha"]["naive"].value == pytest.approx(wages / 0.5)
    again = read_savings(tmp_path / "report" / "tasks-and-models.csv", tries=(1, 2, 3), seed=study.seed)
    [same] = [one for one in again if one.model == "alpha"]
    assert same.speed is not None and same.speed.try_once.value == pytest.approx(alpha["try_once"].value)
    assert "w = win" in (tmp_path / "report" / "report.md").read_text()


def test_the_plans_target_decides_whether_graders_are_a_sample(workspace: Workspace) -> None:
    rng = np.random.default_rng(0)
    scores = {name: [rng.choice([0.0, 1.0], size=4).tolist() for _ in range(30)] for name in ("alpha", "beta")}
    design = Design.model_validate({"format": 2, "people": {"graders_per_set": 4}})
    for target in (LIKE_THESE, THESE):
        plan = design.planned(PlanChoices.model_validate({"target": target}), authors=["alpha", "beta"])
        one = judged_study(workspace, f"s-{target[:4]}", scores, design=dict(plan))
        evidence = read_evidence(workspace, one, needs=())
        assert {rate.half_tie.target for rate in evidence.rates} == {target}
        assert all(("as planned" in rate.half_tie.method) == (target == THESE) for rate in evidence.rates)
        assert differences(evidence.counted.outcomes).between("alpha", "beta").target == target
    left_out = section(study_report(workspace, one), "without-one-grader").table("without-one-grader")
    assert [row["model"] for row in rows(left_out)] and all(
        row["least"] <= row["half_tie"] <= row["greatest"] for row in rows(left_out)
    )


def test_without_a_models_seconds_there_is_no_chapter_on_savings(workspace: Workspace) -> None:
    comparison, expert, model = pair(workspace)
    grader = Person(code_name="g-1")
    made = Judgment(comparison=comparison.key, grader=grader, order=(model, expert), ranks=(1, 2), made_at=MOMENT)
    workspace.store.add(made)
    one = Study(id="s", title="One pair", seed=1, tasks=(task(0).key,))
    assert study_report(workspace, one).section("savings") is None
