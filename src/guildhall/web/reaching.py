"""Calls from this server to addresses that people typed in: only to where the workspace's settings allow.

A name is looked up once, every address it has is checked, and the call goes to a checked address: a name that changes
its mind between the look and the call gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from guildhall.errors import InputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
TIMEOUT_S, LONGEST_S = 10.0, 20.0
"""How long the other side may be silent, and how long a call may take in all."""
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""Addresses that a gateway turns into the IPv4 address in their last four bytes."""


@dataclass(frozen=True)
class Reached:
    """What came of a call. `again` tells whether another try could help."""

    ok: bool
    words: str
    again: bool = True


def checked_url(url: str, allow: Sequence[Network]) -> SplitResult:
    """The parts of an address that may be called, or `InputError`; a name is not looked up yet."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise InputError("this is not a web address") from error
    if (
        parts.scheme not in {"https", "http"}
        or not host
        or len(url) > 2000
        or not url.isascii()
        or not url.isprintable()
    ):
        raise InputError("give an address that begins with https://")
    if parts.username or parts.password or parts.fragment or " " in url:
        raise InputError("leave names, passwords and fragments out of the address")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        if parts.scheme == "http" and host != "localhost":
            raise InputError("plain http is for this machine alone; give an https address") from None
    else:
        _check(parts, literal, allow)
    return parts


def post(url: str, body: bytes, headers: Mapping[str, str], *, allow: Sequence[Network]) -> Reached:
    """Post a body to an address, if it may be called."""
    try:
        parts = checked_url(url, allow)
        addresses = _looked_up(parts)
        for address in addresses:
            _check(parts, address, allow)
    except InputError as error:
        return Reached(ok=False, words=str(error), again=False)
    except (OSError, UnicodeError):
        return Reached(ok=False, words="its name cannot be looked up")
    try:
        return _told(_call(parts, addresses[0], body, headers))
    except (OSError, http.client.HTTPException) as error:
        return Reached(ok=False, words=f"no answer ({type(error).__name__})")


def _looked_up(parts: SplitResult) -> list[Address]:
    found = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]


def _check(parts: SplitResult, address: Address, allow: Sequence[Network]) -> None:
    reached = _reached(address)
    allowed = any(reached in network for network in allow if network.version == reached.version)
    if parts.scheme == "http" and not (allowed and reached.is_loopback):
        raise InputError("plain http is for this machine alone, and only where the settings allow it")
    if not allowed and (not reached.is_global or reached.is_multicast):
        raise InputError("this address is not a public one; `webhooks.allow` in the settings can permit its network")


def _reached(address: Address) -> Address:
    """The address a packet ends at: IPv6 has several ways to write an IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(address.packed[-4:])
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _call(parts: SplitResult, address: Address, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(str(parts.hostname), _port(parts), timeout=TIMEOUT_S)
    stream = socket.create_connection((str(address), _port(parts)), timeout=TIMEOUT_S)
    with _ended_after(stream, LONGEST_S):
        try:
            if parts.scheme == "https":
                stream = ssl.create_default_context().wrap_socket(stream, server_hostname=parts.hostname)
            connection.sock = stream
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, {**headers, "Connection": "close"})
            return connection.getresponse().status
        finally:
            stream.close()


@contextmanager
def _ended_after(stream: socket.socket, seconds: float) -> Iterator[None]:
    """Cut a connection after a while: an answer that drips in byte by byte outlives every timeout of its own."""
    with stream.dup() as handle:

        def cut() -> None:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _told(status: int) -> Reached:
    if 200 <= status < 300:
        return Reached(ok=True, words=str(status))
    if 300 <= status < 400:
        return Reached(ok=False, words=f"{status}: redirects are not followed", again=False)
    return Reached(ok=False, words=str(status), again=status != 410)
