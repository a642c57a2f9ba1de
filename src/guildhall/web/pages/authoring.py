"""An author's pages: their tasks, the draft on the desk with its files, and submitting it."""

from __future__ import annotations

import secrets
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Member, Role
from guildhall.domain.reviews import Draft
from guildhall.domain.values import Id
from guildhall.errors import Conflict, InputError, ReviewRefused, UnknownName
from guildhall.taskbank.listing import newest_tasks
from guildhall.taskbank.onet import vocabulary
from guildhall.taskbank.review.authoring import (
    DeskCopy,
    clear_desk,
    copy_of,
    desk_copies_of,
    desk_copy,
    put_on_desk,
    save,
)
from guildhall.taskbank.review.board import board
from guildhall.taskbank.review.eligibility import WRITERS, unmet_requirements, why_not_review
from guildhall.taskbank.review.histories import all_histories
from guildhall.taskbank.review.screening import doubts
from guildhall.taskbank.review.standing import standing_of
from guildhall.taskbank.rubrics import as_paragraphs
from guildhall.web.access import Session
from guildhall.web.draft_forms import MOST_FILES, desk_copy_of
from guildhall.web.drafts import desk_of, history_for
from guildhall.web.guard import by_script, members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site


@members_only(*WRITERS)
def my_tasks(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """What the visitor writes, what became of it, and what waits for their review."""
    member, now = session.member, site.clock()
    cards = board(site.store, now=now)
    copies = desk_copies_of(site.store, member.code_name)
    return page(
        request,
        "task_list.html",
        copies=copies,
        cards=[card for card in cards if card.author == member.code_name and card.version],
        waiting=_waiting(site, member),
        unmet=unmet_requirements(member),
        now=now,
    )


def _waiting(site: Site, member: Member) -> list[tuple[Draft, str]]:
    """Tasks the visitor may review now, or holds already, with the stage."""
    if member.role is not Role.REVIEWER:
        return []
    desk, found = desk_of(site), []
    holds = desk.holds.all(now=site.clock())
    for history in all_histories(site.store):
        standing, hold = standing_of(history), holds.get(history.task)
        if standing.stage is None or standing.state != "in review":
            continue
        free = hold is None or hold.holder == member.code_name
        if free and why_not_review(member, history, standing.stage, desk.people) is None:
            found.append((history.newest, str(standing.stage)))
    return found


@members_only(*WRITERS)
def new_task(_request: Request, site: Site, session: Session, _form: FormData) -> Response:
    member = session.member
    occupation = member.occupations[0] if member.occupations else ""
    made = DeskCopy(task=f"task-{secrets.token_hex(5)}", author=member.code_name, occupation=occupation)
    copy = put_on_desk(site.store, made, now=site.clock())
    return RedirectResponse(f"/tasks/{copy.task}/edit", 303)


@members_only(*WRITERS)
def revise(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """Put the newest version on its author's desk again."""
    history = history_for(site, session.member, request.path_params["task"])
    if history.author != session.member.code_name:
        raise UnknownName("task", history.task, fix="go back to your tasks")
    copy = put_on_desk(site.store, copy_of(history.newest), now=site.clock())
    return RedirectResponse(f"/tasks/{quote(copy.task, safe='')}/edit", 303)


@members_only(*WRITERS, files=2 * MOST_FILES)
def edit(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """The draft's form. Saving keeps it; submitting hands it to review when nothing is missing."""
    copy = _mine(site, session.member, request.path_params["task"])
    if request.method == "GET":
        return _form_page(request, site, copy)
    if by_script(request):
        return _save_typed(site, copy, form)
    try:
        copy = desk_copy_of(copy, form, site.blobs)
        copy = save(site.store, copy, now=site.clock())
        if word(form, "act") != "submit":
            return RedirectResponse(f"/tasks/{quote(copy.task, safe='')}/edit?saved=1", 303)
        _submit(site, session.member, copy)
    except Conflict:
        fault = "This draft was saved in another window since you opened it. Copy what you changed, then reload."
        return _form_page(request, site, copy, fault=fault, status=409)
    except (InputError, ReviewRefused) as error:
        return _form_page(request, site, copy, fault=str(error), status=400)
    return RedirectResponse(f"/tasks/{quote(copy.task, safe='')}", 303)


def _save_typed(site: Site, copy: DeskCopy, form: FormData) -> Response:
    """What a script saves while one types: the words of the form; files come and go with the form itself."""
    try:
        copy = save(site.store, desk_copy_of(copy, form, site.blobs), now=site.clock())
    except Conflict:
        return JSONResponse({}, 409)
    except InputError as error:
        return JSONResponse({"fault": str(error)}, 400)
    return JSONResponse({"version": copy.saved, "saved_at": copy.saved_at})


def _submit(site: Site, author: Member, copy: DeskCopy) -> None:
    with site.store.transaction():
        desk_of(site).submit(
            copy.as_task(),
            author,
            now=site.clock(),
            note=copy.note,
            third_party=copy.third_party,
            permission=copy.permission,
        )
        clear_desk(site.store, copy.task)


def _form_page(request: Request, site: Site, copy: DeskCopy, *, fault: str = "", status: int = 200) -> Response:
    faults = copy.faults()
    sectors = sorted({task.sector for task in newest_tasks(site.store)} - {copy.sector})[:50]
    return page(
        request,
        "task_edit.html",
        status=status,
        copy=copy,
        rubric=as_paragraphs(copy.rubric) if copy.rubric else "",
        advice=None if faults else doubts(copy.as_task(), texts={}),
        faults=faults,
        fault=fault,
        sectors=sectors,
        vocabulary=vocabulary(),
        saved=bool(request.query_params.get("saved")),
    )


def _mine(site: Site, member: Member, task: Id) -> DeskCopy:
    copy = desk_copy(site.store, task)
    if copy.author != member.code_name:
        raise UnknownName("draft on the desk", task, fix="go back to your tasks")
    return copy


ROUTES: list[BaseRoute] = [
    Route("/tasks", my_tasks),
    Route("/tasks/new", new_task, methods=["POST"]),
    Route("/tasks/{task}/edit", edit, methods=["GET", "POST"]),
    Route("/tasks/{task}/revise", revise, methods=["POST"]),
]
