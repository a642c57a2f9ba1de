"""A manager's pages: the board, graders, places, disputes, unblinding, exports, gradings, webhooks.

Models go by code names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.grading.adjudicating import ask_for_one_more, free, leases, reassign
from guildhall.store.audit import record
from guildhall.store.gradings import Gradings
from guildhall.store.outbox import EVENTS, Channel
from guildhall.study.exports import CODE_BOOK, FORMATS, exported
from guildhall.study.gradings import service_of
from guildhall.study.openings import opening_of
from guildhall.study.publishing import publication, why_not_public
from guildhall.study.studies import newer_words
from guildhall.study.unblinding import ask_to_unblind, confirm_unblinding, names_for, shown_names, unblinding
from guildhall.study.watching import TOO_FAST_SHARE, disputes_of, judges_of, steering_of
from guildhall.taskbank.listing import newer_wordings
from guildhall.web.access import Session
from guildhall.web.api.shapes import grading_shown
from guildhall.web.forms import STRENGTHS
from guildhall.web.guard import members_only, whole_in, word
from guildhall.web.reaching import checked_url
from guildhall.web.rendering import page
from guildhall.web.site import Site
from guildhall.web.webhooks import Webhooks

HOME = "/manage/webhooks"


@members_only(Role.MANAGER)
def webhooks(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    return _show(request, site)


def _show(request: Request, site: Site, secret: str | None = None) -> Response:
    hooks = Webhooks(site)
    told = {one.id: one.url for one in hooks.all()}
    return page(
        request,
        "manage_webhooks.html",
        hooks=hooks.all(),
        events=EVENTS,
        deliveries=[(one, told.get(one.target, "removed")) for one in hooks.outbox.log(Channel.WEBHOOK)],
        secret=secret,
    )


@members_only(Role.MANAGER)
def add(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Register an address. The answer is the one place where its secret is shown."""
    hooks, url = Webhooks(site), word(form, "url")
    events = [str(event) for event in form.getlist("event")]
    secret = hooks.add(url, events, member=session.member.id)
    # The path of a webhook may itself be a secret; the log says which host is told.
    host = checked_url(url, hooks.allowed()).hostname or ""
    _note(site, session, "webhook made", host, events=sorted(events))
    return _show(request, site, secret)


@members_only(Role.MANAGER)
def remove(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    hooks = Webhooks(site)
    removed = hooks.remove(request.path_params["webhook"])
    _note(site, session, "webhook removed", removed.id)
    return RedirectResponse(HOME, 303)


@members_only(Role.MANAGER)
def ping(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    Webhooks(site).ping(request.path_params["webhook"])
    return RedirectResponse(HOME, 303)


def _note(site: Site, session: Session, action: str, subject: str, **facts: object) -> None:
    actor = session.member.code_name
    record(site.store, at=site.clock(), actor=actor, action=action, subject=subject, facts=dict(facts))


WEBHOOKS: list[BaseRoute] = [
    Route(HOME, webhooks),
    Route(f"{HOME}/add", add, methods=["POST"]),
    Route(f"{HOME}/{{webhook}}/remove", remove, methods=["POST"]),
    Route(f"{HOME}/{{webhook}}/ping", ping, methods=["POST"]),
]


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
        board=counted.under(names_for(site.workspace, study, counted.models)),
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
    steering = steering_of(site.store, study)
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for author in sorted(steering):
        # Until unblinding of all models together: a work is the same in a study where it is the only model's.
        named = author == "expert" or unblinding(site.store, study.id).open
        told[author if named else "all models"] += steering[author]
    return page(request, "manage_judges.html", study=study, judges=found, fast_minutes=limit, steering=told)


@members_only(*WATCHERS)
def export(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    made = exported(site.workspace, study, request.path_params["ending"])
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
    ask_to_unblind(site.store, study, session, why=word(form, "why"), now=site.clock())
    return _to_board(study.id)


@members_only(*WATCHERS)
def confirm(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    confirm_unblinding(site.store, study, session, now=site.clock())
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


A_PAGE = 50


@members_only(*WATCHERS)
def items(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    asked = request.query_params.get("page", "1")
    number = whole_in(asked, 999_999) or 1
    found = disputes_of(
        site.queue,
        study,
        design=site.design(study.id),
        graders=lambda: site.roster.everyone(Role.GRADER),
        names=shown_names(site.workspace, study),
        skip=(number - 1) * A_PAGE,
        most=A_PAGE,
    )
    pages = -(-found.total // A_PAGE)
    return page(request, "manage_items.html", study=study, found=found, number=number, pages=pages, strengths=STRENGTHS)


@members_only(Role.MANAGER)
def ask_one_more(request: Request, site: Site, session: Session, form: FormData) -> Response:
    study, comparison = site.study(request.path_params["study"]), request.path_params["comparison"]
    why, number = word(form, "why"), whole_in(word(form, "page"), 999_999)
    ask_for_one_more(site.queue, study.id, comparison, why=why, by=session.member, now=site.clock())
    back = f"/manage/studies/{quote(study.id, safe='')}/items"
    known = number is not None
    return RedirectResponse(f"{back}?page={number}#set-{quote(comparison, safe='')}" if known else back, 303)


DISPUTES: list[BaseRoute] = [
    Route("/manage/studies/{study}/items", items),
    Route("/manage/studies/{study}/items/{comparison}/adjudicate", ask_one_more, methods=["POST"]),
]


MOST = 50


@members_only(*WATCHERS)
def gradings(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    found = Gradings(site.store).newest(limit=MOST)
    rows = [(one.token_name, one.made_at, grading_shown(site.store, one)) for one in found]
    judges = list(service_of(site.workspace).graders())
    return page(request, "manage_gradings.html", gradings=rows, judges=judges, most=MOST)


GRADINGS: list[BaseRoute] = [Route("/manage/gradings", gradings)]
