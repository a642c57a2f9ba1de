"""The only way out of a sandbox that was granted one: GET, from allowed hosts, through this proxy.

It listens on a Unix socket that is bound into the sandbox. Any other method, host, port or a host that resolves
to a private address is answered with 403; every request is recorded. TLS is opened here with the sandbox's
throw-away authority, since a tunnel would hide the method, and opened again, verified, towards the host.
"""

from __future__ import annotations

import http.client
import ipaddress
import logging
import socket
import socketserver
import ssl
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from guildhall.engine.bubblewrap_authority import Authority

logger = logging.getLogger(__name__)

_PASSED_ON = ("accept", "accept-language", "if-modified-since", "if-none-match", "range", "user-agent")
_RETURNED = ("content-type", "content-range", "etag", "last-modified", "location", "retry-after", "cache-control")
_TIMEOUT_S = 60.0
_LONGEST_LINE, _MOST_HEADERS = 8192, 64
MOST_BYTES = 256 * 1024 * 1024
"""The longest answer passed on."""


@dataclass(frozen=True)
class ProxiedRequest:
    """One request a sandbox made, and what became of it."""

    method: str
    url: str
    status: int
    why: str = ""


class Refused(Exception):
    """A request that is answered with 403."""


Resolve = Callable[[str, int], Collection[str]]
Dial = Callable[[str, int], socket.socket]


def resolve_by_system(host: str, port: int) -> Collection[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def dial_address(address: str, port: int) -> socket.socket:
    return socket.create_connection((address, port), timeout=_TIMEOUT_S)


class Proxy:
    """A GET-only proxy on a Unix socket; `asked` is its record."""

    def __init__(
        self,
        at: Path,
        *,
        allow: Collection[str],
        authority: Authority,
        trust: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_by_system,
        dial: Dial = dial_address,
    ) -> None:
        self.allow = frozenset(host.lower().rstrip(".") for host in allow)
        self.authority = authority
        self.trust = trust or ssl.create_default_context()
        self.resolve, self.dial = resolve, dial
        self.asked: list[ProxiedRequest] = []
        self._server = _Server(str(at), _Conversation)
        self._server.proxy = self
        at.chmod(0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, name="guildhall-proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def record(self, asked: ProxiedRequest) -> None:
        self.asked.append(asked)
        logger.info("sandbox network: %s %s -> %d %s", asked.method, asked.url, asked.status, asked.why)

    def address_of(self, host: str, port: int) -> str:
        """The public address behind an allowed host, or `Refused`. All addresses must be public: a name that
        also points inwards is a way in."""
        if host not in self.allow:
            raise Refused(f"{host} is not an allowed host")
        if port not in (80, 443):
            raise Refused(f"port {port} is not allowed")
        try:
            addresses = list(self.resolve(host, port))
        except OSError as error:
            raise Refused(f"{host} cannot be resolved") from error
        if not addresses or not all(_is_public(address) for address in addresses):
            raise Refused(f"{host} does not resolve to public addresses only")
        return addresses[0]


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (inner := ip.ipv4_mapped or ip.sixtofour):
        return _is_public(str(inner))
    return ip.is_global and not ip.is_multicast


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    proxy: Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        logger.debug("sandbox network: a conversation broke off: %s", sys.exception())


class _Conversation(socketserver.StreamRequestHandler):
    """One connection from the sandbox: a plain request, or CONNECT and then requests inside TLS."""

    timeout = _TIMEOUT_S
    server: _Server

    def handle(self) -> None:
        proxy = self.server.proxy
        stream: Any = self.rfile
        method, target, headers = _read_request(stream)
        if method != "CONNECT":
            self._answer(proxy, self.wfile, method, target, headers)
            return
        host, _, port = target.lower().rpartition(":")
        try:
            proxy.address_of(host, int(port) if port.isdigit() else -1)
        except Refused as refusal:
            _say(self.wfile, 403, str(refusal))
            proxy.record(ProxiedRequest("CONNECT", target, 403, str(refusal)))
            return
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        context = proxy.authority.context_for(host)
        with (
            context.wrap_socket(self.connection, server_side=True) as secured,
            secured.makefile("rb") as inner,
            secured.makefile("wb") as back,
        ):
            method, path, headers = _read_request(inner)
            self._answer(proxy, back, method, f"https://{host}:{port}{path}", headers)
            back.flush()

    def _answer(self, proxy: Proxy, back: Any, method: str, url: str, headers: dict[str, str]) -> None:
        try:
            status = _fetch(proxy, back, method, url, headers)
            proxy.record(ProxiedRequest(method, url, status))
        except Refused as refusal:
            _say(back, 403, str(refusal))
            proxy.record(ProxiedRequest(method, url, 403, str(refusal)))
        except (OSError, http.client.HTTPException) as error:
            _say(back, 502, f"{type(error).__name__} from the host")
            proxy.record(ProxiedRequest(method, url, 502, str(error)))


def _read_request(stream: Any) -> tuple[str, str, dict[str, str]]:
    words = stream.readline(_LONGEST_LINE).decode("latin-1").split()
    if len(words) != 3:
        raise ConnectionError("not a request")
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = stream.readline(_LONGEST_LINE).decode("latin-1").strip()
        if not line:
            return words[0], words[1], headers
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raise ConnectionError("too many headers")


def _fetch(proxy: Proxy, back: Any, method: str, url: str, headers: dict[str, str]) -> int:
    """Ask the host and pass its answer on; the status it gave."""
    if method != "GET":
        raise Refused(f"{method} is not allowed, only GET")
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise Refused("a request with a body is not allowed")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.username or not parts.hostname:
        raise Refused("only plain http and https addresses are allowed")
    secure = parts.scheme == "https"
    host, port = parts.hostname.rstrip("."), parts.port or (443 if secure else 80)
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    connection.sock = proxy.dial(proxy.address_of(host, port), port)
    try:
        if secure:
            connection.sock = proxy.trust.wrap_socket(connection.sock, server_hostname=host)
        passed_on = {name: headers[name] for name in _PASSED_ON if name in headers}
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={**passed_on, "Accept-Encoding": "identity", "Connection": "close"})
        answer = connection.getresponse()
        _pass_on(back, answer)
        return answer.status
    finally:
        connection.close()


def _pass_on(back: Any, answer: http.client.HTTPResponse) -> None:
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
    lines += [f"{name}: {answer.headers[name]}" for name in _RETURNED if name in answer.headers]
    back.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace"))
    left = MOST_BYTES
    while left > 0 and (chunk := answer.read(min(65536, left))):
        left -= len(chunk)
        back.write(chunk)


def _say(back: Any, status: int, words: str) -> None:
    body = f"guildhall sandbox: {words}\n".encode()
    head = f"HTTP/1.1 {status} {http.client.responses[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    back.write(head.encode() + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    back.flush()
