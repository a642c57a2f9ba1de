"""A grader's work: the list, the brief, the comparison, drafts and the clock, and giving a set back."""

from __future__ import annotations

import json
import math
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import HallDesign, Role, SeatState, SlotKind
from guildhall.domain.judgments import OBJECTIVE, SUBJECTIVE, Acceptance
from guildhall.domain.tasks import Specification
from guildhall.domain.values import Id
from guildhall.errors import UnknownName
from guildhall.grading.clock import Beat
from guildhall.grading.gold import next_rating, next_set, ratings_wait
from guildhall.grading.queue import Seat, StaleDraft
from guildhall.web.access import Session
from guildhall.web.forms import OVERALL, STEPS, STRENGTHS, answers_of, label_of
from guildhall.web.guard import by_script, members_only, number_in, whole_in, word
from guildhall.web.pages.severity import DECLINE_REASONS, rating_page
from guildhall.web.pages.verdict import may_still_amend
from guildhall.web.panes import hits_in, panes_of, window_of
from guildhall.web.rendering import page
from guildhall.web.showing import opened_file, shown_view
from guildhall.web.site import Site

GRADER = Role.GRADER
MOST_HITS = 50
"""Places in one file that a search lists."""


@members_only(GRADER)
def my_work(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """One card a set: what is open, what is done, and the button for the next one."""
    seats = site.queue.seats_of(session.member.id)
    open_seats = [seat for seat in seats if seat.state in {SeatState.LIVE, SeatState.EXPIRED}]
    done = [seat for seat in seats if seat.state in {SeatState.SUBMITTED, SeatState.SURPLUS}]
    cards = [
        {"seat": seat, "task": site.task(seat.slot), "design": site.design(seat.slot.study)} for seat in open_seats
    ]
    member, studies = session.member, open_studies(site)
    return page(
        request,
        "work.html",
        cards=cards,
        done=done,
        now=site.clock(),
        training=any(site.desk(study).in_training(member) for study in studies),
        ratings=any(ratings_wait(site.queue, member, study=study, design=site.design(study)) for study in studies),
        nothing=request.query_params.get("nothing"),
    )


def open_studies(site: Site) -> list[Id]:
    """Studies that ask people; each by its newest frozen form."""
    return [study.id for study in site.studies() if study.design.people is not None]


@members_only(GRADER)
def claim(_request: Request, site: Site, session: Session, form: FormData) -> Response:
    """The next set, or with `rating` the next deliverable whose severity is asked for."""
    studies = open_studies(site)
    mine = [study for study in studies if site.may_judge(session, study)]
    for study in mine:
        design, now = site.design(study), site.clock()
        if word(form, "rating"):
            seat = next_rating(site.queue, session.member, study=study, design=design, now=now)
        else:
            seat = next_set(site.queue, site.roster, session.member, study=study, design=design, now=now)
        if seat is not None:
            return RedirectResponse(f"/sets/{seat.id}/brief", 303)
    if hidden := [study for study in studies if study not in mine]:
        site.refuse_to_show(session, hidden[0])
    return RedirectResponse("/sets?nothing=1", 303)


@members_only(GRADER)
def brief(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """The brief and its files come first; the deliverables only after "I have read this"."""
    seat = _mine(request, site, session)
    if seat.state is SeatState.DECLINED:
        return RedirectResponse("/sets", 303)
    if request.method == "POST":
        site.queue.mark_brief_read(seat.id, now=site.clock())
        return RedirectResponse(f"/sets/{seat.id}", 303)
    warnings = () if request.query_params.get("aware") else site.sensitive(seat)
    view = None if warnings else shown_view(site, seat)
    design = site.design(seat.slot.study)
    return page(request, "brief.html", seat=seat, view=view, warnings=warnings, declines=DECLINE_REASONS, design=design)


@members_only(GRADER)
def compare(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """The deliverables side by side, and the verdict beside them."""
    seat = _mine(request, site, session)
    amending = bool(request.query_params.get("amend")) and may_still_amend(site, seat)
    if seat.state is SeatState.DECLINED:
        return RedirectResponse("/sets", 303)
    if seat.judgment and not amending:
        return RedirectResponse(f"/sets/{seat.id}/receipt", 303)
    if seat.read_brief_at is None:
        return RedirectResponse(f"/sets/{seat.id}/brief", 303)
    if seat.slot.kind is SlotKind.SEVERITY:
        return rating_page(request, site, seat, faults=[])
    view, panes = panes_of(site, seat, request.query_params.get("rows", ""))
    return page(
        request,
        "compare.html",
        seat=seat,
        view=view,
        panes=panes,
        answers=json.loads(seat.draft) if seat.draft else {},
        criteria={"Objective": OBJECTIVE, "Subjective": SUBJECTIVE},
        overall=OVERALL,
        strengths=STRENGTHS,
        steps=STEPS,
        acceptances=[str(one) for one in Acceptance],
        specifications=[str(one) for one in Specification],
        design=site.design(seat.slot.study),
        declines=() if amending else DECLINE_REASONS,
        amending=amending,
    )


@members_only(GRADER)
def opened(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """One file of a set that is open, or a window of a sheet, or the words on a page: what a script puts in place."""
    seat = _open_set(request, site, session)
    what, asked = request.path_params["file"], request.query_params
    sheet, top, left, words = (
        whole_in(asked.get(name, "0"), 9_999_999) or 0 for name in ("sheet", "top", "left", "words")
    )
    file = opened_file(site, seat, what, words_of=words or 1)
    if words > len(file.pages):
        raise HTTPException(404)
    window = window_of(file.sheets, sheet, top, left)
    part = "words" if words else "cells" if "cells" in asked else "file"
    return page(request, "opened.html", part=part, number=words, seat=seat, file=file, window=window)


@members_only(GRADER)
def search(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """Where words stand in all files of a set."""
    seat = _open_set(request, site, session)
    asked = request.query_params.get("q", "")[:100].strip()
    found = hits_in(site, seat, asked)
    return page(request, "hits.html", seat=seat, asked=asked, found=found, most=MOST_HITS, bare=by_script(request))


def _open_set(request: Request, site: Site, session: Session) -> Seat:
    """A set of theirs whose deliverables they may see now."""
    seat = _mine(request, site, session)
    over = seat.judgment is not None and not may_still_amend(site, seat)
    if over or seat.read_brief_at is None or seat.state is SeatState.DECLINED:
        raise UnknownName("set", seat.id)
    return seat


@members_only(GRADER)
def save(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Keep a draft. A script is told the new version; a plain form is sent back to the page."""
    seat = _mine(request, site, session)
    draft = json.dumps(answers_of(form), ensure_ascii=False)
    design = site.design(seat.slot.study)
    version = int(_number(word(form, "draft_version")))
    try:
        version = site.queue.save(seat.id, draft, version=version, now=site.clock(), lease_s=design.lease_hours * 3600)
    except StaleDraft as stale:
        if by_script(request):
            stored = json.loads(stale.stored) if stale.stored else {}
            return JSONResponse({"version": stale.version, "stored": stored}, 409)
        return page(request, "stale.html", status=409, seat=seat, mine=answers_of(form), label_of=label_of)
    if by_script(request):
        return JSONResponse({"version": version, "saved_at": site.clock()})
    return RedirectResponse(f"/sets/{seat.id}{_after(form)}", 303)


def _after(form: FormData) -> str:
    """Where one goes on after saving: the review, or the comparing page with the files that were asked for."""
    asked = {"amend": "1"} if word(form, "amend") else {}
    step, _, rest = word(form, "next").partition(":")
    if step == "rows":
        asked["rows"] = rest
    elif step == "chosen":
        place, before, after = (*rest.split(":"), "", "")[:3]
        asked["rows"] = f"{before}{word(form, f'row-{place}')}{after}"
    return f"{'/review' if step == 'review' else ''}{'?' if asked else ''}{urlencode(asked)}"


@members_only(GRADER)
def beat(request: Request, site: Site, session: Session, form: FormData) -> Response:
    seat = _mine(request, site, session)
    told = Beat(
        visible=word(form, "visible") == "1",
        focused=word(form, "focused") == "1",
        idle_s=_number(word(form, "idle_s")),
        media=word(form, "media") == "1",
        outside=word(form, "outside") == "1",
        words_in_view=int(_number(word(form, "words"))),
    )
    design: HallDesign = site.design(seat.slot.study)
    tally = site.queue.beat(seat.id, told, now=site.clock(), lease_s=design.lease_hours * 3600)
    return JSONResponse({"active_s": tally.active_s})


@members_only(GRADER)
def decline(request: Request, site: Site, session: Session, form: FormData) -> Response:
    seat = _mine(request, site, session)
    reason = word(form, "reason")
    if reason not in DECLINE_REASONS:
        raise HTTPException(400, "choose a reason from the list")
    site.queue.decline(seat.id, f"{reason}. {word(form, 'note')}".strip(), now=site.clock())
    return RedirectResponse("/sets", 303)


def _mine(request: Request, site: Site, session: Session) -> Seat:
    return site.seat(request.path_params["seat"], session)


def _number(text: str) -> float:
    value = number_in(text or "0", -math.inf, math.inf)
    if value is None:
        raise HTTPException(400, "a number is expected")
    return min(max(value, 0.0), 1e6)


ROUTES: list[BaseRoute] = [
    Route("/sets", my_work),
    Route("/sets/claim", claim, methods=["POST"]),
    Route("/sets/{seat}", compare),
    Route("/sets/{seat}/brief", brief, methods=["GET", "POST"]),
    Route("/sets/{seat}/files/{file}", opened),
    Route("/sets/{seat}/search", search),
    Route("/sets/{seat}/draft", save, methods=["POST"]),
    Route("/sets/{seat}/beat", beat, methods=["POST"]),
    Route("/sets/{seat}/decline", decline, methods=["POST"]),
]
