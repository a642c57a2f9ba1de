"""Pages for members: the session is looked up, the role checked and the form's token compared before a page runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
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
    if whole_in(request.headers.get("content-length", ""), MOST_UPLOAD_BYTES if files else MOST_BODY_BYTES) is None:
        raise TooLarge
    form = await sent_form(request, files=files, fields=2000)
    given: Any = form.get(FORM_FIELD) or request.headers.get(FORM_HEADER)
    if not same_token(given if isinstance(given, str) else None, session.form_token):
        raise HTTPException(
            403, "this form is too old or came from elsewhere; go back, reload the page and send it again"
        )
    return form


async def sent_form(request: Request, *, files: int = 0, fields: int = 4) -> FormData:
    """The form of a request, every text in it one that can be stored and shown; 400 for what is no form."""
    try:
        form = await request.form(max_files=files, max_fields=fields)
    except ValueError as error:  # an encoding of its own choice, which its bytes are not in
        raise HTTPException(400, "this form cannot be read; send it as UTF-8") from error
    return FormData([(_sound(name), _sound_part(part)) for name, part in form.multi_items()])


def _sound_part(part: UploadFile | str) -> UploadFile | str:
    if isinstance(part, str):
        return _sound(part)
    part.filename = _sound(part.filename) if part.filename else None
    return part


def _sound(text: str) -> str:
    """Without zero bytes, which no database takes, and without halves of letters, which no page can hold."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def by_script(request: Request) -> bool:
    """Whether a script of ours asks, which reads the answer itself."""
    return request.headers.get("accept", "").startswith("application/json")


def word(form: FormData, name: str) -> str:
    """One text field of a form; a missing one is empty."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def number_in(text: str, least: float, most: float) -> float | None:
    """The number within limits that a text states; None for whatever else it is. "nan" lies within no limits."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if least <= value <= most else None


def whole_in(text: str, most: int) -> int | None:
    """The whole number from 0 that a text states in plain digits; None for whatever else it is, however long."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most))):
        return None
    return int(text) if int(text) <= most else None
