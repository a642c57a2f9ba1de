"""One's own page: passkeys, and leaving on every device. Also the way in by a passkey."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.store.audit import record
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.pages.entry import SESSION_S, caller_of
from guildhall.web.passkeys import Passkeys
from guildhall.web.rendering import page
from guildhall.web.site import Site

JSON = "application/json"


@members_only(*Role)
def account(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    return page(request, "account.html", passkeys=Passkeys(site).of(session.member.id))


@members_only(*Role)
def options_to_add(_request: Request, site: Site, session: Session, _form: FormData) -> Response:
    return Response(Passkeys(site).options_to_add(session.member), media_type=JSON)


@members_only(*Role)
def add(_request: Request, site: Site, session: Session, form: FormData) -> Response:
    name = word(form, "name")[:100] or "passkey"
    Passkeys(site).add(session.member, word(form, "credential"), name=name)
    _note(site, session, "passkey added", name)
    return RedirectResponse("/account", 303)


@members_only(*Role)
def remove(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    removed = Passkeys(site).remove(session.member.id, request.path_params["passkey"])
    _note(site, session, "passkey removed", removed.name)
    return RedirectResponse("/account", 303)


async def options_to_enter(request: Request) -> Response:
    """A question to whoever stands at the door; it says nothing about who is known here."""
    if not request.app.state.entries.allows(caller_of(request)):
        return Response("{}", 429, media_type=JSON)
    passkeys = Passkeys(request.app.state.site)
    return Response(await run_in_threadpool(passkeys.options_to_enter), media_type=JSON)


async def enter(request: Request) -> Response:
    """Come in by a passkey: a fresh session, whatever the visitor brought along."""
    if not request.app.state.entries.allows(caller_of(request)):
        return page(request, "problem.html", status=429, title="Too many tries", words="Wait a minute, then try again.")
    form = await request.form(max_files=0, max_fields=4)
    passkeys = Passkeys(request.app.state.site)
    opened = await run_in_threadpool(passkeys.enter, word(form, "credential"))
    if opened is None:
        words = "This passkey is not known here, or its answer came too late. Try again, or use the link you were sent."
        return page(request, "problem.html", status=403, title="Not let in", words=words)
    response = RedirectResponse("/", 303)
    response.set_cookie(**request.app.state.cookie, value=opened, max_age=SESSION_S)
    return response


def _note(site: Site, session: Session, action: str, subject: str) -> None:
    record(site.store, at=site.clock(), actor=session.member.code_name, action=action, subject=subject, facts={})


ROUTES: list[BaseRoute] = [
    Route("/account", account),
    Route("/account/passkeys/options", options_to_add, methods=["POST"]),
    Route("/account/passkeys", add, methods=["POST"]),
    Route("/account/passkeys/{passkey}/remove", remove, methods=["POST"]),
    # Before the page behind a link, whose token could be called anything.
    Route("/enter/passkey/options", options_to_enter, methods=["POST"]),
    Route("/enter/passkey", enter, methods=["POST"]),
]
