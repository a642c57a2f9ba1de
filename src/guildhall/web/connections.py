"""What a connection may take before it has asked for anything: its head, its body, its unread answer, and its number.

Against slow-loris and its kin (half-sent requests, endless headers, bodies of a byte a second, answers that nobody
reads) where no proxy stands in front. `docs/design/door.md` says why this is here and no other server is.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from guildhall.errors import InputError

_LOOK_S = 0.5
_PIECE = 4 << 10
_FILES_FOR_THE_REST = 512
"""Descriptors kept for the database, deliverables being sent, logs and the worker."""
_WANTED_FILES = 16_384
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class ConnectionLimits:
    """Times in seconds. A body may take `body_s` and a second more for every `body_rate` bytes that have come."""

    at_once: int
    of_one_address: int = 256
    head_s: float = 10.0
    head_bytes: int = 64 << 10
    head_lines: int = 250
    body_s: float = 30.0
    body_rate: int = 2048
    unread_s: float = 60.0
    waiting_requests: int = 8  # sent ahead of an answer (pipelining); no browser does it


def limits_here() -> ConnectionLimits:
    """As many connections as the descriptors of this process allow, which are raised as far as they may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return ConnectionLimits(at_once=max(64, min(4096, (wanted - _FILES_FOR_THE_REST) // 2)))


def proxies_named(addresses: Sequence[str]) -> tuple[Network, ...]:
    """The proxies whose word is taken for who is calling; addresses or networks, named one by one."""
    try:
        return tuple(ipaddress.ip_network(one) for one in addresses)
    except ValueError as error:
        raise InputError(f"--trusted-proxy: {error}; name an address such as 127.0.0.1 or a network") from error


class Connections:
    """All connections of the servers of one process. `clock` is seconds that only grow."""

    def __init__(
        self,
        limits: ConnectionLimits,
        *,
        proxies: tuple[Network, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits, self.clock = limits, clock
        self._proxies = proxies
        self._open: dict[BoundedConnection, str] = {}
        self._of = Counter[str]()
        self._silent: dict[BoundedConnection, None] = {}  # those that owe us the head of a request, oldest first

    def __len__(self) -> int:
        return len(self._open)

    def admits(self, one: BoundedConnection, host: str) -> bool:
        """Take a connection in. Where all places are taken, whoever has asked for nothing for longest makes room."""
        caller = self._caller(host)
        if caller and self._of[caller] >= self.limits.of_one_address:
            return False
        if len(self._open) >= self.limits.at_once:
            if not self._silent:
                return False
            oldest = next(iter(self._silent))
            self.left(oldest)
            oldest.transport.abort()
        self._open[one] = caller
        self._of[caller] += 1
        return True

    def left(self, one: BoundedConnection) -> None:
        self._silent.pop(one, None)
        caller = self._open.pop(one, None)
        if caller is not None:
            self._of[caller] -= 1
            if not self._of[caller]:
                del self._of[caller]

    def silent(self, one: BoundedConnection, *, is_so: bool) -> None:
        self._silent.pop(one, None)
        if is_so and one in self._open:
            self._silent[one] = None

    def look(self) -> None:
        """End whatever is past its time."""
        now = self.clock()
        for one in list(self._open):
            one.look(now)

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            self.look()

    def _caller(self, host: str) -> str:
        """Whose connections are counted together; nobody's behind a proxy we know."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return host
        return "" if any(address in network for network in self._proxies) else site_of(host)


def site_of(host: str) -> str:
    """Whom to count under one name: an IPv4 address, or an IPv6 site, of which everybody has 2^64 addresses."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 6 and address.ipv4_mapped:  # how a socket for both families writes IPv4
        return str(address.ipv4_mapped)
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


class BoundedConfig(uvicorn.Config):
    """A server whose connections are counted and limited, together with those of other servers of this process.

    Who is calling is read from a header only where one of the proxies named sent it; uvicorn believes any local user.
    """

    def __init__(self, app: ASGIApp, connections: Connections, *, proxies: Sequence[str] = (), **settings: Any) -> None:
        settings |= {"proxy_headers": bool(proxies), "forwarded_allow_ips": list(proxies)}
        super().__init__(app, http=BoundedConnection, interface="asgi3", ws="none", **settings)
        self.connections = connections
        logging.getLogger("uvicorn.error").addFilter(_worth_a_line)


def _worth_a_line(record: logging.LogRecord) -> bool:
    """A log must not grow by what strangers send: that a request was no HTTP is told to them and to nobody else."""
    return record.msg != "Invalid HTTP request received."


class BoundedConnection(HttpToolsProtocol):
    """One connection, held to the limits; what uvicorn does with a request is left as it is."""

    def __init__(self, config: BoundedConfig, **more: Any) -> None:
        super().__init__(config=config, **more)
        self._all = config.connections
        self._limits = config.connections.limits
        self._began = self._looked = self._all.clock()
        self._unread_since: float | None = None
        self._in_body = False
        self._body_bytes = 0
        self._steps = 0
        self._without_step = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._all.admits(self, self.client[0] if self.client else ""):
            self._await_head()
        else:
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.left(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser a little at a time, so that nobody makes it work through much that is refused anyway."""
        for at in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            before, piece = self._steps, data[at : at + _PIECE]
            super().data_received(piece)
            # Whatever the parser keeps (an endless head, trailers behind a body) is what made no step.
            self._without_step = 0 if self._steps != before else self._without_step + len(piece)
            if self._without_step > self._limits.head_bytes or len(self.headers or ()) > self._limits.head_lines:
                self._refuse(431)

    def on_headers_complete(self) -> None:
        self._steps += 1
        if self.transport.is_closing():
            return
        if len(self.pipeline) >= self._limits.waiting_requests:
            self._refuse(429)
            return
        self._in_body, self._body_bytes, self._began = True, 0, self._all.clock()
        self._all.silent(self, is_so=False)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._steps += 1
        self._body_bytes += len(body)
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._steps += 1
        self._in_body = False
        if not self.transport.is_closing():
            super().on_message_complete()
            if self.cycle.response_complete:  # it was answered before all of it had come
                self._await_head()

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing: whoever asks for another protocol is answered in this one, and fills no log."""

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_body and self._owes_a_head():
            self._await_head()

    def look(self, now: float) -> None:
        """End this connection if it is past its time."""
        elapsed, self._looked = now - self._looked, now
        if self._unread_for_too_long(now):
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif self._in_body and self.flow.read_paused:
            self._began += elapsed  # it is we who do not take more
        elif self._in_body:
            if now - self._began > self._limits.body_s + self._body_bytes / self._limits.body_rate:
                self._refuse(408)
        elif self._owes_a_head() and now - self._began > self._limits.head_s:
            self._refuse(408)

    def _unread_for_too_long(self, now: float) -> bool:
        """Whether what we have to say has not been taken: the buffer stays full, or does not empty before the end."""
        if not (self.flow.write_paused or self.transport.is_closing()):
            self._unread_since = None
        elif self._unread_since is None:
            self._unread_since = now
        return self._unread_since is not None and now - self._unread_since > self._limits.unread_s

    def _await_head(self) -> None:
        self._began = self._all.clock()
        self._all.silent(self, is_so=True)

    def _owes_a_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _refuse(self, status: int) -> None:
        """Say why, unless an answer is on its way, and hang up."""
        if self._owes_a_head() or not self.cycle.response_started:
            self.transport.write(STATUS_LINE[status] + b"connection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()
