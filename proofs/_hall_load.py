"""An open-loop load of graders: each keeps its own timetable, and is never held up by a slow answer to another.

Latency is counted from the moment a request was due, so a server that falls behind cannot hide it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random

import httpx

BEAT_S, SAVE_S, PAGE_S, SUBMIT_S = 15.0, 20.0, 60.0, 600.0
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
    seen, rng, turn = Seen(), Random(seed), cycle(addresses)
    # Idle connections are left before the server leaves them: a request sent into a closing one is nobody's error.
    limits = httpx.Limits(max_connections=400, max_keepalive_connections=400, keepalive_expiry=2.0)
    async with httpx.AsyncClient(timeout=30, limits=limits) as client:
        start = time.monotonic() + 1

        async def keep(grader: Grader, due: list[Due]) -> None:
            await _keep(client, grader, due, turn, start=start, seen=seen)

        await asyncio.gather(*(keep(one, timetable(rng, lasts_s=lasts_s)) for one in graders))
    return seen


async def _keep(
    client: httpx.AsyncClient, grader: Grader, due: list[Due], turn: Iterator[str], *, start: float, seen: Seen
) -> None:
    version = 0
    for one in due:
        await asyncio.sleep(max(0.0, start + one.at - time.monotonic()))
        try:
            answer = await client.send(_request(client, next(turn), grader, one.kind, version))
        except httpx.HTTPError as error:
            seen.errors.append(f"{one.kind}: {error!r}")
            continue
        seen.latencies.setdefault(one.kind, []).append(time.monotonic() - start - one.at)
        wanted = 303 if one.kind == "submit" else 200
        if answer.status_code != wanted:
            seen.errors.append(f"{one.kind}: {answer.status_code}")
        elif one.kind == "save":
            version = answer.json()["version"]


def _request(client: httpx.AsyncClient, address: str, grader: Grader, kind: str, version: int) -> httpx.Request:
    headers = {"Cookie": f"guildhall={grader.cookie}", "X-Form-Token": grader.form_token}
    path = f"{address}/sets/{grader.seat}"
    if kind == "page":
        return client.build_request("GET", path, headers=headers)
    if kind == "submit":
        return client.build_request("POST", f"{path}/submit", headers=headers, data={"guess": "cannot tell"})
    script = headers | {"Accept": "application/json"}
    data = BEAT if kind == "beat" else ANSWERS | {"draft_version": str(version)}
    return client.build_request("POST", f"{path}/{'beat' if kind == 'beat' else 'draft'}", headers=script, data=data)
