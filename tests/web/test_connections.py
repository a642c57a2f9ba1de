"""Connections that ask for nothing, or never end asking, are ended; those who ask are answered all the while."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.web.connections import (
    BoundedConfig,
    BoundedConnection,
    ConnectionLimits,
    Connections,
    limits_here,
    proxies_named,
    site_of,
)
from tests.web.flooding import HEAD, POST, WAYS, flood
from tests.web.live import Live

LIMITS = ConnectionLimits(
    at_once=4, of_one_address=3, head_s=10, head_bytes=4096, body_s=30, body_rate=100, unread_s=60
)


class Wire(asyncio.Transport):
    """A transport in memory: what was said to the visitor, and whether they were hung up on."""

    def __init__(self, host: str) -> None:
        super().__init__({"peername": (host, 4000), "sockname": ("127.0.0.1", 80)})
        self.said, self._over = b"", ""

    def write(self, data: Any) -> None:
        self.said += bytes(data)

    def close(self) -> None:
        self._over = self._over or "closed"

    def abort(self) -> None:
        self._over = "aborted"

    def over(self) -> str:
        """How it ended, if it has."""
        return self._over

    def is_closing(self) -> bool:
        return bool(self._over)

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Door:
    """Connections on a clock that is moved by hand, to an app that is told when to answer."""

    def __init__(self, limits: ConnectionLimits = LIMITS, **more: Any) -> None:
        self.now = 1000.0
        self.all = Connections(limits, clock=lambda: self.now, **more)
        self.answer = asyncio.Event()
        self.asked: list[str] = []
        self.config = BoundedConfig(self.app, self.all, log_config=None)
        self.config.load()

    async def app(self, scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        self.asked.append(scope["path"])
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            pass
        await self.answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    def visit(self, host: str = "127.0.0.1", sent: bytes = b"") -> tuple[BoundedConnection, Wire]:
        from uvicorn.server import ServerState

        connection, wire = BoundedConnection(config=self.config, server_state=ServerState(), app_state={}), Wire(host)
        connection.connection_made(wire)
        if sent:
            connection.data_received(sent)
        return connection, wire

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.all.look()


def at_a_door(test: Callable[[Door], Any], limits: ConnectionLimits = LIMITS, **more: Any) -> None:
    async def run() -> None:
        await test(Door(limits, **more))

    asyncio.run(run())


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_head_must_be_whole_in_its_time_however_busily_it_comes() -> None:
    async def test(door: Door) -> None:
        (_, silent), (slow, slow_wire) = door.visit(), door.visit(sent=HEAD)
        for _ in range(4):
            door.later(2.4)
            slow.data_received(b"X-a: b\r\n")
        assert not silent.over() and not slow_wire.over()
        door.later(0.5)
        assert silent.over() and slow_wire.over() == "closed"
        assert slow_wire.said.startswith(b"HTTP/1.1 408")

    at_a_door(test)


@pytest.mark.parametrize(
    ("begun", "piece"),
    [
        (HEAD, b"X-a: b\r\n"),
        (HEAD + b"X-a: ", b"yyyyyyyy"),
        (b"GET /", b"yyyyyyyy"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"X-a: b\r\n"),
    ],
    ids=["lines", "a line", "an address", "trailers"],
)
def test_an_endless_head_is_ended_by_its_size_alone(begun: bytes, piece: bytes) -> None:
    async def test(door: Door) -> None:
        connection, wire = door.visit(sent=begun)
        sent = 0
        while not wire.over() and sent < 1 << 20:
            connection.data_received(piece * 16)
            sent += len(piece) * 16
        assert wire.over() and b" 431 " in wire.said and sent <= LIMITS.head_bytes + 1024

    at_a_door(test)


def test_a_body_may_be_slow_but_not_stand_still() -> None:
    async def test(door: Door) -> None:
        (honest, wire), (idle, idle_wire) = (
            door.visit(sent=POST + b"Content-Length: 100000\r\n\r\n") for _ in range(2)
        )
        idle.data_received(b"a")
        for _ in range(8):
            door.later(7)
            honest.data_received(b"a" * 1000)
        assert not wire.over() and idle_wire.over() and b" 408 " in idle_wire.said
        door.answer.set()
        honest.data_received(b"a" * 92_000)
        await settled()
        assert b" 200 " in wire.said

    at_a_door(test)


def test_an_app_that_takes_its_time_is_never_the_visitors_fault() -> None:
    async def test(door: Door) -> None:
        (_, waiting), (_, half) = door.visit(sent=HEAD + b"\r\n"), door.visit(sent=HEAD)
        await settled()
        door.later(9)
        for _ in range(5):
            door.later(100)
        assert not waiting.over() and half.over()
        door.answer.set()
        await settled()
        assert b" 200 " in waiting.said

    at_a_door(test)


def test_an_answer_that_nobody_takes_is_given_up() -> None:
    async def test(door: Door) -> None:
        connection, wire = door.visit(sent=HEAD + b"\r\n")
        await settled()
        for seconds in (1, 59, 1):
            connection.pause_writing()
            door.later(seconds)
            connection.resume_writing()
            door.later(0)
        assert not wire.over(), "it is slow, and it is taken"
        connection.pause_writing()
        for seconds in (1, 59, 2):
            assert not wire.over()
            door.later(seconds)
        connection.connection_lost(None)
        assert wire.over() == "aborted"

    at_a_door(test)


def test_where_all_places_are_taken_who_asked_for_nothing_for_longest_makes_room() -> None:
    async def test(door: Door) -> None:
        (_, asking), (_, first), (_, second), (_, third) = (
            door.visit(f"127.0.0.{at}", HEAD + b"\r\n" if at == 1 else HEAD) for at in range(1, 5)
        )
        await settled()
        newcomer, wire = door.visit("127.0.0.9", HEAD + b"\r\n")
        await settled()
        assert (asking.over(), first.over(), second.over(), third.over(), wire.over()) == ("", "aborted", "", "", "")
        assert len(door.all) == LIMITS.at_once and len(door.asked) == 2
        door.answer.set()
        await settled()
        assert b" 200 " in wire.said and b" 200 " in asking.said
        newcomer.connection_lost(None)
        assert len(door.all) == LIMITS.at_once - 1

    at_a_door(test)


def test_one_address_takes_only_its_share_and_a_named_proxy_is_no_address() -> None:
    async def test(door: Door) -> None:
        wires = [door.visit("127.0.0.7")[1] for _ in range(5)]
        assert [bool(one.over()) for one in wires] == [False, False, False, True, True]
        assert b" 503 " in wires[-1].said
        assert not any(door.visit("127.0.0.8")[1].over() for _ in range(1))

    async def behind(door: Door) -> None:
        assert not any(door.visit("127.0.0.7")[1].over() for _ in range(4))
        sites = [door.visit(f"2001:db8::{at}")[1].over() for at in range(1, 5)]
        assert sites == ["", "", "", "closed"], "an IPv6 site is one visitor, however many addresses it has"

    at_a_door(test)
    roomy = ConnectionLimits(at_once=100, of_one_address=3)
    at_a_door(behind, roomy, proxies=proxies_named(["127.0.0.0/29"]))


@pytest.mark.parametrize(
    ("written", "one"),
    [
        ("::ffff:9.9.9.9", "9.9.9.9"),
        ("::FFFF:909:909", "9.9.9.9"),
        ("2001:db8::1", "2001:db8::/64"),
        ("9.9.9.9", "9.9.9.9"),
        ("no address", "no address"),
    ],
)
def test_a_visitor_is_one_however_their_address_is_written(written: str, one: str) -> None:
    """A proxy that listens for both families writes all of IPv4 into one /64: all would share one visitor's limits."""
    assert site_of(written) == one


