"""Coming in and going out: the button page behind an entry link, and leaving."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.web.access import Session
from guildhall.web.guard import current_session, members_only
from guildhall.web.rendering import page
from guildhall.web.site import Site

SESSION_S = 7 * 86400
HOME = {Role.GRADER: "/sets", Role.MANAGER: "/manage", Role.AUDITOR: "/manage"}


async def home(request: Request) -> Response:
    session = await run_in_threadpool(current_session, request)
    return RedirectResponse(HOME.get(session.member.role, "/tasks") if session else "/enter", 303)


async def closed_door(request: Request) -> Response:
    """Without a link there is no way in, and nothing to try: no names, no passwords."""
    return page(request, "enter.html", token=None, holder=None)


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
    return page(request, "enter.html", status=200 if holder else 410, token=token, holder=holder)


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
    Route("/enter/{token}", link, methods=["GET", "POST"]),
    Route("/leave", leave, methods=["POST"]),
]
