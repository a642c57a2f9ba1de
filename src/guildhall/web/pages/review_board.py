"""The board with its lanes, and the people who write and review."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Check, Role, Vetting
from guildhall.study.experts import promote, record_checks
from guildhall.taskbank.review.board import AUDIT_SEED, AUDIT_SHARE, board, in_lanes
from guildhall.taskbank.review.eligibility import LEAST_EXPERTS
from guildhall.taskbank.review.histories import all_histories
from guildhall.taskbank.review.roster import roster_report
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site

WATCHERS = (Role.REVIEWER, Role.MANAGER, Role.AUDITOR)
CHECKS = tuple(Vetting.model_fields)


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


ROUTES: list[BaseRoute] = [
    Route("/review", lanes),
    Route("/review/people", experts),
    Route("/review/people/{member}/checks", check, methods=["POST"]),
    Route("/review/people/{member}/promote", move_up, methods=["POST"]),
]
