"""Coming in and going out: the button page behind an entry link, and leaving."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.web.access import Session
from guildhall.web.guard import current_session, members_only, word
from guildhall.web.mail import Mail
from guildhall.web.rendering import page
from guildhall.web.site import Site

SESSION_S = 7 * 86400
HOME = {Role.GRADER: "/sets", Role.MANAGER: "/manage", Role.AUDITOR: "/manage"}


async def home(request: Request) -> Response:
    session = await run_in_threadpool(current_session, request)
    return RedirectResponse(HOME.get(session.member.role, "/tasks") if session else "/enter", 303)


async def closed_door(request: Request) -> Response:
    """Without a link or a passkey there is no way in, and nothing to try: no names, no passwords."""
    by_mail = await run_in_threadpool(Mail(request.app.state.site).settings) is not None
    return page(request, "enter.html", token=None, holder=None, by_mail=by_mail, asked=False)


async def send_link(request: Request) -> Response:
    """A link by e-mail to whoever has an address. The page says the same whether anybody has it or not."""
    mail, state = Mail(request.app.state.site), request.app.state
    form = await request.form(max_files=0, max_fields=4)
    address = word(form, "email")[:320]
    if await run_in_threadpool(mail.settings) is None:
        raise HTTPException(404)
    if not state.entries.allows(caller_of(request)):
        return page(request, "problem.html", status=429, title="Too many tries", words="Wait a minute, then try again.")
    if state.letters.allows(address.casefold()):
        await run_in_threadpool(mail.write_to_address, address)
    return page(request, "enter.html", token=None, holder=None, by_mail=True, asked=True)


async def link(request: Request) -> Response:
    """Opening a link changes nothing: only the button uses it up."""
    site: Site = request.app.state.site
    token = request.path_params["token"]
    if not request.app.state.entries.allows(caller_of(request)):
        return page(request, "problem.html", status=429, title="Too many tries", words="Wait a minute, then try again.")
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


def caller_of(request: Request) -> str:
    """Whose tries are counted together: those of one address."""
    return request.client.host if request.client else "unknown"


ROUTES: list[BaseRoute] = [
    Route("/", home),
    Route("/enter", closed_door),
    Route("/enter/mail", send_link, methods=["POST"]),
    Route("/enter/{token}", link, methods=["GET", "POST"]),
    Route("/leave", leave, methods=["POST"]),
]
