"""Studies, their progress, their results and their judgments, for programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from guildhall.study.code_names import names_for, shown_names
from guildhall.study.exports import exported
from guildhall.study.findings import findings_of
from guildhall.study.unblinding import unblinding
from guildhall.web.api.callers import needs
from guildhall.web.api.shapes import CellProgress, Problem, Progress, Results, StandingNow, Studies, StudyLine, results
from guildhall.web.site import Site

REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "No good token was sent."},
    403: {"model": Problem, "description": "The token lacks the scope."},
    429: {"model": Problem, "description": "Too many calls."},
}
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "There is no such study."}}
EARLY: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "Nothing is judged yet."}}
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
def show_progress(study_id: StudyId, site: AtSite) -> Progress:
    """How far a study has come, by occupation and model, and how models stand on completed tasks."""
    study = site.study(study_id)
    counted = site.boards.of(study)
    board = counted.under(names_for(site.store, study, counted.models))
    return Progress(
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
    graders: Annotated[str | None, Query(description="The kind of graders; by default the first there is.")] = None,
) -> Results:
    """Win rates against the expert with their intervals, overall and broken down."""
    study = site.study(study_id)
    found = findings_of(site.workspace, study, grader_kind=graders)
    counts = site.queue.progress(study.id)
    return results(
        found,
        shown_names(site.store, study),
        unblinded=unblinding(site.store, study.id).open,
        complete=counts["planned"] == counts["done"],
    )


@router.get(
    "/studies/{study_id}/judgments",
    dependencies=[Depends(needs("export:read"))],
    responses=MISSING | FILES,
    response_class=Response,
)
def export_judgments(study_id: StudyId, site: AtSite, ending: Ending = "csv") -> Response:
    """All judgments, one row for each model against the expert, with code names."""
    made = exported(site.store, site.study(study_id), ending)
    return Response(made.content, media_type=made.media_type)