def test_requests_sent_far_ahead_of_their_answers_are_refused_unread() -> None:
    async def test(door: Door) -> None:
        connection, wire = door.visit()
        connection.data_received((HEAD + b"\r\n") * 20_000)
        parsed = connection._steps
        await settled()
        assert wire.over() and len(door.asked) <= 1 and parsed < 2000

    at_a_door(test)


def test_of_a_head_with_too_many_lines_the_rest_is_not_read() -> None:
    async def test(door: Door) -> None:
        connection, wire = door.visit()
        connection.data_received(HEAD + b"a:\r\n" * 200_000)
        assert wire.over() and b" 431 " in wire.said and len(connection.headers) < 10_000

    at_a_door(test, ConnectionLimits(at_once=4))


def test_a_proxy_is_named_by_address_or_network() -> None:
    assert len(proxies_named(["127.0.0.1", "10.0.0.0/8", "::1"])) == 3
    for wrong in ("proxy.example.org", "*", "10.0.0.1/8", ""):
        with pytest.raises(InputError, match="trusted-proxy"):
            proxies_named([wrong])


def test_the_servers_take_no_more_connections_than_they_have_descriptors_for() -> None:
    import resource

    limits = limits_here()
    assert 64 <= limits.at_once <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Live]:
    """A server with little patience."""
    Workspace.create(tmp_path / "workspace").close()
    served = Live(tmp_path / "workspace", limits=ConnectionLimits(at_once=400, head_s=2, body_s=3, unread_s=5)).start()
    yield served
    served.stop()


def test_while_hundreds_never_finish_asking_others_are_answered(small: Live) -> None:
    floods: list[Counter[str]] = []
    attackers = threading.Thread(target=lambda: floods.append(asyncio.run(flood(small.port, 130, 4.0))))
    attackers.start()
    answered, most = [], 0
    while attackers.is_alive():
        with httpx.Client(base_url=f"http://127.0.0.1:{small.port}", timeout=60) as fresh:
            answered += [fresh.get(path).status_code for path in ("/healthz", "/enter", "/static/guildhall.css")]
        most = max(most, len(small.connections))
    assert set(answered) == {200} and len(answered) >= 9 and len(WAYS) > 10
    assert 0 < most <= small.limits.at_once and floods[0]["begun"] > 130, "whoever was ended came again"


def test_what_a_visitor_says_of_where_they_come_from_is_believed_of_named_proxies_only() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    from guildhall.web.serving import server_of

    told = {"type": "http", "scheme": "http", "client": ("127.0.0.1", 9), "headers": [(b"x-forwarded-for", b"9.9.9.9")]}
    seen: list[str] = []
    for proxies in ((), ("127.0.0.2",), ("127.0.0.1",)):
        config = server_of(app, "127.0.0.1", 1, Connections(LIMITS), proxies=proxies).config
        config.load()
        asyncio.run(config.loaded_app(dict(told), None, None))
    assert seen == ["127.0.0.1", "127.0.0.1", "9.9.9.9"]
