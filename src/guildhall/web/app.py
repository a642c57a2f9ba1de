"""The app: routes of all pages behind one guard, errors as pages, static files from the package."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from guildhall.errors import GuildhallError, UnknownName
from guildhall.web.api.app import api_app
from guildhall.web.pages import (
    authoring,
    designing,
    entry,
    manage,
    people,
    results,
    reviewing,
    severity,
    verdict,
    work,
)
from guildhall.web.rendering import page
from guildhall.web.security import (
    PlainAddresses,
    SameSiteWrites,
    SecurityHeaders,
    SharedLimit,
    TooLarge,
    cookie_settings,
)
from guildhall.web.site import Site

STATIC = Path(__file__).parent / "static"
"""Beside it, tokens and the looks of reports are served from where reports have them."""
UPLOADS = ("/tasks/", "/api/v1/gradings")
"""Routes that take files and hold their own, larger, limits."""


def routes() -> list[BaseRoute]:
    """Every page; the permission matrix in the tests is made from this list."""
    return [
        *entry.ACCOUNT,
        *entry.ROUTES,
        *work.ROUTES,
        *verdict.ROUTES,
        *severity.ROUTES,
        *manage.ROUTES,
        *designing.ROUTES,
        *manage.DISPUTES,
        *people.ROUTES,
        *manage.WEBHOOKS,
        *manage.GRADINGS,
        *authoring.ROUTES,
        *reviewing.ROUTES,
        *reviewing.BOARD,
        *results.ROUTES,
        *entry.HEALTH,
        Mount("/static", StaticFiles(directory=STATIC, packages=[("guildhall.reports", "static")]), name="static"),
    ]


def create_app(site: Site) -> Starlette:
    """The app for one workspace; deliverables are served by `files_app`, under another host name."""
    app = Starlette(
        routes=[*routes(), Mount("/api/v1", api_app(site), name="api")],
        middleware=[
            Middleware(SecurityHeaders, files_origin=site.addresses.files, https=site.addresses.https),
            Middleware(PlainAddresses),
            Middleware(SameSiteWrites, origin=site.addresses.app, uploads=UPLOADS),
        ],
        exception_handlers={
            HTTPException: _http_problem,
            UnknownName: _unknown,
            GuildhallError: _our_problem,
            TooLarge: _too_large,
            ClientDisconnect: _gone,
            Exception: _unexpected,
        },
    )
    app.router.redirect_slashes = False  # it would send visitors to whatever host a request names
    app.state.site = site
    app.state.cookie = cookie_settings(https=site.addresses.https)
    tries = site.workspace.path / "cache" / "tries.sqlite"
    app.state.entries = SharedLimit(tries, site.workspace.key_for("entries"), per_minute=30, burst=30)
    app.state.letters = SharedLimit(tries, site.workspace.key_for("letters"), per_minute=0.1, burst=3)
    return app


async def _http_problem(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {403: "Not allowed", 404: "Not here", 405: "Not like this", 429: "Too many requests"}
    words = (
        str(getattr(error, "detail", "")) if status not in {404, 405} else "There is no such page, or it is not yours."
    )
    return page(request, "problem.html", status=status, title=known.get(status, "That did not work"), words=words)


async def _unknown(request: Request, _error: Exception) -> Response:
    # The words of the error could tell that a thing exists; the page says the same for all that is not one's own.
    return page(
        request, "problem.html", status=404, title="Not here", words="There is no such page, or it is not yours."
    )


async def _our_problem(request: Request, error: Exception) -> Response:
    return page(request, "problem.html", status=400, title="That did not work", words=str(error))


async def _too_large(request: Request, _error: Exception) -> Response:
    return page(request, "problem.html", status=413, title="Too large", words="This is larger than the form takes.")


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody is there to read it, and nothing broke


async def _unexpected(request: Request, _error: Exception) -> Response:
    words = "Your work is saved up to the last time the page said so. Reload; if it happens again, tell the manager."
    return page(request, "problem.html", status=500, title="Something broke on our side", words=words)
