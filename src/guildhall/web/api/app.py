"""The API as an app of its own: errors as JSON, an OpenAPI document, and a page that shows it without a script."""

from __future__ import annotations

from threading import BoundedSemaphore

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse

from guildhall import __version__
from guildhall.errors import GuildhallError, NotEnoughData, UnknownName
from guildhall.web.api import gradings, studies
from guildhall.web.rendering import page
from guildhall.web.security import RateLimit
from guildhall.web.site import Site

CALLS_PER_MINUTE, BURST = 600, 100


def api_app(site: Site, *, calls: RateLimit | None = None) -> FastAPI:
    """The API of one workspace, to be mounted at `/api/v1`."""
    app = FastAPI(
        title="Guildhall",
        version=__version__,
        description="Studies, their progress and their results, and a grading service, for programs.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        exception_handlers={GuildhallError: _our_problem, Exception: _unexpected},
    )
    app.state.site = site
    app.state.calls = calls or RateLimit(per_minute=CALLS_PER_MINUTE, burst=BURST)
    app.state.uploads = BoundedSemaphore(gradings.UPLOADS_AT_ONCE)
    app.include_router(studies.router)
    app.include_router(gradings.router)
    app.get("/docs", include_in_schema=False)(_docs)
    return app


def _docs(request: Request) -> HTMLResponse:
    """The OpenAPI document as a page; a bundled viewer would need scripts from elsewhere."""
    return page(request, "api.html", schema=request.app.openapi())


async def _our_problem(_request: Request, error: Exception) -> JSONResponse:
    status = 404 if isinstance(error, UnknownName) else 409 if isinstance(error, NotEnoughData) else 400
    return JSONResponse({"detail": str(error)}, status)


async def _unexpected(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"detail": "something broke on our side; the server's log says what"}, 500)
