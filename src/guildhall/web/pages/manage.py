"""A manager's pages: the board, graders, places, unblinding, exports. Models go by code names."""

from __future__ import annotations

from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.grading.overseeing import free, leases, reassign
from guildhall.study.code_names import names_for
from guildhall.study.exports import CODE_BOOK, FORMATS, exported
from guildhall.study.openings import opening_of
from guildhall.study.publishing import publication, why_not_public
from guildhall.study.studies import newer_words
from guildhall.study.unblinding import ask_to_unblind, confirm_unblinding, unblinding
from guildhall.study.watching import TOO_FAST_SHARE, judges_of
from guildhall.taskbank.listing import newer_wordings
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site

WATCHERS = (Role.MANAGER, Role.AUDITOR)
AT_RISK_S = 86400.0
"""A place that ends within a day is at risk."""
MOST_CELLS = 300
"""Beyond this the board tells occupations, and the models of each on a page of their own."""
MOST_NAMED = 200
"""Beyond this the graders who may take a place are not listed: the manager types a code name."""


@members_only(*WATCHERS)
def studies(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    standing = [(study, site.queue.progress(study.id)) for study in site.studies()]
    return page(request, "manage_studies.html", standing=standing)


@members_only(*WATCHERS)
def board(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    """Progress by occupation and model, places at risk, and the interval that may be looked at any time."""
    study = site.study(request.path_params["study"])
    counted, one = site.boards.of(study), request.query_params.get("occupation")
    folded = None
    if one is None and len(counted.cells) > MOST_CELLS:
        folded, counted = counted.occupations(), counted.model_copy(update={"cells": ()})
    elif one is not None:
        counted = counted.narrowed(one)
    now = site.clock()
    return page(
        request,
        "manage_board.html",
        study=study,
        board=counted.under(names_for(site.store, study, counted.models)),
        folded=folded,
        only=one,
        opening=opening_of(site.store, study),
        newer=newer_words(len(newer_wordings(site.store, study))),
        places=leases(site.queue, study.id),
        graders=site.roster.code_names(Role.GRADER, most=MOST_NAMED),
        at_risk_before=now + AT_RISK_S,
        unblinding=unblinding(site.store, study.id),
        formats=(*FORMATS, CODE_BOOK),
        public=publication(site.store, study.id),
        why_not_public=why_not_public(site.store, study),
    )


@members_only(*WATCHERS)
def judges(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    limit = TOO_FAST_SHARE * site.design(study.id).minutes_per_set
    found = judges_of(site.store, study)
    return page(request, "manage_judges.html", study=study, judges=found, fast_minutes=limit)


@members_only(*WATCHERS)
def export(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    made = exported(site.store, study, request.path_params["ending"])
    name = quote(f"{study.id}.{made.name}", safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(made.content, media_type=made.media_type, headers=headers)


@members_only(Role.MANAGER)
def free_place(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    seat = site.queue.seat(request.path_params["seat"])
    free(site.queue, seat, by=session.member, now=site.clock())
    return _to_board(seat.slot.study)


@members_only(Role.MANAGER)
def reassign_place(request: Request, site: Site, session: Session, form: FormData) -> Response:
    seat = site.queue.seat(request.path_params["seat"])
    to = site.roster.by_code_name(word(form, "grader"))
    design = site.design(seat.slot.study)
    reassign(site.queue, seat, to, design=design, by=session.member, now=site.clock())
    return _to_board(seat.slot.study)


@members_only(Role.MANAGER)
def ask(request: Request, site: Site, session: Session, form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    ask_to_unblind(site.store, study.id, session.member, why=word(form, "why"), now=site.clock())
    return _to_board(study.id)


@members_only(*WATCHERS)
def confirm(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    confirm_unblinding(site.store, study.id, session.member, now=site.clock())
    return _to_board(study.id)


def _to_board(study: str) -> Response:
    return RedirectResponse(f"/manage/studies/{quote(study, safe='')}", 303)


ROUTES: list[BaseRoute] = [
    Route("/manage", studies),
    Route("/manage/studies/{study}", board),
    Route("/manage/studies/{study}/judges", judges),
    Route("/manage/studies/{study}/export/{ending}", export),
    Route("/manage/studies/{study}/unblind", ask, methods=["POST"]),
    Route("/manage/studies/{study}/unblind/confirm", confirm, methods=["POST"]),
    Route("/manage/places/{seat}/free", free_place, methods=["POST"]),
    Route("/manage/places/{seat}/reassign", reassign_place, methods=["POST"]),
]
