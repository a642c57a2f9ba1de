"""The severity queue: how bad is this deliverable, asked of an expert who has not judged the pair."""

from __future__ import annotations

import json

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role, SlotKind
from guildhall.domain.judgments import Severity
from guildhall.errors import InputError, UnknownName
from guildhall.grading.queue import Seat
from guildhall.grading.submitting import rate_severity
from guildhall.web.access import Session
from guildhall.web.forms import SEVERITIES, answers_of, severity_of
from guildhall.web.guard import members_only
from guildhall.web.panes import panes_of
from guildhall.web.rendering import page
from guildhall.web.site import Site

DECLINE_REASONS = (
    "I have a conflict of interest",
    "It is not my field",
    "A file is broken",
    "It would take too long",
    "I would rather not see this content",
)
MEANINGS = {
    Severity.CATASTROPHIC: "using it would do harm: wrong advice, a dangerous error, an insult",
    Severity.BAD: "it fails the task; it would have to be done again",
    Severity.SUBPAR: "it does the task, less well than it should",
    Severity.MODEL_BETTER: "A is the better of the two",
}


def rating_page(
    request: Request, site: Site, seat: Seat, *, faults: list[str], answers: dict[str, str] | None = None
) -> Response:
    stored = json.loads(seat.draft) if seat.draft else {}
    view, panes = panes_of(site, seat, request.query_params.get("rows", ""))
    return page(
        request,
        "severity.html",
        status=422 if faults else 200,
        seat=seat,
        view=view,
        panes=panes,
        answers=stored if answers is None else answers,
        choices={word: MEANINGS[severity] for word, severity in SEVERITIES.items()},
        design=site.design(seat.slot.study),
        faults=faults,
        declines=DECLINE_REASONS,
    )


@members_only(Role.GRADER)
def rate(request: Request, site: Site, session: Session, form: FormData) -> Response:
    seat = site.seat(request.path_params["seat"], session)
    if seat.slot.kind is not SlotKind.SEVERITY:
        raise UnknownName("rating", seat.id, fix="go back to your list of work")
    answers = answers_of(form)
    verdict, faults = severity_of(answers)
    if verdict is None:
        return rating_page(request, site, seat, faults=faults, answers=answers)
    try:
        design = site.design(seat.slot.study)
        rate_severity(site.queue, seat, session.member, verdict, design=design, now=site.clock())
    except InputError as error:
        return rating_page(request, site, seat, faults=[str(error)], answers=answers)
    return RedirectResponse(f"/sets/{seat.id}/receipt", 303)


ROUTES: list[BaseRoute] = [Route("/sets/{seat}/severity", rate, methods=["POST"])]
