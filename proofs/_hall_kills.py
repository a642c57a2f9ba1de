"""Graders who press Submit, some of them twice, while the server is killed under them again and again."""

from __future__ import annotations

import json
import os
import queue as queues
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from tests.grading.halls import DESIGN, OCCUPATION, layout, task
from tests.web.live import free_port

from guildhall.domain.halls import Member, Role, SeatState
from guildhall.domain.judgments import Judgment
from guildhall.domain.studies import Study
from guildhall.store.audit import broken_links
from guildhall.store.hall import seats, slots
from guildhall.store.workspace import Workspace
from guildhall.web.site import Addresses, Site
from proofs import Figures

GRADERS, THREADS = 50, 12
REASON = "The totals agree and the other ones do not."


@dataclass
class Ground:
    """A workspace in which every grader sits before a drafted verdict, ready to submit."""

    path: Path
    port: int = field(default_factory=free_port)
    files_port: int = field(default_factory=free_port)
    seats: list[tuple[str, str, str]] = field(default_factory=list)
    """Seat, cookie, form token."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> subprocess.Popen[bytes]:
        ports = ["--port", str(self.port), "--files-port", str(self.files_port)]
        command = [sys.executable, "-m", "guildhall", "serve", "--workspace", str(self.path), *ports]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.address}/enter", timeout=5).status_code == 200:
                    return server
            except httpx.HTTPError:
                time.sleep(0.1)
        server.kill()
        raise AssertionError("the server did not come up again")


def kill_and_count(url: str, *, submissions: int, kills: int) -> Figures:
    """Submit everything through the kills; what is kept is counted against what was acknowledged."""
    with tempfile.TemporaryDirectory(prefix="guildhall-kills-") as folder:
        ground = _prepared(Path(folder) / "workspace", url, tasks=submissions // GRADERS)
        acknowledged: set[str] = set()
        trouble = Counter[str]()
        todo: queues.Queue[tuple[int, tuple[str, str, str]]] = queues.Queue()
        for number, seat in enumerate(ground.seats):
            todo.put((number, seat))
        server = ground.start()
        threads = [  # daemons: a proof that fails ends, although its graders would press on
            threading.Thread(target=_grader, args=(ground.address, todo, acknowledged, trouble), daemon=True)
            for _ in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        killed = 0
        while killed < kills:
            goal = (killed + 1) * submissions // (kills + 1)
            while len(acknowledged) < goal and any(thread.is_alive() for thread in threads):
                time.sleep(0.01)
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            killed += 1
            _nothing_lost(ground, set(acknowledged))
            server = ground.start()
        for thread in threads:
            thread.join()
        server.terminate()
        server.wait()
        return _counted(ground, acknowledged, trouble, killed=killed, submissions=submissions)


def _prepared(path: Path, url: str, *, tasks: int) -> Ground:
    ground = Ground(path)
    design = DESIGN.but(graders_per_set=GRADERS)
    with Workspace.create(path, database=url) as workspace:
        store = workspace.store
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        planned = layout(tasks, design=design)
        rules = design.model_dump(mode="json")
        study = Study(
            id="s", title="Kills", seed=0, tasks=tuple(task(n).key for n in range(tasks)), design={"people": rules}
        )
        store.add_all([study, *(task(number) for number in range(tasks)), *planned.comparisons])
        site.queue.plan(planned.slots)
        people = [
            Member(id=f"p-{number}", code_name=f"grader-{number}", role=Role.GRADER, occupations=(OCCUPATION,))
            for number in range(GRADERS)
        ]
        tokens = {}
        for person in people:
            site.roster.invite(person, personal={})
            cookie = site.door.open_session(person.id, now=time.time())
            session = site.door.session(cookie, now=time.time())
            assert session is not None
            tokens[person.id] = (cookie, session.form_token)
        draft = json.dumps({"overall": "A", "reason": REASON})
        rows = []
        for number, slot in enumerate(planned.slots):
            person = people[number % GRADERS]
            identity = secrets.token_hex(16)
            about = {"slot": slot.id, "study": "s", "comparison": slot.comparison, "task": slot.task, "turn": slot.turn}
            times = {"claimed_at": time.time(), "expires_at": time.time() + 1e6, "read_brief_at": time.time()}
            state = {"state": SeatState.LIVE, "exposure": 1, "draft": draft, "draft_version": 1}
            rows.append({"id": identity, "member": person.id, **about, **times, **state})
            ground.seats.append((identity, *tokens[person.id]))
        with store.transaction() as connection:
            connection.execute(seats.insert(), rows)
            for row in rows:
                connection.execute(slots.update().where(slots.c.id == row["slot"]).values(holder=row["id"]))
    return ground


def _grader(
    address: str,
    todo: queues.Queue[tuple[int, tuple[str, str, str]]],
    acknowledged: set[str],
    trouble: Counter[str],
) -> None:
    """Submit until the receipt is promised; every fourth time by a double click, in two requests at once."""
    with httpx.Client(timeout=60) as one, httpx.Client(timeout=60) as two:
        while True:
            try:
                number, (seat, cookie, token) = todo.get_nowait()
            except queues.Empty:
                return
            data = {"form_token": token, "submit_key": secrets.token_hex(16), "guess": "cannot tell"}
            clients = [one, two] if number % 4 == 0 else [one]
            while seat not in acknowledged:
                clicks = [
                    threading.Thread(target=_click, args=(client, address, seat, cookie, data, acknowledged, trouble))
                    for client in clients
                ]
                for click in clicks:
                    click.start()
                for click in clicks:
                    click.join()


def _click(
    client: httpx.Client,
    address: str,
    seat: str,
    cookie: str,
    data: dict[str, str],
    acknowledged: set[str],
    trouble: Counter[str],
) -> None:
    try:
        answer = client.post(f"{address}/sets/{seat}/submit", data=data, headers={"cookie": f"guildhall={cookie}"})
    except httpx.HTTPError:
        trouble["connection lost"] += 1
        time.sleep(0.2)
        return
    if answer.status_code == 303 and answer.headers["location"].endswith("/receipt"):
        acknowledged.add(seat)
    else:
        trouble[str(answer.status_code)] += 1


def _nothing_lost(ground: Ground, acknowledged: set[str]) -> None:
    with Workspace.open(ground.path) as workspace, workspace.store.reading() as connection:
        kept = set(
            connection.execute(
                seats.select().with_only_columns(seats.c.id).where(seats.c.judgment.is_not(None))
            ).scalars()
        )
    assert acknowledged <= kept, f"{len(acknowledged - kept)} acknowledged judgments are gone"


def _counted(
    ground: Ground, acknowledged: set[str], trouble: Counter[str], *, killed: int, submissions: int
) -> Figures:
    _nothing_lost(ground, acknowledged)
    with Workspace.open(ground.path) as workspace:
        pairs = Counter((one.grader.key, one.comparison) for one in workspace.store.each(Judgment))
        broken = broken_links(workspace.store)
    assert len(acknowledged) == len(pairs) == submissions, (len(acknowledged), len(pairs))
    assert set(pairs.values()) == {1} and broken == []
    assert not [name for name in trouble if name.startswith("5")], trouble
    return {
        "submissions": submissions,
        "double_clicks": -(-submissions // 4),
        "kills": killed,
        "acknowledged": len(acknowledged),
        "lost": 0,
        "kept_twice": 0,
        "requests_that_failed_and_were_repeated": dict(trouble),
    }
