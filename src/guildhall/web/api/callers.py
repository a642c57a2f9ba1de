"""Who calls the API: a bearer token, the scopes it carries, and how often it may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from guildhall.errors import UnknownName
from guildhall.web.access import ApiCaller
from guildhall.web.site import Site

bearer = HTTPBearer(auto_error=False, description="A token a manager made on the page Tokens.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]


def needs(scope: str) -> Callable[[Request, HTTPAuthorizationCredentials | None], ApiCaller]:
    """A dependency: the caller, once their token is good, carries the scope and is within its quota."""

    def caller(request: Request, credentials: Credentials) -> ApiCaller:
        found = _caller(request.app.state.site, credentials)
        if found is None:
            raise HTTPException(401, "send a token as 'Authorization: Bearer ...'", {"WWW-Authenticate": "Bearer"})
        if scope not in found.scopes:
            raise HTTPException(403, f"this token lacks the scope {scope}")
        if not request.app.state.calls.allows(found.token_digest):
            raise HTTPException(429, "too many calls; wait a moment", {"Retry-After": "10"})
        return found

    caller.scope = scope  # type: ignore[attr-defined]  # the permission table is generated from this
    return caller


def _caller(site: Site, credentials: HTTPAuthorizationCredentials | None) -> ApiCaller | None:
    if credentials is None:
        return None
    try:
        return site.door.api_caller(credentials.credentials)
    except UnknownName:  # the person who made the token was revoked, and their tokens with them
        return None
