"""For whoever keeps the server running: is the process alive, and can it do its work."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.web.site import Site


async def alive(_request: Request) -> Response:
    return PlainTextResponse("alive\n")


async def ready(request: Request) -> Response:
    """Ready when the database answers; why it does not is for the server's log, not for the world."""
    site: Site = request.app.state.site
    able = await run_in_threadpool(_database_answers, site)
    return PlainTextResponse("ready\n" if able else "the database does not answer\n", 200 if able else 503)


def _database_answers(site: Site) -> bool:
    try:
        with site.store.reading() as connection:
            return connection.execute(text("SELECT 1")).scalar() == 1
    except SQLAlchemyError:
        return False


ROUTES: list[BaseRoute] = [Route("/healthz", alive), Route("/readyz", ready)]
