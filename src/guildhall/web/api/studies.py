"""Studies, their progress, their results and their judgments, for programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from guildhall.study.exports import exported
from guildhall.study.reporting import study_report
from guildhall.study.unblinding import names_for, shown_names, unblinding
from guildhall.web.api.callers import needs
from guildhall.web.api.shapes import (
    CellProgress,
    ProblemDetails,
    Results,
    StandingNow,
    Studies,
    StudyLine,
    StudyProgress,
    results,
)
from guildhall.web.site import Site

REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": ProblemDetails, "description": "No good token was sent."},
    403: {"model": ProblemDetails, "description": "The token lacks the scope."},
    429: {"model": ProblemDetails, "description": "Too many calls."},
}
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": ProblemDetails, "description": "There is no such study."}}
EARLY: dict[int | str, dict[str, Any]] = {409: {"model": ProblemDetails, "description": "Nothing is judged yet."}}
StudyId = Annotated[str, Path(description="The study's id.", min_length=1, max_length=200)]
Ending = Annotated[Literal["csv", "jsonl", "parquet", "codebook"], Query(description="The form of the export.")]
FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet", "text/markdown")
        },
    }
}
router = APIRouter(responses=REFUSALS)


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


AtSite = Annotated[Site, Depends(site_of)]


@router.get("/studies", dependencies=[Depends(needs("results:read"))])
def list_studies(site: AtSite) -> Studies:
    """All studies of the workspace, with their planned gradings by people."""
    lines = [
        StudyLine(id=study.id, title=study.heading, tasks=len(study.tasks), **site.queue.progress(study.id))
        for study in site.studies()
    ]
    return Studies(studies=tuple(lines))


@router.get("/studies/{study_id}/progress", dependencies=[Depends(needs("results:read"))], responses=MISSING)
def show_progress(study_id: StudyId, site: AtSite) -> StudyProgress:
    """How far a study has come, by occupation and model, and how models stand on completed tasks."""
    study = site.study(study_id)
    counted = site.boards.of(study)
    board = counted.under(names_for(site.workspace, study, counted.models))
    return StudyProgress(
        study=study.id,
        unblinded=unblinding(site.store, study.id).open,
        cells=tuple(CellProgress(**cell.model_dump()) for cell in board.cells),
        running=tuple(
            StandingNow(model=one.model, grader_kind=one.grader_kind, half_tie=one.estimate) for one in board.running
        ),
        **site.queue.progress(study.id),
    )


@router.get("/studies/{study_id}/results", dependencies=[Depends(needs("results:read"))], responses=MISSING | EARLY)
def show_results(
    study_id: StudyId,
    site: AtSite,
    graders: Annotated[str | None, Query(description="The group of graders; by default the one that leads.")] = None,
) -> Results:
    """Win rates against the baseline with their intervals, overall and broken down."""
    study = site.study(study_id)
    found = study_report(site.workspace, study, graders=graders)
    counts = site.queue.progress(study.id)
    return results(
        found,
        shown_names(site.workspace, study),
        unblinded=unblinding(site.store, study.id).open,
        complete=counts["planned"] == counts["done"],
    )


@router.get(
    "/studies/{study_id}/judgments",
    dependencies=[Depends(needs("export:read"))],
    responses=MISSING | FILES,
    response_class=Response,
)
def export_judgments(
    study_id: StudyId,
    site: AtSite,
    ending: Ending = "csv",
    graders: Annotated[str | None, Query(description="The group of graders; by default the one that leads.")] = None,
) -> Response:
    """The counted judgments of one group of graders, one row for each model against the baseline, with code names."""
    made = exported(site.workspace, site.study(study_id), ending, graders=graders)
    return Response(made.content, media_type=made.media_type)
