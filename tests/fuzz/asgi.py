"""A request to an app without a client in the way: what a client would refuse to send arrives all the same."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp


def call(app: ASGIApp, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
    """The status of the answer; an exception of the app is the caller's to see."""
    raw_path, _, query = target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(b"host", b"localhost:1"), *headers],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 1),
        "state": {},
    }
    return asyncio.run(_answered(app, scope, body))


async def _answered(app: ASGIApp, scope: dict[str, Any], body: bytes) -> int:
    statuses: list[int] = []
    sent = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(int(message["status"]))

    await app(scope, receive, send)
    return statuses[0]
