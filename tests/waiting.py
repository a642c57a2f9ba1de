"""Waiting for what must come, and talking to servers of loopback, without a limit of seconds.

What never comes is ended by pytest's own limit, which shows the line that waits; nothing passes or fails by how fast
the machine is.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable

import httpx

_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Reading the machine's own takes 20 ms for each client, and loopback has none."""


def until(seen: Callable[[], object], *, over: Callable[[], object] = lambda: None) -> None:
    """Wait until `seen()` is true. Once `over()` tells why it cannot come any more, that is the failure."""
    while not seen():
        why = over()
        assert why is None or seen(), f"ended before it was seen: {why}"
        time.sleep(0.02)


def client(address: str = "") -> httpx.Client:
    return httpx.Client(base_url=address, verify=_NO_CERTIFICATES, timeout=None)


def fetch(address: str, headers: dict[str, str] | None = None) -> httpx.Response:
    with client() as visitor:
        return visitor.get(address, headers=headers)


def answers(address: str) -> bool:
    """Whether somebody serves this page now."""
    try:
        return fetch(address).status_code == 200
    except httpx.HTTPError:
        return False
