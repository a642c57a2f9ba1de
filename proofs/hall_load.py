"""The hall under the load of 300 graders, on SQLite."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from guildhall.domain.halls import Member, Role
from guildhall.store.workspace import Workspace
from guildhall.web.site import Addresses, Site
from proofs import Figures, proof
from proofs._hall_load import Grader, Seen, load

GRADERS, LASTS_S, SEED = 300, 120.0, 20261116
WANTED_P95_S = 0.25


@proof(
    "hall-load",
    "300 graders in an open loop (beat each 15 s, save each 20 s, page each 60 s, submit each 10 min) on SQLite: "
    "p95 under 250 ms, no error.",
    budget_s=900,
)
def three_hundred_graders() -> Figures:
    figures = run_load(graders=GRADERS, lasts_s=LASTS_S)
    assert not figures["errors"], figures
    assert figures["p95_ms"] < 1000 * WANTED_P95_S, figures
    return figures


def run_load(*, graders: int, lasts_s: float) -> Figures:
    """Serve a study in a process of its own and load it from this one, which runs niced."""
    from tests.web.live import free_port

    os.nice(5)
    with tempfile.TemporaryDirectory() as folder:
        path, ports = Path(folder) / "workspace", (free_port(), free_port())
        inside = _seat_graders(path, graders)
        command = [sys.executable, "-m", "guildhall", "serve", "--workspace", str(path)]
        command += ["--port", str(ports[0]), "--files-port", str(ports[1])]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = f"http://localhost:{ports[0]}"
            _wait_until_ready(address)
            cpu, begun = time.process_time(), time.monotonic()
            seen = asyncio.run(load(address, inside, lasts_s=lasts_s, seed=SEED))
            share = (time.process_time() - cpu) / (time.monotonic() - begun)
        finally:
            server.terminate()
            server.wait(timeout=30)
    return _figures(seen, generator_cpu_share=share)


def _seat_graders(path: Path, graders: int) -> list[Grader]:
    """A study with a place for everybody; each has read the brief."""
    from tests.web.studies import OCCUPATION, make_task, open_study

    with Workspace.create(path) as workspace:
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
