"""Gradings asked for by programs: whose work on which tasks is to be judged by whom, and what came of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.submissions import Problem
from guildhall.domain.values import Digest, Id, Value

SERVICE = "grading service"
"""The origin of work that a program sent in: no study takes it up unasked."""


class GradingRequest(Value):
    """Work on some tasks of the bank that one judge is to compare with the experts' own."""

    id: Id
    author: ModelRun
    judge: Id
    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    """Task keys, with their version."""
    submissions: Annotated[tuple[Digest, ...], Field(min_length=1)]
    problems: tuple[Problem, ...] = ()
    """What of the package was left out, and why."""

    @property
    def study(self) -> Id:
        """The name under which its comparisons are kept; no study of people goes by it."""
        return f"grading-{self.id}"


class TaskGrade(Value):
    """How the work did on one task: the mean over both orders and all sweeps; 1 beats the expert, 0.5 is a tie."""

    task: Id
    score: Annotated[float, Field(ge=0, le=1)]
    verdicts: Annotated[int, Field(ge=1)]


class Grades(Value):
    """What a judge's verdicts come to. A round with a failure in one order counts as failed, never as a tie."""

    wins: int
    ties: int
    losses: int
    win: Estimate
    win_or_tie: Estimate
    half_tie: Estimate
    by_task: tuple[TaskGrade, ...]
    failures: int
    without_expert: tuple[Id, ...] = ()
    """Tasks that took no part: there is no expert's work to compare with."""
    ungradable: dict[str, str] = {}
    """Tasks that took no part since an automatic judge cannot see what they ask for: task -> why."""
