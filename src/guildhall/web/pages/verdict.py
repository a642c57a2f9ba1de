"""The last steps of a grading: all answers once more, the question whether the blind held, submit, receipt, amend."""

from __future__ import annotations

import json
import secrets

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role, SlotKind, Verdict
from guildhall.domain.judgments import BlindGuess, Judgment, TimeCorrection
from guildhall.errors import InputError
from guildhall.grading.gold import judged_right
from guildhall.grading.queue import Seat
from guildhall.grading.submitting import AMEND_S, amend, check_verdict, first_of, may_amend, submit
from guildhall.study.unblinding import unblinding
from guildhall.web.access import Session
from guildhall.web.forms import ANSWERS, correction_of, is_private, label_of, verdict_of, words_of
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site


@members_only(Role.GRADER)
def review(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    seat = site.seat(request.path_params["seat"], session)
    amending = bool(request.query_params.get("amend")) and may_still_amend(site, seat)
    if seat.judgment and not amending:
        return RedirectResponse(f"/sets/{seat.id}/receipt", 303)
    return _review(request, site, seat, amending=amending)


def _review(
    request: Request, site: Site, seat: Seat, *, amending: bool, refused: tuple[str, ...] = (), status: int = 200
) -> Response:
    answers = _answers(seat)
    verdict, missing = verdict_of(answers, seat)
    if verdict is not None:
        missing = check_verdict(verdict, seat, site.design(seat.slot.study))
    order = list(ANSWERS)
    shown = sorted((name for name in answers if not is_private(name)), key=order.index)
    return page(
        request,
        "review.html",
        status=status,
        seat=seat,
        shown=[(label_of(name), words_of(name, answers[name])) for name in shown],
        notes=[(label_of(name), answers[name]) for name in answers if is_private(name)],
        missing=missing,
        refused=refused,
        amending=amending,
        guesses=[str(one) for one in BlindGuess] if len(seat.slot.order) == 2 and not amending else [],
        submit_key=secrets.token_hex(16),
    )


@members_only(Role.GRADER)
def send(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Submit: durable before the receipt is shown; a second press of the button changes nothing."""
    seat = site.seat(request.path_params["seat"], session)
    amending = bool(word(form, "amend"))
    guess = word(form, "guess")
    if guess and guess not in {str(one) for one in BlindGuess}:
        raise HTTPException(400, "choose an answer from the list")
    verdict, faults = verdict_of(_answers(seat), seat, guess=guess)
    if verdict is None:
        return _review(request, site, seat, amending=amending, refused=tuple(faults), status=422)
    try:
        _keep(site, seat, session, verdict, form, correction=correction_of(form))
    except InputError as error:
        return _review(request, site, seat, amending=amending, refused=(str(error),), status=422)
    if seat.slot.kind is SlotKind.TRAINING:
        site.desk(seat.slot.study).note_result(session.member)
    return RedirectResponse(f"/sets/{seat.id}/receipt", 303)


def _keep(
    site: Site, seat: Seat, session: Session, verdict: Verdict, form: FormData, *, correction: TimeCorrection | None
) -> None:
    design, now = site.design(seat.slot.study), site.clock()
    if word(form, "amend"):
        if unblinding(site.store, seat.slot.study).open:
            raise InputError("who made what is known by now in this study; its judgments can no longer be changed")
        why = word(form, "why")
        amend(site.queue, seat, session.member, verdict, why=why, design=design, now=now, correction=correction)
    else:
        key = _key(form, seat)
        submit(site.queue, seat, session.member, verdict, design=design, submit_key=key, now=now, correction=correction)


def _answers(seat: Seat) -> dict[str, str]:
    found: dict[str, str] = json.loads(seat.draft) if seat.draft else {}
    return found


def _key(form: FormData, seat: Seat) -> str:
    """The key the page was given; a page without one still submits once, by its seat."""
    given = word(form, "submit_key")
    return given if len(given) == 32 and given.isalnum() else seat.id


def may_still_amend(site: Site, seat: Seat) -> bool:
    """Whether a finished comparison can be changed now; ratings of severity cannot, nor what is blind no more."""
    if seat.judgment is None or seat.slot.kind is SlotKind.SEVERITY or unblinding(site.store, seat.slot.study).open:
        return False
    first = first_of(site.queue, site.store.get(Judgment, seat.judgment))
    return may_amend(seat, first, now=site.clock())


@members_only(Role.GRADER)
def receipt(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    seat = site.seat(request.path_params["seat"], session)
    if not seat.judgment:
        return RedirectResponse(f"/sets/{seat.id}", 303)
    judgment = None if seat.slot.kind is SlotKind.SEVERITY else site.store.get(Judgment, seat.judgment)
    item = site.desk(seat.slot.study).item_of(seat) if seat.slot.kind is SlotKind.TRAINING else None
    amend_until = None
    if judgment is not None and may_still_amend(site, seat):
        amend_until = first_of(site.queue, judgment).made_at.timestamp() + AMEND_S
    return page(
        request,
        "receipt.html",
        seat=seat,
        correction=judgment.correction if judgment else None,
        amended=judgment is not None and judgment.replaces is not None,
        amend_until=amend_until,
        lesson=item.explanation if item else None,
        right=judged_right(judgment, item) if judgment and item else None,
        passed=session.member.quiz_passed,
    )


ROUTES: list[BaseRoute] = [
    Route("/sets/{seat}/review", review),
    Route("/sets/{seat}/submit", send, methods=["POST"]),
    Route("/sets/{seat}/receipt", receipt),
]
