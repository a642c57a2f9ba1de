"""The wizard: a manager chooses tasks, work and rules step by step, sees what it takes, and freezes the study.

Each step is a plain form. Nothing is kept before the last button; then a worker makes every file ready.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.design import TaskChoice
from guildhall.domain.halls import HallDesign, Role
from guildhall.errors import InputError
from guildhall.store.audit import record
from guildhall.study.designing import OnOffer, freeze_wish, groups_of, preview_of, why_not_freeze
from guildhall.study.openings import ask_to_open
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site
from guildhall.web.wishes import GOLD_STEP, RULES, STEPS, SWITCHES, Form, faults_of

LAST = len(STEPS)


@members_only(Role.MANAGER)
def choose(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    """The step that was asked for, or an earlier one that still lacks something."""
    form, asked = Form(request.query_params), request.query_params.get("step", "1")
    wanted = int(asked) if asked in {str(number + 1) for number in range(LAST)} else 1
    return _first_faulty(request, site, form, before=wanted) or _step(request, site, form, wanted)


@members_only(Role.MANAGER)
def freeze(request: Request, site: Site, session: Session, given: FormData) -> Response:
    form = Form(given)
    refused = _first_faulty(request, site, form, before=LAST)
    if refused is not None:
        return refused
    preview = preview_of(site.workspace, form.wish(), site.roster.everyone())
    if preview.staff.words and word(given, "anyway") != "yes":
        return _step(request, site, form, LAST, ["Tick the box to open the study although graders are missing."])
    with site.store.transaction():
        study = freeze_wish(site.workspace, preview)
        who, now = session.member, site.clock()
        facts = {"study": study.key, "graders_missing": list(preview.staff.words)}
        record(site.store, at=now, actor=who.code_name, action="study frozen", subject=study.id, facts=facts)
        ask_to_open(site.store, study, by=who, now=now)
    return RedirectResponse(f"/manage/studies/{quote(study.id, safe='')}", 303)


@members_only(Role.MANAGER)
def open_again(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """Ask once more for an opening that failed."""
    study = site.study(request.path_params["study"])
    ask_to_open(site.store, study, by=session.member, now=site.clock())
    return RedirectResponse(f"/manage/studies/{quote(study.id, safe='')}", 303)


def _first_faulty(request: Request, site: Site, form: Form, *, before: int) -> Response | None:
    for number in range(1, before):
        faults = faults_of(form, site.workspace, number)
        if faults:
            return _step(request, site, form, number, faults)
    return None


def _step(request: Request, site: Site, form: Form, number: int, faults: list[str] | None = None) -> Response:
    facts = _FACTS[number - 1](site, form)
    shared = {"number": number, "steps": STEPS, "form": form, "rest": form.rest(number), "faults": faults or []}
    return page(request, "manage_new.html", status=400 if faults else 200, **shared, **facts)


def _tasks(site: Site, _form: Form) -> dict[str, Any]:
    try:
        every = OnOffer(site.workspace, TaskChoice()).tasks
    except InputError:
        every = []
    sectors, occupations = groups_of(every)
    return {"sectors": sectors, "occupations": occupations, "every": len(every)}


def _work(site: Site, form: Form) -> dict[str, Any]:
    offer = OnOffer(site.workspace, form.tasks())
    return {"authors": offer.authors(), "tasks": len(offer.tasks)}


def _rules(_site: Site, _form: Form) -> dict[str, Any]:
    return {"rules": RULES, "switches": SWITCHES, "defaults": HallDesign().model_dump()}


def _checks(site: Site, form: Form) -> dict[str, Any]:
    offer = OnOffer(site.workspace, form.tasks())
    works = {task.id: offer.works_on(task.id) for task in offer.tasks}
    known = [task for task, made in works.items() if len(made) > 1]
    return {"works": works, "addable": [task for task in known if task not in form.all("gold")], "here": GOLD_STEP}


def _preview(site: Site, form: Form) -> dict[str, Any]:
    preview = preview_of(site.workspace, form.wish(), site.roster.everyone())
    return {"preview": preview, "design": form.design(), "why_not": why_not_freeze(preview)}


_FACTS = (_tasks, _work, _rules, _checks, _preview)
ROUTES: list[BaseRoute] = [
    Route("/manage/new", choose),
    Route("/manage/new", freeze, methods=["POST"]),
    Route("/manage/studies/{study}/open", open_again, methods=["POST"]),
]
