"""What the grading service answers."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import AwareDatetime

from guildhall.domain.gradings import Grades
from guildhall.domain.judges import Medium
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import Problem
from guildhall.domain.values import Digest, Value
from guildhall.store.gradings import Grading
from guildhall.store.records import Store
from guildhall.store.work import WorkState


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
