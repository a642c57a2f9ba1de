"""Visitors who never finish: half-sent requests, endless heads, bodies of a byte a second, answers left unread.

`python -m tests.web.flooding PORT NUMBER SECONDS` keeps that many connections at work from many loopback addresses,
each begun anew as soon as it is ended, and says what it did. One way is one function: what it sends, piece by piece.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /enter/mail HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
Way = Callable[[], AsyncIterator[bytes]]


async def says_nothing() -> AsyncIterator[bytes]:
    await asyncio.sleep(3600)
    yield b""


async def half_a_head() -> AsyncIterator[bytes]:
    yield HEAD + b"X-"
    await asyncio.sleep(3600)


async def trickles_a_head() -> AsyncIterator[bytes]:
    yield HEAD
    while True:
        await asyncio.sleep(1)
        yield b"X-a: b\r\n"


async def endless_line() -> AsyncIterator[bytes]:
    yield HEAD + b"X-a: "
    while True:
        yield b"y" * 65536
        await asyncio.sleep(0.2)


async def endless_lines() -> AsyncIterator[bytes]:
    yield HEAD
    while True:
        yield b"X-a: b\r\n" * 5000
        await asyncio.sleep(0.2)


async def endless_trailers() -> AsyncIterator[bytes]:
    yield POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
    while True:
        yield b"X-a: b\r\n" * 5000
        await asyncio.sleep(0.2)


async def half_a_body() -> AsyncIterator[bytes]:
    yield POST + b"Content-Length: 1000\r\n\r\nemail=a"
    await asyncio.sleep(3600)


async def trickles_a_body() -> AsyncIterator[bytes]:
    yield POST + b"Content-Length: 1000000\r\n\r\n"
    while True:
        await asyncio.sleep(1)
        yield b"a"


async def reads_no_answer() -> AsyncIterator[bytes]:
    """Asks on and on and never reads; `attack` reads nothing where a way says so."""
    while True:
        yield HEAD.replace(b"/healthz", b"/static/guildhall.css") + b"\r\n"
        await asyncio.sleep(15)


async def asks_far_ahead() -> AsyncIterator[bytes]:
    yield (HEAD + b"\r\n") * 2000
    await asyncio.sleep(3600)


async def other_protocol() -> AsyncIterator[bytes]:
    yield HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"
    while True:
        await asyncio.sleep(1)
        yield b"\x81\x05hello"


WAYS: tuple[Way, ...] = (
    *(half_a_head, half_a_head, half_a_head, says_nothing, trickles_a_head, endless_line, endless_lines),
    *(endless_trailers, half_a_body, trickles_a_body, reads_no_answer, asks_far_ahead, other_protocol),
)


async def attack(port: int, address: str, way: Way, seen: Counter[str]) -> None:
    """One visitor: begins, goes on until it is ended, begins again."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        except OSError:
            seen["not let in"] += 1
            await asyncio.sleep(0.5)
            continue
        seen["begun"] += 1
        sending = asyncio.create_task(_send(writer, way))
        try:
            if way is reads_no_answer:
                await sending
            else:
                while await reader.read(65536):
                    pass
        except OSError:
            pass
        finally:
            seen["ended"] += 1
            sending.cancel()
            writer.transport.abort()
        await asyncio.sleep(1)


async def _send(writer: asyncio.StreamWriter, way: Way) -> None:
    try:
        async for piece in way():
            writer.write(piece)
            await writer.drain()
    except OSError:
        return


async def flood(port: int, number: int, seconds: float, *, ways: tuple[Way, ...] = WAYS) -> Counter[str]:
    """So many visitors of 100 addresses for so long; how often they began and were ended."""
    seen: Counter[str] = Counter()
    names = [f"127.0.{1 + at % 10}.{1 + at % 100}" for at in range(number)]
    tasks = [asyncio.create_task(attack(port, name, ways[at % len(ways)], seen)) for at, name in enumerate(names)]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return seen


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    port, number, seconds = sys.argv[1:]
    json.dump(asyncio.run(flood(int(port), int(number), float(seconds))), sys.stdout)
