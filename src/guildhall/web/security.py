"""The guard in front of every page: headers, the form check, size and rate limits. One small module, tests first.

A request that changes something must come from our own pages: the browser's `Sec-Fetch-Site` (or `Origin`) says so, and
its form carries the session's token. Nothing changes on GET.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_BODY_BYTES = 2 << 20
"""Forms are small; uploads go to routes that name their own limit."""


def page_policy(nonce: str, *, files_origin: str) -> str:
    """What a page may load: our own files, scripts with this answer's nonce, deliverables from their own origin."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            "style-src 'self'",
            f"img-src 'self' {files_origin}",
            f"media-src {files_origin}",
            f"frame-src {files_origin}",
            "font-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        )
    )


class SecurityHeaders:
    """Sets the protective headers on every answer, and the nonce each page's scripts carry."""

    def __init__(self, app: ASGIApp, *, files_origin: str, https: bool) -> None:
        self._app, self._files_origin, self._https = app, files_origin, https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = scope.setdefault("state", {})["nonce"] = secrets.token_urlsafe(16)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", page_policy(nonce, files_origin=self._files_origin))
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
                headers.setdefault("Cache-Control", "no-store")
                if self._https:
                    headers["Strict-Transport-Security"] = "max-age=63072000; includeSubDomains"
            await send(message)

        await self._app(scope, receive, guarded)


class PlainAddresses:
    """Refuses addresses with a zero byte in them: no page has one, and PostgreSQL cannot even be asked for it.

    That holds for what is asked behind the question mark too, so that pages may store what they read from there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ("\x00" in scope["path"] or b"%00" in scope["query_string"]):
            await PlainTextResponse("There is no such page.", 404)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class SameSiteWrites:
    """Refuses writes that another site started, and bodies beyond the limit, before anything is parsed."""

    def __init__(self, app: ASGIApp, *, origin: str, uploads: tuple[str, ...] = ()) -> None:
        self._app, self._origin, self._uploads = app, origin, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._from_here(scope, headers):
            await PlainTextResponse("This request came from another site and was refused.", 403)(scope, receive, send)
            return
        if scope["path"].startswith(self._uploads):
            await self._app(scope, receive, send)
            return
        await self._app(scope, _limited(receive, MOST_BODY_BYTES), send)

    def _from_here(self, scope: Scope, headers: Headers) -> bool:
        if scope["path"].startswith("/api/"):
            return True  # programs carry a bearer token and no cookie; the API never looks at cookies
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site in {"same-origin", "none"}
        origin = headers.get("origin")
        return origin is None or origin == self._origin


class TooLarge(Exception):
    """The body is larger than the route takes."""


def _limited(receive: Receive, most: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise TooLarge
        return message

    return counted


@dataclass
class RateLimit:
    """A token bucket a caller: `burst` at once, then `per_minute`; in memory, the oldest callers forgotten first."""

    per_minute: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, caller: str) -> bool:
        now = self.clock()
        tokens, last = self._buckets.pop(caller, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - last) * self.per_minute / 60)
        allowed = tokens >= 1
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        while len(self._buckets) > 10_000:
            self._buckets.popitem(last=False)
        return allowed


@dataclass
class SharedLimit:
    """A token bucket a caller that all processes of a workspace share, kept in a file of its own.

    Not in the database: what strangers try must not stand in the way of judgments. Callers are kept for an hour, as
    digests under a key that is also the limit's name. Where the file cannot be used, each process counts for itself.
    """

    file: Path
    key: bytes
    per_minute: float
    burst: int
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._own = RateLimit(self.per_minute, self.burst, clock=self.clock)

    def allows(self, caller: str) -> bool:
        """One try of a caller. Waits for the disk: call it in a thread."""
        if not self._own.allows(caller):
            return False
        try:
            return self._all_allow(hmac.digest(self.key, caller.encode(), "sha256").hex())
        except sqlite3.Error:
            logger.exception("limits are counted by each process for itself: %s cannot be used", self.file)
            return True

    def _all_allow(self, digest: str) -> bool:
        self.file.parent.mkdir(exist_ok=True)
        now = self.clock()
        with closing(sqlite3.connect(self.file, timeout=5, isolation_level=None)) as tries:
            tries.execute("PRAGMA synchronous = OFF")
            tries.execute("CREATE TABLE IF NOT EXISTS tries (caller TEXT PRIMARY KEY, tokens REAL, at REAL)")
            tries.execute("DELETE FROM tries WHERE at < ?", (now - _TRIES_KEPT_S,))
            row = tries.execute(_TRY, {"caller": digest, "now": now, "burst": self.burst, "rate": self.per_minute / 60})
            return row.fetchone() is not None


_TRIES_KEPT_S = 3600
_TRY = """
    INSERT INTO tries VALUES (:caller, :burst - 1, :now) ON CONFLICT (caller) DO UPDATE
    SET tokens = min(:burst, tokens + max(0, :now - at) * :rate) - 1, at = :now
    WHERE min(:burst, tokens + max(0, :now - at) * :rate) >= 1
    RETURNING tokens
"""


def cookie_settings(*, https: bool) -> dict[str, Any]:
    """`__Host-` ties a cookie to this host and to https; plain http is for loopback only."""
    return {
        "key": "__Host-guildhall" if https else "guildhall",
        "httponly": True,
        "samesite": "lax",
        "secure": https,
        "path": "/",
    }
