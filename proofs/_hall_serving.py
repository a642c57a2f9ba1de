"""A study served by processes of its own, full of graders, and the load on it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from guildhall.domain.halls import Member, Role
from guildhall.store.workspace import Workspace
from guildhall.web.site import Addresses, Site
from proofs import Figures
from proofs._hall_load import Grader, Seen, load


def run_load(*, graders: int, lasts_s: float, seed: int, database: str | None = None, servers: int = 1) -> Figures:
    """Serve a study, by so many servers on one workspace, and load it from a process that gives way to them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace"
        inside = _seat_graders(path, graders, database)
        with _serving(path, servers) as addresses, ProcessPoolExecutor(1, initializer=os.nice, initargs=(5,)) as apart:
            seen, share = apart.submit(_load, addresses, inside, lasts_s, seed).result()
    return _figures(seen, generator_cpu_share=share)


def _load(addresses: list[str], inside: list[Grader], lasts_s: float, seed: int) -> tuple[Seen, float]:
    """What the load met, and the share of a core that making it took."""
    cpu, begun = time.process_time(), time.monotonic()
    seen = asyncio.run(load(addresses, inside, lasts_s=lasts_s, seed=seed))
    return seen, (time.process_time() - cpu) / (time.monotonic() - begun)


@contextmanager
def _serving(path: Path, count: int) -> Iterator[list[str]]:
    """So many servers, each on ports of its own; the first has the worker beside it."""
    from tests.web.live import free_port

    servers, addresses = [], []
    try:
        for number in range(count):
            ports = free_port(), free_port()
            command = [sys.executable, "-m", "guildhall", "serve", "--workspace", str(path)]
            command += ["--port", str(ports[0]), "--files-port", str(ports[1])]
            command += ["--no-worker"] if number else []
            servers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            addresses.append(f"http://localhost:{ports[0]}")
        for address in addresses:
            _wait_until_ready(address)
        yield addresses
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=30)


def _seat_graders(path: Path, graders: int, database: str | None) -> list[Grader]:
    """A study with a place for everybody; each has read the brief."""
    from tests.web.studies import OCCUPATION, make_task, open_study

    with Workspace.create(path, database=database) as workspace:
        people = {"graders_per_set": 3, "lease_hours": 1.0}
        open_study(workspace, [make_task(number) for number in range(-(-graders // 3))], people=people)
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        design, now = site.design("study"), site.clock()
        inside = []
        for number in range(graders):
            name = f"g{number}"
            member = Member(id=name, code_name=name, role=Role.GRADER, occupations=(OCCUPATION,))
            site.roster.invite(member, personal={})
            seat = site.queue.claim(member, study="study", design=design, now=now)
            cookie = site.door.open_session(member.id, now=now)
            session = site.door.session(cookie, now=now)
            assert seat is not None and session is not None
            site.queue.mark_brief_read(seat.id, now=now)
            inside.append(Grader(cookie, session.form_token, seat.id))
    return inside


def _wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{address}/readyz", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise TimeoutError("the server did not become ready")


def _figures(seen: Seen, *, generator_cpu_share: float) -> Figures:
    together = sorted(second for found in seen.latencies.values() for second in found)
    return {
        "requests": len(together),
        "p50_ms": round(1000 * _at(together, 0.5), 1),
        "p95_ms": round(1000 * _at(together, 0.95), 1),
        "p95_ms_by_kind": {kind: round(1000 * _at(sorted(one), 0.95), 1) for kind, one in seen.latencies.items()},
        "errors": seen.errors[:20],
        "generator_cpu_share": round(generator_cpu_share, 3),
        "load_average": os.getloadavg()[0],
    }


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
