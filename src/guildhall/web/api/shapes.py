"""What the API answers: shapes programs may rely on, built from the domain's own values."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, Counts, Findings, ModelRecord
from guildhall.domain.values import Value
from guildhall.study.board import Shown


class Problem(Value):
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


class Progress(Value):
    study: str
    unblinded: bool
    planned: int
    held: int
    done: int
    cells: tuple[CellProgress, ...]
    running: tuple[StandingNow, ...]


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
    counts: Counts
    headline: tuple[ModelRecord, ...]
    breakdowns: tuple[Breakdown, ...]


def results(findings: Findings, shown: Shown, *, unblinded: bool, complete: bool) -> Results:
    """The findings under the names that may be shown; chapters that speak of models in prose stay out."""
    return Results(
        study=findings.study,
        title=findings.title,
        design_digest=findings.design_digest,
        unblinded=unblinded,
        complete=complete,
        baseline=findings.baseline,
        grader_kind=findings.grader_kind,
        simulated=findings.simulated,
        counts=findings.counts,
        headline=tuple(one.but(model=shown[one.model]) for one in findings.headline),
        breakdowns=tuple(
            table.but(cells=tuple(cell.but(model=shown[cell.model]) for cell in table.cells))
            for table in findings.breakdowns
        ),
    )
