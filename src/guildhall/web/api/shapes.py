"""What the API answers: shapes programs may rely on, built from the domain's own values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import AwareDatetime

from guildhall.domain.estimates import Estimate
from guildhall.domain.gradings import Grades
from guildhall.domain.judges import Medium
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import GroupKind, Rule
from guildhall.domain.report import Report, ReportTable
from guildhall.domain.submissions import Problem
from guildhall.domain.values import Digest, Value
from guildhall.store.gradings import Grading
from guildhall.store.records import Store
from guildhall.store.work import WorkState
from guildhall.study.exports import OF_MODELS


class ProblemDetails(Value):
    """Why a call did not work, in words."""

    detail: str


class StudyLine(Value):
    id: str
    title: str
    tasks: int
    planned: int
    held: int
    done: int


class Studies(Value):
    studies: tuple[StudyLine, ...]


class CellProgress(Value):
    """Planned gradings of one model's work in one occupation."""

    occupation: str
    model: str
    planned: int
    held: int
    done: int


class StandingNow(Value):
    """One model while the study runs: an interval that holds however often one looks."""

    model: str
    grader_kind: str
    half_tie: Estimate


class StudyProgress(Value):
    study: str
    unblinded: bool
    planned: int
    held: int
    done: int
    cells: tuple[CellProgress, ...]
    running: tuple[StandingNow, ...]


class ModelRates(Value):
    """One model's record against the baseline, overall or in one cell of a breakdown."""

    model: str
    levels: dict[str, str] = {}
    wins: int
    ties: int
    losses: int
    win: Estimate | None = None
    win_or_tie: Estimate
    half_tie: Estimate | None = None
    pooled: Estimate | None = None


class BreakdownRates(Value):
    title: str
    by: tuple[str, ...]
    cells: tuple[ModelRates, ...]


class Results(Value):
    """A study's estimates. Until two people unblind it, models go by code names."""

    study: str
    title: str
    design_digest: str
    unblinded: bool
    complete: bool
    """False while planned gradings are missing: then these intervals are not made for being looked at repeatedly."""
    baseline: str
    grader_kind: str
    simulated: bool
    warnings: tuple[str, ...]
    counts: dict[str, int]
    left_out: dict[Rule, int]
    """Judgments that each rule left out; with those counted they are all there are."""
    headline: tuple[ModelRates, ...]
    breakdowns: tuple[BreakdownRates, ...]


def results(report: Report, shown: Mapping[str, str], *, unblinded: bool, complete: bool) -> Results:
    """The report under the names that may be shown; chapters that speak of models in prose stay out.

    Models stand in the order of these names: the order of their own would tell who is who.
    """
    section = report.section("breakdowns")
    return Results(
        study=report.study,
        title=report.title,
        design_digest=report.design_digest,
        unblinded=unblinded,
        complete=complete,
        baseline=report.policy.baseline,
        grader_kind=str(report.policy.graders),
        simulated=report.policy.graders.kind is GroupKind.SIMULATED,
        warnings=report.warnings,
        counts=report.counts,
        left_out=report.left_out,
        headline=_rates(report.headline, shown) if report.headline else (),
        breakdowns=tuple(
            _breakdown(table, shown)
            for table in (section.tables if section else ())
            if unblinded or table.columns[0].name not in OF_MODELS
        ),
    )


def _breakdown(table: ReportTable, shown: Mapping[str, str]) -> BreakdownRates:
    return BreakdownRates(title=table.title, by=(table.columns[0].name,), cells=_rates(table, shown))


def _rates(table: ReportTable, shown: Mapping[str, str]) -> tuple[ModelRates, ...]:
    known = set(ModelRates.model_fields)
    made = []
    for row in table.rows:
        cells: dict[str, Any] = {column.name: cell for column, cell in zip(table.columns, row, strict=True)}
        levels = {name: cells[name] for name in cells if name not in known and isinstance(cells[name], str)}
        own = {name: cell for name, cell in cells.items() if name in known}
        made.append(ModelRates(**own | {"model": shown[cells["model"]], "levels": levels}))
    return tuple(sorted(made, key=lambda one: (*one.levels.values(), one.model)))


class GradingState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_STATES = {
    WorkState.PLANNED: GradingState.QUEUED,
    WorkState.RUNNING: GradingState.RUNNING,
    WorkState.DONE: GradingState.DONE,
    WorkState.FAILED: GradingState.FAILED,
}


class VerdictCount(Value):
    """How far the judge has come; `wanted` is unknown until it begins."""

    wanted: int | None
    verdicts: int
    failures: int


class GradingShown(Value):
    """A grading as it stands. `grades` are there once it is done, `error` once it has failed."""

    id: str
    name: str
    judge: str
    state: GradingState
    tasks: tuple[str, ...]
    problems: tuple[Problem, ...]
    progress: VerdictCount
    grades: Grades | None
    error: str | None
    made_at: AwareDatetime


class GradingList(Value):
    gradings: tuple[GradingShown, ...]


class JudgeShown(Value):
    """One judge of the service: the media it takes beside text, and how often it is asked in each order."""

    name: str
    takes: tuple[Medium, ...]
    sweeps: int


class Service(Value):
    """Who judges, what a package may hold, and what is left of this token's quota for the last 24 hours."""

    judges: tuple[JudgeShown, ...]
    most_bytes: int
    most_files: int
    gradings_left: int
    bytes_left: int


def grading_shown(store: Store, grading: Grading) -> GradingShown:
    request, work = grading.request, grading.work
    return GradingShown(
        id=request.id,
        name=request.author.name,
        judge=request.judge,
        state=_STATES[work.state],
        tasks=tuple(key.rpartition("@")[0] for key in request.tasks),
        problems=request.problems,
        progress=_progress(store, request.study, wanted=grading.verdicts_wanted),
        grades=Grades.model_validate_json(work.result) if work.result else None,
        error=work.error,
        made_at=datetime.fromtimestamp(grading.made_at, UTC),
    )


def _progress(store: Store, study: str, *, wanted: int | None) -> VerdictCount:
    comparisons: list[Digest] = [one.key for one in store.each(Comparison, study=study)]
    judged = {failed: store.count(Judgment, comparison=comparisons, failed=failed) for failed in (False, True)}
    return VerdictCount(wanted=wanted, verdicts=judged[False], failures=judged[True])
