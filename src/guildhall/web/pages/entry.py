"""Coming in and going out: the button behind an entry link, passkeys, leaving; and whether the server is well."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.store.audit import record
from guildhall.web.access import Session
from guildhall.web.connections import site_of
from guildhall.web.frame import sought_in
from guildhall.web.guard import current_session, members_only, sent_form, word
from guildhall.web.mail import Mail
from guildhall.web.passkeys import Passkeys
from guildhall.web.rendering import page
from guildhall.web.site import Site


async def alive(_request: Request) -> Response:
    return PlainTextResponse("alive\n")


async def ready(request: Request) -> Response:
    """Ready when the database answers; why it does not is for the server's log, not for the world."""
    site: Site = request.app.state.site
    able = await site.pulse.feel()
    return PlainTextResponse("ready\n" if able else "the database does not answer\n", 200 if able else 503)


HEALTH: list[BaseRoute] = [Route("/healthz", alive), Route("/readyz", ready)]


SESSION_S = 7 * 86400
MOST_HITS = 20
HOME = {Role.GRADER: "/sets", Role.MANAGER: "/manage", Role.AUDITOR: "/manage"}


async def home(request: Request) -> Response:
    session = await run_in_threadpool(current_session, request)
    return RedirectResponse(HOME.get(session.member.role, "/tasks") if session else "/enter", 303)


@members_only(*Role)
def find(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """What holds all the words sought, by kind; a single hit opens at once."""
    asked = request.query_params.get("q", "").strip()[:100]
    found = sought_in(site, session, asked)
    every = [hit for hits in found.values() for hit in hits]
    if len(every) == 1:
        return RedirectResponse(every[0].address, 303)
    return page(request, "find.html", sought=asked, found=found, most=MOST_HITS)


async def closed_door(request: Request) -> Response:
    """Without a link or a passkey there is no way in, and nothing to try: no names, no passwords."""
    by_mail = await run_in_threadpool(Mail(request.app.state.site).settings) is not None
    return page(request, "enter.html", token=None, holder=None, by_mail=by_mail, asked=False)


async def send_link(request: Request) -> Response:
    """A link by e-mail to whoever has an address. The page says the same whether anybody has it or not."""
    mail, state = Mail(request.app.state.site), request.app.state
    form = await sent_form(request)
    address = word(form, "email")[:320]
    if await run_in_threadpool(mail.settings) is None:
        raise HTTPException(404)
    if refusal := await too_many_tries(request):
        return refusal
    if await run_in_threadpool(state.letters.allows, address.casefold()):
        await run_in_threadpool(mail.write_to_address, address)
    return page(request, "enter.html", token=None, holder=None, by_mail=True, asked=True)


async def link(request: Request) -> Response:
    """Opening a link changes nothing: only the button uses it up."""
    site: Site = request.app.state.site
    token = request.path_params["token"]
    if refusal := await too_many_tries(request):
        return refusal
    if request.method == "POST":
        opened = await run_in_threadpool(site.door.enter_by_link, token, now=site.clock())
        if opened is not None:
            response = RedirectResponse("/", 303)
            response.set_cookie(**request.app.state.cookie, value=opened, max_age=SESSION_S)
            return response
    holder = await run_in_threadpool(site.door.link_holder, token, now=site.clock())
    return page(request, "enter.html", status=200 if holder else 410, token=token, holder=holder, asked=False)


@members_only(*Role)
def leave(request: Request, site: Site, session: Session, form: FormData) -> Response:
    if form.get("everywhere"):
        site.door.leave_everywhere(session.member.id)
    else:
        site.door.leave(session.token_digest)
    response = RedirectResponse("/enter", 303)
    response.delete_cookie(request.app.state.cookie["key"], path="/")
    return response


async def too_many_tries(request: Request) -> Response | None:
    """A page for whoever tried to come in too often from one address (an IPv6 site); None for all others."""
    caller = site_of(request.client.host) if request.client else "unknown"
    if await run_in_threadpool(request.app.state.entries.allows, caller):
        return None
    return page(request, "problem.html", status=429, title="Too many tries", words="Wait a minute, then try again.")


ROUTES: list[BaseRoute] = [
    Route("/", home),
    Route("/enter", closed_door),
    Route("/enter/mail", send_link, methods=["POST"]),
    Route("/enter/{token}", link, methods=["GET", "POST"]),
    Route("/find", find),
    Route("/leave", leave, methods=["POST"]),
]


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
    Passkeys(site).add(session.member, word(form, "credential"), name=name, own=session.own)
    _note(site, session, "passkey added")
    return RedirectResponse("/account", 303)


@members_only(*Role)
def remove(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    Passkeys(site).remove(session.member.id, request.path_params["passkey"])
    _note(site, session, "passkey removed")
    return RedirectResponse("/account", 303)


async def options_to_enter(request: Request) -> Response:
    """A question to whoever stands at the door; it says nothing about who is known here."""
    if await too_many_tries(request):
        return Response("{}", 429, media_type=JSON)
    passkeys = Passkeys(request.app.state.site)
    return Response(await run_in_threadpool(passkeys.options_to_enter), media_type=JSON)


async def enter(request: Request) -> Response:
    """Come in by a passkey: a fresh session, whatever the visitor brought along."""
    if refusal := await too_many_tries(request):
        return refusal
    form = await sent_form(request)
    passkeys = Passkeys(request.app.state.site)
    opened = await run_in_threadpool(passkeys.enter, word(form, "credential"))
    if opened is None:
        words = "This passkey is not known here, or its answer came too late. Try again, or use the link you were sent."
        return page(request, "problem.html", status=403, title="Not let in", words=words)
    response = RedirectResponse("/", 303)
    response.set_cookie(**request.app.state.cookie, value=opened, max_age=SESSION_S)
    return response


def _note(site: Site, session: Session, action: str) -> None:
    """Without the name its holder gave it: people name devices after themselves, and the log is never rewritten."""
    own = session.member.code_name
    record(site.store, at=site.clock(), actor=own, action=action, subject=own, facts={})


ACCOUNT: list[BaseRoute] = [
    Route("/account", account),
    Route("/account/passkeys/options", options_to_add, methods=["POST"]),
    Route("/account/passkeys", add, methods=["POST"]),
    Route("/account/passkeys/{passkey}/remove", remove, methods=["POST"]),
    # Before the page behind a link, whose token could be called anything.
    Route("/enter/passkey/options", options_to_enter, methods=["POST"]),
    Route("/enter/passkey", enter, methods=["POST"]),
]
