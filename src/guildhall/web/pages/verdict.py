"""The last steps of a grading: all answers once more, the question whether the blind held, submit, receipt."""

from __future__ import annotations

import json
import secrets

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.domain.judgments import BlindGuess
from guildhall.errors import InputError
from guildhall.grading.queue import Seat
from guildhall.grading.submitting import check_verdict, submit
from guildhall.web.access import Session
from guildhall.web.forms import ANSWERS, verdict_of
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site


@members_only(Role.GRADER)
def review(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    seat = site.seat(request.path_params["seat"], session.member.id)
    return _review(request, site, seat, extra=[])


def _review(request: Request, site: Site, seat: Seat, *, extra: list[str], status: int = 200) -> Response:
    answers = json.loads(seat.draft) if seat.draft else {}
    verdict, faults = verdict_of(answers, seat)
    if verdict is not None:
        faults = check_verdict(verdict, seat, site.design(seat.slot.study))
    shown = [(label, answers[name]) for name, label in ANSWERS.items() if name in answers and name != "notes"]
    return page(
        request,
        "review.html",
        status=status,
        seat=seat,
        shown=shown,
        faults=[*faults, *extra],
        guesses=[str(one) for one in BlindGuess] if len(seat.slot.order) == 2 else [],
        submit_key=secrets.token_hex(16),
    )


@members_only(Role.GRADER)
def send(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Submit: durable before the receipt is shown; a second press of the button changes nothing."""
    seat = site.seat(request.path_params["seat"], session.member.id)
    guess = word(form, "guess")
    if guess and guess not in {str(one) for one in BlindGuess}:
        raise HTTPException(400, "choose an answer from the list")
    verdict, faults = verdict_of(json.loads(seat.draft) if seat.draft else {}, seat, guess=guess)
    if verdict is None:
        return _review(request, site, seat, extra=faults, status=422)
    design = site.design(seat.slot.study)
    try:
        submit(site.queue, seat, session.member, verdict, design=design, submit_key=_key(form, seat), now=site.clock())
    except InputError as error:
        return _review(request, site, seat, extra=[str(error)], status=422)
    return RedirectResponse(f"/work/{seat.id}/receipt", 303)


def _key(form: FormData, seat: Seat) -> str:
    """The key the page was given; a page without one still submits once, by its seat."""
    given = word(form, "submit_key")
    return given if len(given) == 32 and given.isalnum() else seat.id


@members_only(Role.GRADER)
def receipt(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    seat = site.seat(request.path_params["seat"], session.member.id)
    if not seat.judgment:
        return RedirectResponse(f"/work/{seat.id}", 303)
    return page(request, "receipt.html", seat=seat)


ROUTES: list[BaseRoute] = [
    Route("/work/{seat}/review", review),
    Route("/work/{seat}/submit", send, methods=["POST"]),
    Route("/work/{seat}/receipt", receipt),
]
