"""The door of the hall: malformed requests, floods of visitors who never finish, and sets given back to see more."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proofs import ROOT, Figures, proof

IN_PROCESS, OVER_A_SOCKET = 5000, 3000


@proof(
    "hall-door-malformed",
    "10,000 generated malformed requests (numbers, nesting, encodings, cookies, headers, addresses, packages) to every "
    "address, by people who may go there, in process on both databases and over a socket: none is a server error",
    budget_s=3600,
)
def malformed() -> Figures:
    from tests.web.malformed import EVERY, WIRE, answers_in_process, answers_over_a_socket, served_hall

    from proofs.hall import database_urls

    seen: dict[str, Counter[int]] = {}
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder, database_urls() as databases:
        for name, number in (("sqlite", IN_PROCESS), ("postgresql", 10_000 - IN_PROCESS - OVER_A_SOCKET)):
            live = served_hall(Path(folder) / name, database=databases[name]())
            try:
                seen[f"in process, {name}"] = answers_in_process(live, number, seed=number)
                if name == "sqlite":
                    seen["over a socket"] = answers_over_a_socket(live, OVER_A_SOCKET, seed=OVER_A_SOCKET)
            finally:
                live.stop()
    answered = {place: dict(sorted(statuses.items())) for place, statuses in seen.items()}
    asked = sum(statuses.total() for statuses in seen.values())
    return {"requests": asked, "addresses": len(EVERY), "that_are_no_http": len(WIRE), "answers": answered}


ATTACKERS = {"pages": 1600, "deliverables": 400}
FLOOD_S, BEFORE_S = 60.0, 5.0
GRADERS = 12


@proof(
    "door-flood",
    "2,000 connections from 100 loopback addresses that never finish (half-sent, silent, trickling, endless heads, "
    "lines, trailers, bodies that stand still, unread answers, requests far ahead), begun anew after each end, "
    "for 60 s against `guildhall serve` without a proxy: everybody else is answered 2xx, on new connections",
    budget_s=400,
)
def flood() -> Figures:
    import httpx
    from tests.web.flooding import WAYS
    from tests.web.live import Live
    from tests.web.processes import serving
    from tests.web.studies import make_task, open_study

    from guildhall.store.workspace import Workspace

    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder:
        path = Path(folder) / "hall"
        with Workspace.create(path) as workspace:
            open_study(workspace, [make_task(number) for number in range(3)], people={"graders_per_set": 3})
        live = Live(path).start()
        cookie = live.site.door.open_session(live.invite().id, now=time.time())
        live.stop()
        with serving(path, "--stop-within", "5") as server:

            def asked(seconds: float) -> tuple[Counter[int], list[float]]:
                """Pages asked for one after another, each on a connection of its own, by a grader and by a stranger."""
                seen, took, ends = Counter[int](), list[float](), time.monotonic() + seconds
                while time.monotonic() < ends:
                    for route in ("/sets", "/enter", "/static/guildhall.css", "/readyz"):
                        began = time.monotonic()
                        with httpx.Client(timeout=60, cookies={"guildhall": cookie}) as fresh:
                            seen[fresh.get(f"http://127.0.0.1:{server.port}{route}").status_code] += 1
                        took.append(time.monotonic() - began)
                return seen, took

            calm, calm_took = asked(BEFORE_S)
            memory = [_resident_mib(server.child.pid)]
            with _flooding(server.port, server.files_port) as attackers:
                time.sleep(2)
                answered, took = asked(FLOOD_S)
                memory.append(_resident_mib(server.child.pid))
                sockets = len(list(Path(f"/proc/{server.child.pid}/fd").iterdir()))
            seen = {name: json.loads(one.stdout.read()) for name, one in attackers.items() if one.stdout}
            after, _ = asked(1)
            code, words = server.stop(within_s=40), server.words()
    figures: Figures = {
        "attackers": sum(ATTACKERS.values()),
        "ways": len(WAYS),
        "seconds": FLOOD_S,
        "attackers_did": seen,
        "descriptors_of_the_server": sockets,
        "answers_before": dict(calm),
        "answers_during": dict(answered),
        "answers_after": dict(after),
        "median_ms_before": round(1000 * statistics.median(calm_took), 1),
        "median_ms_during": round(1000 * statistics.median(took), 1),
        "p95_ms_during": round(1000 * statistics.quantiles(took, n=20)[-1], 1),
        "server_mib_before": memory[0],
        "server_mib_during": memory[1],
        "tracebacks": words.count("Traceback"),
        "exit_code": code,
    }
    assert set(answered) == set(after) == {200} and answered.total() >= 40, figures
    assert all(did["begun"] >= ATTACKERS[name] for name, did in seen.items()), figures
    assert not figures["tracebacks"] and code == 0, words[-2000:]
    return figures


@contextmanager
def _flooding(*ports: int) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """The attackers at work, in processes of their own; they end by themselves."""
    line = ["nice", "-n", "15", sys.executable, "-m", "tests.web.flooding"]  # in earnest they come from elsewhere
    running = {
        name: subprocess.Popen(
            [*line, str(port), str(number), str(FLOOD_S + 4)], cwd=ROOT, text=True, stdout=subprocess.PIPE
        )
        for port, (name, number) in zip(ports, ATTACKERS.items(), strict=True)
    }
    try:
        yield running
        for one in running.values():
            one.wait(120)
    finally:
        for one in running.values():
            one.kill()


def _resident_mib(pid: int) -> int:
    words = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()
    return int(words[1]) * 4096 >> 20


@proof(
    "blind-exposure",
    "Over HTTP, with `exposure_limit = 1`, graders who open sets and give them back by every way there is, 40 times "
    "each in two browsers at once, meet no task twice",
    budget_s=900,
)
def nobody_meets_a_task_twice() -> Figures:
    from tests.web.test_exposure import TASKS, given_back_at_random, three_pairs_a_task

    ways, met = Counter[str](), 0
    for seed in range(GRADERS):
        with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder, three_pairs_a_task(Path(folder)) as live:
            seen, used = given_back_at_random(live, seed=seed)
            assert all(times == 1 for times in seen.values()), (seed, seen)
            ways += used
            met += len(seen)
    assert len(ways) == 5, ways
    return {"graders": GRADERS, "tasks_each": TASKS, "ways": dict(ways), "tasks_met": met, "tasks_met_twice": 0}
