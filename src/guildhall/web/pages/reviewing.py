"""One task under review: its pages with comments pinned to them, the review form, versions side by side, history."""

from __future__ import annotations

from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Check, Role, Vetting
from guildhall.domain.reviews import QUESTIONS, STAGES, DecisionKind, ReviewOutcome
from guildhall.domain.tasks import Specification
from guildhall.errors import InputError, UnknownName
from guildhall.study.reviewing import accept, is_ready, promote, record_checks
from guildhall.taskbank.review.board import AUDIT_SEED, AUDIT_SHARE, audit_due, board, in_lanes
from guildhall.taskbank.review.desk import PARTS, anchor_at
from guildhall.taskbank.review.differences import changed_facts, file_changes, line_differences
from guildhall.taskbank.review.eligibility import LEAST_EXPERTS
from guildhall.taskbank.review.histories import all_histories, events
from guildhall.taskbank.review.roster import roster_report
from guildhall.web.access import Session
from guildhall.web.draft_forms import RATINGS, review_answers
from guildhall.web.drafts import desk_of, draft_shown, file_pages, history_for, task_shown
from guildhall.web.guard import members_only, whole_in, word
from guildhall.web.rendering import page
from guildhall.web.site import Site

WATCHERS = (Role.REVIEWER, Role.MANAGER, Role.AUDITOR)
CHECKS = tuple(Vetting.model_fields)
MOST_PAGES, MOST_VERSIONS = 100_000, 100_000
"""Larger numbers are none that a page of ours sends."""


