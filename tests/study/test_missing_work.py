"""Work that is missing is said to be: losses by rule, a flow table, bounds, and no winner among survivors."""

from __future__ import annotations

import polars as pl
import pytest
from proofs.missing_grades import LOST, walk

from guildhall.analysis.missing import filled, missing_grades, tipping_point
from guildhall.analysis.outcomes import LOSS, WIN
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.authors import ModelRun
from guildhall.domain.design import Design, PlanChoices
from guildhall.domain.policy import MissingRule
from guildhall.domain.studies import Study
from guildhall.domain.submissions import StopReason, Submission
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.exports import exported
from guildhall.study.reporting import study_report
from tests.study.made import Scores, judged_study, task
from tests.study.told import section

WON, NONE_WON = [1.0, 1.0], [0.0, 0.0]


def planned(rule: MissingRule | None = None, **people: int) -> dict[str, object]:
    """A design with a plan, for two graders a set."""
    design = Design.model_validate({"format": 2, "people": {"graders_per_set": 2, **people}})
    chosen = PlanChoices(missing=rule or MissingRule())
    return dict(design.planned(chosen, authors=["alpha", "beta"]))


def study_of(workspace: Workspace, scores: Scores, *, rule: MissingRule | None = None, tasks: int = 20) -> Study:
    made = [task(number) for number in range(tasks)]
    return judged_study(workspace, "s", scores, tasks=made, design=planned(rule))


def left_nothing(workspace: Workspace, model: str, tasks: range, stop: StopReason, text: str = "") -> None:
    author = ModelRun(name=model, model=f"made/{model}")
    workspace.store.add_all([Submission(task=f"t-{number}", author=author, stop=stop, text=text) for number in tasks])


def rates(workspace: Workspace, study: Study) -> dict[str, float | None]:
    return {one.model: one.half_tie.value for one in read_evidence(workspace, study, needs=()).rates}


def test_a_survivor_is_not_told_to_be_the_best(workspace: Workspace) -> None:
    """`beta` delivers the 12 tasks it does well; `alpha` delivers all 20, and does better on each of those 12."""
    scores = {"alpha": [WON] * 12 + [NONE_WON] * 8, "beta": ([WON] * 9 + [NONE_WON] * 3)}
    study = study_of(workspace, scores)
    said = " ".join(section(study_report(workspace, study), "missing").words)
    assert "beta has outcomes on 12 of the 20 tasks that other models have" in said
    assert "On the 12 tasks common to all models: alpha 100.0 %, beta 75.0 %." in said
    told = " ".join(study_report(workspace, study).conclusions)
    assert "beta does best" not in told and "alpha may be the best" not in told
    assert "may each be the best of 2 models" in told or "alpha does best of 2 models" in told


def test_work_that_left_nothing_is_a_loss_and_nobody_judged_it(workspace: Workspace) -> None:
    study = study_of(workspace, {"alpha": [WON] * 20, "beta": [WON] * 12})
    left_nothing(workspace, "beta", range(12, 18), StopReason.NOTHING_DELIVERED, "See note.docx.")
    left_nothing(workspace, "beta", range(18, 20), StopReason.REFUSED, "I will not.")
    assert rates(workspace, study) == {"alpha": 1.0, "beta": pytest.approx(12 / 20)}
    report = study_report(workspace, study)
    told = section(report, "missing")
    assert (
        "beta: 8 of its works were decided by rule and shown to nobody (6 nothing delivered, 2 refused)." in told.words
    )
    flow = {row[0]: row[1:] for row in told.table("flow").rows}
    assert flow["beta"] == (20, 20, 0, 12, 8, 12, 12, 12, 12, 0)
    assert report.counts["judgments"] == 2 * (20 + 12)
    evidence = read_evidence(workspace, study, needs=())
    assert len(evidence.pairs) == 2 * (20 + 12), "a loss by rule enters neither agreement nor severity"
    assert "Departed from the plan" not in " ".join(report.planned_and_done)


def test_a_text_without_a_file_goes_to_graders_and_a_fault_of_ours_is_missing(workspace: Workspace) -> None:
    study = study_of(workspace, {"alpha": [WON] * 20, "beta": [WON] * 12})
    left_nothing(workspace, "beta", range(12, 14), StopReason.TIME_LIMIT, "As far as I came.")
    left_nothing(workspace, "beta", range(14, 16), StopReason.PROVIDER_FAILED)
    assert rates(workspace, study)["beta"] == 1.0
    rows = {row[0]: row for row in section(study_report(workspace, study), "missing").table("missing").rows}
    assert rows["beta"][1] == 2 * 4
    low, high = (one.value for one in rows["beta"][5:7])  # type: ignore[union-attr]
    assert (low, high) == (pytest.approx(12 / 16), 1.0)


def test_the_rule_of_the_plan_may_call_it_missing(workspace: Workspace) -> None:
    rule = MissingRule(nothing_delivered="missing")
    study = study_of(workspace, {"alpha": [WON] * 20, "beta": [WON] * 12}, rule=rule)
    left_nothing(workspace, "beta", range(12, 20), StopReason.NOTHING_DELIVERED)
    assert rates(workspace, study)["beta"] == 1.0


