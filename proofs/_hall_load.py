"""An open-loop load of graders: each keeps its own timetable, and is never held up by a slow answer to another.

Latency is counted from the moment a request was due, so a server that falls behind cannot hide it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from urllib.parse import SplitResult, urlencode, urlsplit

BEAT_S, SAVE_S, PAGE_S, SUBMIT_S = 15.0, 20.0, 60.0, 600.0
PATIENCE_S = 30.0
ANSWERS = {"overall": "A", "strength": "1", "reason": "It answers what was asked for, in full."}
BEAT = {"visible": "1", "focused": "1", "idle_s": "2", "words": "300"}


@dataclass(frozen=True)
class Grader:
    """A grader who is inside, has a place and has read the brief."""

    cookie: str
    form_token: str
    seat: str


@dataclass
class Seen:
    """What the load met: seconds by kind of request, and every answer that was not as it should be."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Due:
    at: float
    kind: str


def timetable(rng: Random, *, lasts_s: float) -> list[Due]:
    """One grader's requests, each kind at its own phase; nothing is beaten or saved once the verdict is sent."""
    submit = rng.uniform(0, SUBMIT_S)
    end = min(lasts_s, submit)
    due = [
        Due(at, kind)
        for kind, every in (("beat", BEAT_S), ("save", SAVE_S), ("page", PAGE_S))
        for at in _ticks(rng.uniform(0, every), every, end)
    ]
    due.sort(key=lambda one: one.at)
    if submit < lasts_s:
        due += [Due(submit, "save"), Due(submit, "submit")]
    return due


def _ticks(first: float, every: float, end: float) -> list[float]:
    return [first + every * number for number in range(int(max(0.0, end - first) / every) + 1) if first < end]


async def load(addresses: Sequence[str], graders: list[Grader], *, lasts_s: float, seed: int) -> Seen:
    """Let all graders keep their timetables for so many seconds; their requests go to the servers in turn."""
    seen, rng, turn = Seen(), Random(seed), cycle([urlsplit(address) for address in addresses])
    start = time.monotonic() + 1
    tables = [timetable(rng, lasts_s=lasts_s) for _ in graders]
    await asyncio.gather(
        *(_keep(one, due, turn, start=start, seen=seen) for one, due in zip(graders, tables, strict=True))
    )
    return seen


async def _keep(grader: Grader, due: list[Due], turn: Iterator[SplitResult], *, start: float, seen: Seen) -> None:
    version = 0
    for one in due:
        await asyncio.sleep(max(0.0, start + one.at - time.monotonic()))
        try:
            async with asyncio.timeout(PATIENCE_S):
                address = next(turn)
                status, body = await _exchange(address.port, _request(address.netloc, grader, one.kind, version))
        except (OSError, ValueError) as error:
            seen.errors.append(f"{one.kind}: {error!r}")
            continue
        seen.latencies.setdefault(one.kind, []).append(time.monotonic() - start - one.at)
        if status != (303 if one.kind == "submit" else 200):
            seen.errors.append(f"{one.kind}: {status}")
        elif one.kind == "save":
            version = json.loads(body)["version"]


async def _exchange(port: int | None, request: bytes) -> tuple[int, bytes]:
    """One request on a connection of its own: a client that costs next to nothing leaves the machine to the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        answer = await reader.read(-1)
    finally:
        writer.close()
    if not answer:
        raise ConnectionResetError("the connection was closed without an answer")
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def _request(host: str, grader: Grader, kind: str, version: int) -> bytes:
    path, data = f"/sets/{grader.seat}", {}
    if kind == "submit":
        path, data = f"{path}/submit", {"guess": "cannot tell"}
    elif kind == "beat":
        path, data = f"{path}/beat", BEAT
    elif kind == "save":
        path, data = f"{path}/draft", ANSWERS | {"draft_version": str(version)}
    form = urlencode(data)
    lines = [
        f"{'POST' if data else 'GET'} {path} HTTP/1.1",
        f"Host: {host}",
        "Connection: close",
        f"Accept: {'application/json' if kind in ('beat', 'save') else 'text/html'}",
        f"Cookie: guildhall={grader.cookie}",
        f"X-Form-Token: {grader.form_token}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(form)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + form).encode()