@members_only(*WATCHERS)
def lanes(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    now = site.clock()
    cards = board(site.store, now=now)
    return page(
        request,
        "task_board.html",
        lanes=in_lanes(cards),
        cards=cards,
        now=now,
        audit_share=AUDIT_SHARE,
        audit_seed=AUDIT_SEED,
    )


@members_only(Role.MANAGER, Role.AUDITOR)
def experts(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    members = site.roster.everyone()
    return page(
        request,
        "task_people.html",
        report=roster_report(members, all_histories(site.store)),
        members={member.code_name: member for member in members},
        checks=CHECKS,
        states=[str(one) for one in Check],
        wanted=LEAST_EXPERTS,
    )


@members_only(Role.MANAGER)
def check(request: Request, site: Site, session: Session, form: FormData) -> Response:
    member = site.roster.get(request.path_params["member"])
    said = {name: word(form, name) for name in CHECKS if word(form, name)}
    record_checks(site.roster, member, said, by=session.member, now=site.clock())
    return RedirectResponse("/review/people", 303)


@members_only(Role.MANAGER)
def move_up(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    promote(site.roster, site.roster.get(request.path_params["member"]), by=session.member, now=site.clock())
    return RedirectResponse("/review/people", 303)


BOARD: list[BaseRoute] = [
    Route("/review", lanes),
    Route("/review/people", experts),
    Route("/review/people/{member}/checks", check, methods=["POST"]),
    Route("/review/people/{member}/promote", move_up, methods=["POST"]),
]


READERS = (Role.AUTHOR, Role.REVIEWER, Role.MANAGER, Role.AUDITOR)
SPEAKERS = (Role.AUTHOR, Role.REVIEWER, Role.MANAGER)
DECIDERS = (Role.REVIEWER, Role.MANAGER)


@members_only(*READERS)
def task(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    return _task_page(request, site, session)


def _task_page(request: Request, site: Site, session: Session, *, fault: str = "") -> Response:
    shown = task_shown(site, session.member, request.path_params["task"])
    return page(
        request,
        "task_page.html",
        status=400 if fault else 200,
        shown=shown,
        stages=STAGES,
        ratings=RATINGS,
        questions=QUESTIONS,
        outcomes=[str(one) for one in ReviewOutcome],
        specifications=[str(one) for one in Specification],
        parts=list(PARTS),
        fault=fault,
        audit_due=audit_due(shown.history),
        now=site.clock(),
    )


@members_only(Role.REVIEWER)
def take(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    desk_of(site).take(request.path_params["task"], session.member, now=site.clock())
    return _back(request, "#your-review")


@members_only(*DECIDERS)
def give_back(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    desk_of(site).give_back(request.path_params["task"], session.member, now=site.clock())
    return _back(request)


@members_only(Role.REVIEWER)
def review(request: Request, site: Site, session: Session, form: FormData) -> Response:
    try:
        answers = review_answers(form)
        desk_of(site).review(request.path_params["task"], session.member, now=site.clock(), **answers)
    except UnknownName:
        raise
    except InputError as error:
        return _task_page(request, site, session, fault=str(error))
    return _back(request)


@members_only(*DECIDERS)
def comment(request: Request, site: Site, session: Session, form: FormData) -> Response:
    anchor = anchor_at(
        word(form, "file") or None,
        page=whole_in(word(form, "page"), MOST_PAGES),
        box=word(form, "part") or None,
    )
    identity = request.path_params["task"]
    made = desk_of(site).comment(identity, session.member, word(form, "words"), now=site.clock(), anchor=anchor)
    return _back(request, f"#c-{made.key[:12]}")


@members_only(*SPEAKERS)
def answer(request: Request, site: Site, session: Session, form: FormData) -> Response:
    identity, key = request.path_params["task"], request.path_params["comment"]
    history_for(site, session.member, identity)
    resolves = word(form, "act") == "resolve"
    words = word(form, "words") or ("Resolved." if resolves else "")
    desk_of(site).answer(identity, key, session.member, words, now=site.clock(), resolves=resolves)
    return _back(request, f"#c-{key[:12]}")


@members_only(*DECIDERS)
def decide(request: Request, site: Site, session: Session, form: FormData) -> Response:
    identity, words, now = request.path_params["task"], word(form, "words"), site.clock()
    kinds = {str(kind): kind for kind in DecisionKind}
    kind = kinds.get(word(form, "kind"))
    if kind is None:
        raise InputError("choose what is decided")
    if kind is DecisionKind.ACCEPTED:
        accept(desk_of(site), site.roster, identity, session.member, now=now, words=words)
    else:
        desk_of(site).decide(identity, kind, session.member, now=now, words=words)
    return _back(request)


@members_only(*READERS)
def history(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    found = history_for(site, session.member, request.path_params["task"])
    return page(request, "task_history.html", history=found, events=events(found))


@members_only(*READERS)
def differences(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """Two versions: facts, the brief line by line, each file's words, and its pages side by side and laid over."""
    found = history_for(site, session.member, request.path_params["task"])
    newest = found.newest.task.version
    after = found.draft(_version(request, "to", newest))
    before = found.draft(_version(request, "from", max(1, after.task.version - 1)))
    ready = is_ready(site.store, before.task) and is_ready(site.store, after.task)
    changes = file_changes(before.task, after.task)
    return page(
        request,
        "task_differences.html",
        history=found,
        before=before,
        after=after,
        facts=changed_facts(before, after),
        lines=line_differences(before.task.brief, after.task.brief),
        changes=changes,
        pages=file_pages(changes, draft_shown(site, before, []), draft_shown(site, after, [])) if ready else {},
    )


def _version(request: Request, name: str, default: int) -> int:
    found = whole_in(request.query_params.get(name, ""), MOST_VERSIONS)
    return default if found is None else found


def _back(request: Request, place: str = "") -> Response:
    return RedirectResponse(f"/tasks/{quote(request.path_params['task'], safe='')}{place}", 303)


ROUTES: list[BaseRoute] = [
    Route("/tasks/{task}", task),
    Route("/tasks/{task}/take", take, methods=["POST"]),
    Route("/tasks/{task}/give-back", give_back, methods=["POST"]),
    Route("/tasks/{task}/review", review, methods=["POST"]),
    Route("/tasks/{task}/comment", comment, methods=["POST"]),
    Route("/tasks/{task}/comments/{comment}", answer, methods=["POST"]),
    Route("/tasks/{task}/decide", decide, methods=["POST"]),
    Route("/tasks/{task}/history", history),
    Route("/tasks/{task}/differences", differences),
]