def test_a_study_without_a_plan_stays_as_its_graders_saw_it(workspace: Workspace) -> None:
    tasks = [task(number) for number in range(20)]
    study = judged_study(workspace, "s", {"alpha": [WON] * 20, "beta": [WON] * 12}, tasks=tasks)
    left_nothing(workspace, "beta", range(12, 20), StopReason.NOTHING_DELIVERED)
    assert rates(workspace, study)["beta"] == 1.0


def test_losses_by_rule_do_not_run_ahead_of_the_grading(workspace: Workspace) -> None:
    """Of 20 tasks `alpha` is judged on 4; `beta` left nothing on the last 8, where alpha's work still waits."""
    study = study_of(workspace, {"alpha": [WON] * 4, "beta": [WON] * 4})
    author = ModelRun(name="alpha", model="made/alpha")
    workspace.store.add_all([Submission(task=f"t-{n}", author=author, text="A note.") for n in range(4, 20)])
    left_nothing(workspace, "beta", range(12, 20), StopReason.NOTHING_DELIVERED)
    assert rates(workspace, study)["beta"] == 1.0


def test_rows_that_are_handed_out_give_the_report_again(workspace: Workspace) -> None:
    study = study_of(workspace, {"alpha": [WON] * 20, "beta": [WON] * 12})
    left_nothing(workspace, "beta", range(12, 20), StopReason.REFUSED)
    rows = pl.read_csv(exported(workspace, study, "csv").content)
    ruled = rows.filter(pl.col("by_rule") == "refused")
    assert len(ruled) == 8 and ruled["grader"].null_count() == 8 and ruled["score"].sum() == 0


def test_rows_of_a_blind_study_tell_no_settings_and_nothing_an_author_said(workspace: Workspace) -> None:
    """Work that a rule decides stands in rows of its own, and what an author said of it is alike in every study."""
    study = study_of(workspace, {"alpha": [WON] * 20, "beta": [WON] * 12})
    author = ModelRun(name="beta", model="made/beta")
    left = [Submission(task=f"t-{n}", author=author, stop=StopReason.REFUSED, confidence=83) for n in range(12, 20)]
    workspace.store.add_all(left)
    rows = pl.read_csv(exported(workspace, study, "csv").content)
    assert rows["by_rule"].null_count() == len(rows) - 8
    for name in ("condition", "effort", "confidence"):
        assert rows[name].null_count() == len(rows), name


def test_between_the_bounds_lies_what_all_grades_would_have_given(workspace: Workspace) -> None:
    """Grades go missing because they are losses: the plain rate is far off, and the bounds still hold the truth."""
    whole = [WON] * 8 + [NONE_WON] * 12
    study = study_of(workspace, {"alpha": whole[:14], "beta": [[1.0]] * 8 + [[0.0]] * 12})
    counted = read_evidence(workspace, study, needs=()).counted
    author = ModelRun(name="alpha", model="made/alpha")
    workspace.store.add_all([Submission(task=f"t-{n}", author=author, text="A note.") for n in range(14, 20)])
    counted = read_evidence(workspace, study, needs=()).counted
    assert counted.attempted is not None
    lacking = missing_grades(counted.attempted, counted.pairs, wanted=2)
    assert dict(lacking.group_by("model").agg(pl.col("lacking").sum()).iter_rows()) == {"alpha": 12, "beta": 20}
    low, high = (
        {one.model: one.half_tie.value or 0 for one in win_rates(filled(counted.outcomes, lacking, halves=end))}
        for end in (LOSS, WIN)
    )
    assert low["alpha"] == pytest.approx(8 / 20) and high["alpha"] == pytest.approx(14 / 20)
    assert low["alpha"] <= 8 / 20 <= high["alpha"] < 8 / 14 + 0.2
    assert low["beta"] <= 8 / 20 <= high["beta"]


@pytest.mark.parametrize("why", LOST)
def test_worst_case_bounds_hold_whatever_made_grades_missing(why: str) -> None:
    found = walk(LOST[why], runs=5, seed=7)
    assert found["rate_of_all_grades_between_the_bounds"] == 5
    assert found["true_rate_within_the_bounds_intervals"] == 1.0


def test_the_tipping_point_is_where_the_rate_stands_at_one_half() -> None:
    assert tipping_point(0.4, 0.6) == pytest.approx(0.5)
    assert tipping_point(0.55, 0.7) is None and tipping_point(0.5, 0.5) is None


def test_ties_alone_never_make_parity(workspace: Workspace) -> None:
    """Win or tie is 90 %, and the model never wins: the report says that it is worse."""
    study = study_of(workspace, {"alpha": [[0.5, 0.5]] * 18 + [NONE_WON] * 12, "beta": [WON] * 30}, tasks=30)
    said = section(study_report(workspace, study), "ranks").words
    assert "beta does best of 2 models" in said[0]
    assert any(words.startswith("alpha is worse than the expert (half tie 30.0 %") for words in said)


def test_an_unknown_group_is_refused(workspace: Workspace) -> None:
    study = study_of(workspace, {"alpha": [WON] * 3, "beta": [WON] * 3})
    with pytest.raises(InputError):
        read_evidence(workspace, study, graders="student", needs=())
