"""The sets graders disagree on, first those they disagree on most; a manager may ask for one grader more."""

from __future__ import annotations

from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.grading.adjudicating import ask_for_one_more
from guildhall.study.code_names import shown_names
from guildhall.study.disputes import disputes_of
from guildhall.web.access import Session
from guildhall.web.forms import STRENGTHS
from guildhall.web.guard import members_only, word
from guildhall.web.pages.manage import WATCHERS
from guildhall.web.rendering import page
from guildhall.web.site import Site

A_PAGE = 50


@members_only(*WATCHERS)
def items(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    asked = request.query_params.get("page", "1")
    number = max(1, int(asked)) if asked.isdecimal() and len(asked) < 7 else 1
    found = disputes_of(
        site.queue,
        study,
        design=site.design(study.id),
        graders=lambda: site.roster.everyone(Role.GRADER),
        names=shown_names(site.store, study),
        skip=(number - 1) * A_PAGE,
        most=A_PAGE,
    )
    pages = -(-found.total // A_PAGE)
    return page(request, "manage_items.html", study=study, found=found, number=number, pages=pages, strengths=STRENGTHS)


@members_only(Role.MANAGER)
def ask(request: Request, site: Site, session: Session, form: FormData) -> Response:
    study, comparison = site.study(request.path_params["study"]), request.path_params["comparison"]
    why, number = word(form, "why"), word(form, "page")
    ask_for_one_more(site.queue, study.id, comparison, why=why, by=session.member, now=site.clock())
    back = f"/manage/studies/{quote(study.id, safe='')}/items"
    return RedirectResponse(f"{back}?page={number}#set-{comparison}" if number.isdecimal() else back, 303)


ROUTES: list[BaseRoute] = [
    Route("/manage/studies/{study}/items", items),
    Route("/manage/studies/{study}/items/{comparison}/adjudicate", ask, methods=["POST"]),
]
