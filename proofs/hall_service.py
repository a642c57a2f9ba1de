"""The grading service end to end: served, asked over HTTP, its worker killed half-way, grades with intervals."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from guildhall.domain.halls import Role
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.tasks import Task
from guildhall.store.workspace import Workspace
from proofs import Figures, proof

JUDGE = "rubric-and-format"


@proof(
    "hall-grading-service",
    "Work on the sample bank, sent in over HTTP, comes back as win rates with intervals though the worker is "
    "killed with SIGKILL half-way: every verdict once, the same call twice one grading, nothing of it in any study.",
    budget_s=900,
)
def grading_service() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace"
        token, work = _prepared(path)
        with _served(path) as address:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/zip", "Idempotency-Key": "once"}
            query = {"name": "outsider", "judge": JUDGE}
            with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
                sent = [client.post("/api/v1/gradings", params=query, content=work) for _ in range(2)]
                assert [one.status_code for one in sent] == [202, 202] and sent[0].json()["id"] == sent[1].json()["id"]
                killed_at = _kill_half_way(client, sent[0].headers["location"], path)
                shown = _finished(client, sent[0].headers["location"], path)
        figures = _figures(path, shown) | {"verdicts_when_killed": killed_at}
        assert 0 < killed_at < figures["verdicts"]
        return figures


def _prepared(path: Path) -> tuple[str, bytes]:
    """A workspace with the sample bank, a token, and a package: for every task the expert's own files, worded anew."""
    from guildhall.taskbank.importing import import_tasks, read_source
    from guildhall.taskbank.sample import sample_folder
    from guildhall.web.site import Addresses, Site

    with Workspace.create(path) as workspace:
        with sample_folder() as folder:
            import_tasks(workspace, read_source(folder))
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        manager = site.roster.invite_person(Role.MANAGER, occupations=(), years=None, personal={})
        scopes = ["gradings:read", "gradings:write"]
        token = site.door.new_api_token(manager.id, name="proof", scopes=scopes, now=time.time())
        return token, _package(workspace)


def _package(workspace: Workspace) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, task in enumerate(workspace.store.find(Task)):
            archive.writestr(f"{task.id}/final_message.md", f"Work number {number}: done as the brief asks.")
            for file in task.expert_files if number % 2 else ():
                if file.digest:
                    archive.writestr(f"{task.id}/{file.name}", workspace.blobs.read(file.digest))
    return out.getvalue()


@contextmanager
def _served(path: Path) -> Iterator[str]:
    """`guildhall serve` without a worker of its own, on free ports; its address."""
    from tests.web.live import free_port

    pages, files = free_port(), free_port()
    command = [sys.executable, "-m", "guildhall", "serve", "--no-worker", "--workspace", str(path)]
    server = subprocess.Popen([*command, "--port", str(pages), "--files-port", str(files)])
    try:
        address = f"http://localhost:{pages}"
        deadline = time.monotonic() + 60
        while not _ready(address):
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz").is_success
    except httpx.HTTPError:
        return False


def _worker(path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "guildhall", "worker", "--once", "--workspace", str(path)]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)


def _kill_half_way(client: httpx.Client, location: str, path: Path) -> int:
    """Start a worker and kill it, and all it started, once it has judged something."""
    worker = _worker(path)
    try:
        while not (shown := client.get(location).raise_for_status().json())["progress"]["verdicts"]:
            assert worker.poll() is None, "the worker ended by itself"
            time.sleep(0.12)  # within the token's rate of calls
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    assert shown["state"] == "running", "it was finished before it could be killed"
    return int(shown["progress"]["verdicts"])


def _finished(client: httpx.Client, location: str, path: Path) -> dict[str, object]:
    assert _worker(path).wait(timeout=600) == 0
    shown: dict[str, object] = client.get(location).json()
    assert shown["state"] == "done", shown
    return shown


def _figures(path: Path, shown: dict[str, object]) -> Figures:
    grades = shown["grades"]
    assert isinstance(grades, dict)
    low, high = grades["half_tie"]["interval"]
    assert 0 <= low < high <= 1
    with Workspace.open(path) as workspace:
        compared = {one.key: one for one in workspace.store.each(Comparison)}
        asked = Counter((one.comparison, one.order, one.sweep) for one in workspace.store.each(Judgment))
    assert max(asked.values()) == 1, "a verdict was kept twice"
    assert {one.study for one in compared.values()} == {f"grading-{shown['id']}"}
    return {
        "tasks": len(compared),
        "verdicts": len(asked),
        "verdicts_twice": 0,
        "half_tie": grades["half_tie"]["value"],
        "interval": [low, high],
        "without_expert": len(grades["without_expert"]),
        "ungradable": len(grades["ungradable"]),
    }
