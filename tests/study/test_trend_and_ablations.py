"""Progress over release dates, and what one setting does: from the study's own authors, paired by task."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from guildhall.domain.authors import ModelGrader, ModelRun, RoomSettings
from guildhall.domain.estimates import Estimate
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.picks import Pick
from guildhall.domain.report import DatedPoint
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.grading.design import expert_submission
from guildhall.reports.chapters.ablations import one_setting_apart, settings_of
from guildhall.reports.chapters.trend import fitted
from guildhall.store.workspace import Workspace
from guildhall.study.file import read_study
from guildhall.study.freezing import Judges, design_of_file
from guildhall.study.reporting import study_report, write_study_report
from tests.study.made import judged_study
from tests.study.told import rows, section

WIN, TIE, LOSS = [1.0] * 3, [0.5] * 3, [0.0] * 3


def share(of: int, n: int = 12) -> list[list[float]]:
    return [WIN] * of + [LOSS] * (n - of)


def test_the_trend_takes_dates_from_the_study_and_names_who_has_none(workspace: Workspace, tmp_path: Path) -> None:
    released = {"a": "2024-01-01", "b": "2024-07-01", "c": "2025-01-01", "d": "2025-07-01"}
    scores = {"a": share(2), "b": share(4), "c": share(5), "d": share(8), "undated": share(6)}
    study = judged_study(workspace, "s", scores, design={"released": released})
    found = section(write_study_report(workspace, study, tmp_path), "trend")
    assert "Without a release date: undated." in found.words
    assert [row["date"] for row in rows(found.table("trend"))] == sorted(released.values())
    [(_, slope)] = found.table("trend-slope").rows
    assert isinstance(slope, Estimate) and slope.value is not None and slope.interval is not None
    assert 0.25 < slope.value < 0.4 and slope.interval[0] < slope.value < slope.interval[1]
    line = rows(found.table("trend-line"))
    assert line[0]["date"] == "2024-01-01" and line[-1]["date"] == "2025-07-01"
    assert (tmp_path / "trend-line.csv").read_text().count("\n") == 1 + len(line)
    assert "points a year" in (tmp_path / "report.html").read_text() and (tmp_path / "figures" / "trend.png").exists()


def test_a_straight_line_is_found_again() -> None:
    days = [date(2024, 1, 1), date(2024, 5, 1), date(2024, 12, 1), date(2025, 3, 1), date(2025, 8, 1)]
    noise = (0.01, -0.01, 0.0, -0.01, 0.01)
    rates = [
        0.1 + 0.25 * (day.toordinal() - days[0].toordinal()) / 365.25 + extra
        for day, extra in zip(days, noise, strict=True)
    ]
    points = [
        DatedPoint(
            name=str(n),
            day=day,
            rate=Estimate(value=rate, interval=(rate - 0.02, rate + 0.02), estimand="rate", method="made"),
        )
        for n, (day, rate) in enumerate(zip(days, rates, strict=True))
    ]
    trend = fitted(points)
    assert trend is not None and trend.slope.interval is not None
    assert trend.slope.interval[0] < 0.25 < trend.slope.interval[1]
    assert fitted(points[:3]) is None


def test_a_rate_without_a_known_error_bears_no_weight_and_is_named() -> None:
    sure = [
        DatedPoint(
            name=str(n),
            day=date(2024, 1 + n, 1),
            rate=Estimate(value=0.1 * n, interval=(0.1 * n - 0.05, 0.1 * n + 0.05), estimand="rate", method="made"),
        )
        for n in range(5)
    ]
    blind = Estimate(value=0.9, estimand="rate", method="none", why_no_interval="two tasks")
    with_it = fitted([*sure, DatedPoint(name="unsure", day=date(2024, 2, 1), rate=blind)])
    without = fitted(sure)
    assert with_it is not None and without is not None
    assert with_it.slope == without.slope and with_it.unsure == ["unsure (two tasks)"]


def test_too_few_dates_give_no_trend(workspace: Workspace) -> None:
    study = judged_study(workspace, "s", {"a": share(2), "b": share(4)}, design={"released": {"a": "2024-01-01"}})
    assert study_report(workspace, study).section("trend") is None


def test_release_dates_come_from_the_study_file_and_change_no_work(tmp_path: Path) -> None:
    text = '[study]\nid = "s"\ntitle = "S"\n[[authors]]\nname = "a"\nmodel = "scripted/careful"\n'
    for name, more in (("plain", ""), ("dated", "released = 2025-04-16\n")):
        (tmp_path / name).write_text(text + more)
    plain, dated = (read_study(tmp_path / name) for name in ("plain", "dated"))
    before, after = (design_of_file(file, Judges((), None), None) for file in (plain, dated))
    assert after.changed_from(before) == ("released",) and after.released == {"a": date(2025, 4, 16)}
    prompt = plain.authors[0].instructions()
    assert plain.authors[0].runs(prompt) == dated.authors[0].runs(prompt)


def test_only_authors_one_setting_apart_are_compared(workspace: Workspace, tmp_path: Path) -> None:
    runs = {
        "low": {"model": "m", "settings": {"reasoning_effort": "low", "temperature": 1}},
        "high": {"model": "m", "settings": {"reasoning_effort": "high", "temperature": 1}},
        "plain-high": {"model": "m", "settings": {"reasoning_effort": "high", "temperature": 1}, "condition": "plain"},
        "cold-plain": {"model": "m", "settings": {"reasoning_effort": "high"}, "condition": "plain"},
        "short-low": {
            "model": "m",
            "settings": {"reasoning_effort": "low", "temperature": 1},
            "brief": "under-specified",
        },
        "another": {"model": "other", "settings": {"reasoning_effort": "low", "temperature": 1}},
    }
    scores = {"low": share(4), "high": share(7), "plain-high": share(5), "cold-plain": share(5)}
    scores |= {"short-low": share(2), "another": share(9)}
    report = write_study_report(workspace, judged_study(workspace, "s", scores, runs=runs), tmp_path)
    found = rows(section(report, "ablations").tables[0])
    told = {(one["setting"], one["base"], one["changed"]): one["win"].value for one in found}
    assert told == {
        ("reasoning_effort", "low", "high"): pytest.approx(3 / 12),
        ("prompt", "plain-high", "high"): pytest.approx(2 / 12),
        ("temperature", "cold-plain", "plain-high"): 0.0,
        ("context", "low", "short-low"): pytest.approx(-2 / 12),
    }
    assert all(one["win"].interval is not None and one["win"].n_tasks == 12 for one in found)
    page = (tmp_path / "report.html").read_text()
    assert "What one setting does" in page and (tmp_path / "ablations.csv").read_text().count("\n") == 1 + 4 * 3
    assert (tmp_path / "figures" / "ablations.svg").exists()


def test_best_of_n_is_compared_with_all_its_tries(workspace: Workspace) -> None:
    study = judged_study(workspace, "s", {"try-1": [WIN, LOSS, WIN, LOSS, WIN], "try-2": [LOSS, LOSS, WIN, WIN, TIE]})
    by_task: dict[str, list[Submission]] = {}
    for one in workspace.store.find(Submission):
        if isinstance(one.author, ModelRun):
            by_task.setdefault(one.task, []).append(one)
    # Both tries are the work of one author, which the judge always picked the first of.
    renamed = as_tries(workspace, study.id, by_task)
    told = rows(section(study_report(workspace, renamed), "ablations").tables[0])
    found = [one for one in told if one["setting"] == "best of N"]
    assert [(one["base_level"], one["changed_level"]) for one in found] == [("one try", "best of 2")]
    gaps = [1 - 0.5, 0.0, 0.0, 0 - 0.5, 1 - 0.75]
    assert found[0]["half_tie"].value == pytest.approx(sum(gaps) / 5)


def as_tries(workspace: Workspace, identity: str, by_task: dict[str, list[Submission]]) -> Study:
    """The same judgments, of work that is now two tries of one author."""
    judge = ModelGrader(name="picker")
    for task, tries in by_task.items():
        expert = expert_submission(workspace.store.get(Task, f"{task}@1"))
        assert expert is not None
        made = [one.but(author=ModelRun(name="alpha", model="m", sample=n)) for n, one in enumerate(tries, 1)]
        workspace.store.add_all(made)
        for one, before in zip(made, tries, strict=True):
            old = Comparison(study=identity, task=task, submissions=(expert.key, before.key))
            new = Comparison(study="best", task=task, submissions=(expert.key, one.key))
            workspace.store.add(new)
            for said in workspace.store.find(Judgment, comparison=old.key):
                order = tuple(one.key if key == before.key else key for key in said.order)
                workspace.store.add(said.but(comparison=new.key, order=order))
        keys = tuple(one.key for one in made)
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        workspace.store.add(
            Pick(task=task, author="alpha", judge=judge, order=keys, chosen=keys[0], seed=1, made_at=moment)
        )
    [study] = workspace.store.find(Study, id=identity)
    renamed = study.but(id="best", authors=(ModelRun(name="alpha", model="m"),))
    workspace.store.add(renamed)
    return renamed


def test_everything_that_may_change_the_work_is_a_setting() -> None:
    fields = set(ModelRun.model_fields) - {"kind", "name", "model", "sample", "settings"}
    assert fields == {"condition", "prompt_digest", "tools", "brief", "room"}
    described = settings_of(ModelRun(name="a", model="m", settings={"temperature": 0.5}, condition="own"))
    assert set(described) == {"temperature", "prompt", "tools", "context", "room"}


def test_one_room_for_all_who_need_one_hides_no_other_change_and_two_rooms_are_one() -> None:
    first, second = (RoomSettings(sandbox="docker", environment=digit * 64) for digit in "01")
    code, answer = (
        ModelRun(name="code", model="m", tools="code", room=first),
        ModelRun(name="a", model="m", tools="none"),
    )
    assert [setting for setting, *_ in one_setting_apart([code, answer])] == ["tools"]
    assert [setting for setting, *_ in one_setting_apart([code, code.but(name="b", room=second)])] == ["room"]
