"""Pages for members: the session is looked up, the role checked and the form's token compared before a page runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from guildhall.domain.halls import Role
from guildhall.web.access import Session, same_token
from guildhall.web.security import MOST_BODY_BYTES, SAFE_METHODS, TooLarge
from guildhall.web.site import Site

Page = Callable[[Request], Awaitable[Response]]
Handler = Callable[[Request, Site, Session, FormData], Response]
FORM_FIELD, FORM_HEADER = "form_token", "x-form-token"


MOST_UPLOAD_BYTES = 256 << 20


def members_only(*roles: Role, files: int = 0) -> Callable[[Handler], Page]:
    """A page for the given roles. It runs in a thread, since it talks to the database.

    Its form may carry up to `files` files; a page with files lives below one of the app's upload routes.
    """

    def decorate(handler: Handler) -> Page:
        @wraps(handler)
        async def guarded(request: Request) -> Response:
            site: Site = request.app.state.site
            session = await run_in_threadpool(current_session, request)
            if session is None:
                return RedirectResponse("/enter", 303)
            if session.member.role not in roles:
                raise HTTPException(404)  # what one may not see does not exist
            request.state.session = session
            form = await _checked_form(request, session, files=files)
            try:
                return await run_in_threadpool(handler, request, site, session, form)
            finally:
                await form.close()

        guarded.roles = roles  # type: ignore[attr-defined]  # the permission matrix is generated from this
        return guarded

    return decorate


def current_session(request: Request) -> Session | None:
    site: Site = request.app.state.site
    return site.door.session(request.cookies.get(request.app.state.cookie["key"]), now=site.clock())


async def _checked_form(request: Request, session: Session, *, files: int) -> FormData:
    if request.method in SAFE_METHODS:
        return FormData()
    # A server reads no more than the length it was told, so the length is all there is to check.
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > (MOST_UPLOAD_BYTES if files else MOST_BODY_BYTES):
        raise TooLarge
    form = await request.form(max_files=files, max_fields=2000)
    given: Any = form.get(FORM_FIELD) or request.headers.get(FORM_HEADER)
    if not same_token(given if isinstance(given, str) else None, session.form_token):
        raise HTTPException(
            403, "this form is too old or came from elsewhere; go back, reload the page and send it again"
        )
    return form


def word(form: FormData, name: str) -> str:
    """One text field of a form; a missing one is empty. Zero bytes, which no database takes, are dropped."""
    value = form.get(name)
    return value.replace("\x00", "").strip() if isinstance(value, str) else ""
