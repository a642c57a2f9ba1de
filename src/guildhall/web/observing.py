"""The outermost door of a server: every request gets an id, a log line, a mark in traces, and is counted.

A line names the route and never the address, which may hold a token; whoever is inside is told by code name.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from guildhall.observe.spans import Doing, listening, span
from guildhall.web.site import Site

if TYPE_CHECKING:
    from guildhall.observe.metrics import Metrics
    from guildhall.web.metrics import MetricsAt


@contextmanager
def measuring(site: Site, at: MetricsAt) -> Iterator[Metrics]:
    """Count what this process does and serve the figures."""
    from guildhall.observe.metrics import Metrics
    from guildhall.web.metrics import WorkspaceFigures, serving_metrics

    metrics = Metrics()
    metrics.registry.register(WorkspaceFigures(site.store, site.clock, site.workspace.path))
    with listening(metrics), serving_metrics(at, metrics.registry):
        yield metrics


REQUEST_ID = "X-Request-ID"
UNMATCHED = "unmatched"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SOUND_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET = frozenset({"/healthz", "/readyz"})
"""Asked every few seconds by machines; told only when something is wrong."""
logger = logging.getLogger("guildhall.web")


class Observed:
    """An app whose requests are told. A request id that a proxy gave is kept when it looks like one."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics | None = None) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = _identity(Headers(scope=scope))
        answer: dict[str, int] = {}

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = identity
            await send(message)

        started = time.monotonic()
        if self._metrics:
            self._metrics.open_requests.inc()
        with structlog.contextvars.bound_contextvars(request_id=identity):
            try:
                with span(Doing.REQUEST, request_id=identity, method=_method(scope)) as facts:
                    try:
                        await self._app(scope, receive, noting)
                    finally:
                        facts.update(route=route_of(scope), status=answer.get("status", 500))
            finally:
                self._told(scope, answer.get("status", 500), time.monotonic() - started)

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = route_of(scope), _method(scope)
        if self._metrics:
            self._metrics.open_requests.dec()
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
        if route in _QUIET and status < 400:
            return
        facts = {"method": method, "route": route, "status": status, "duration_ms": round(1000 * seconds, 1)}
        logger.info("request", extra=facts | _who(scope))


def route_of(scope: Scope) -> str:
    """The route's template, such as `/sets/{seat}/submit`: one of a few, whatever was asked for."""
    route: Any = scope.get("route")
    if route is None:
        return UNMATCHED
    prefix: str = scope.get("root_path", "")
    return prefix if isinstance(route, Mount) else f"{prefix}{route.path}"


def _who(scope: Scope) -> dict[str, str]:
    session = scope.get("state", {}).get("session")
    return {"who": session.member.code_name} if session is not None else {}


def _identity(headers: Headers) -> str:
    given = headers.get(REQUEST_ID, "")
    return given if _SOUND_ID.fullmatch(given) else secrets.token_hex(8)


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "OTHER"
