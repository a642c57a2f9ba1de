"""Operations under load: backups of a hall that is being written to, and servers told to stop while people submit."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import httpx

from guildhall.deploy.plan import GRACE_S, STOP_WITHIN_S
from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.store.backup import restore_backup
from guildhall.store.checking import examine_workspace
from guildhall.store.secret import KEY_FILE
from guildhall.store.workspace import Workspace
from proofs import Figures, proof

BACKUPS, WRITERS = 10, 4
STOPS, READERS = 8, 6
NewDatabase = Callable[[], str | None]


@contextmanager
def _databases() -> Iterator[dict[str, NewDatabase]]:
    """Each kind of database, and how to get an empty one."""
    from tests.postgres import private_postgres

    with private_postgres(fsync=True) as server:
        yield {"sqlite": lambda: None, "postgresql": server.new_database}


@proof(
    "operations-backup",
    "10 backups on each database while 4 processes write records and files: every record acknowledged before a backup "
    "began is in it, restored with its file; no fault in any restored workspace.",
    budget_s=1800,
)
def backups_under_load() -> Figures:
    with _databases() as databases, tempfile.TemporaryDirectory() as folder:
        return {name: _backed_up(Path(folder) / name, new) for name, new in databases.items()}


def _backed_up(folder: Path, new: NewDatabase) -> dict[str, Any]:
    from tests.grading.halls import task

    folder.mkdir()
    with Workspace.create(folder / "hall", database=new()) as workspace:
        workspace.store.add(task(0))
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    writers = [context.Process(target=_write, args=(folder, number, stop)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    taken: list[tuple[Path, set[str], float]] = []
    try:
        while not all(_acknowledged(folder, number) for number in range(WRITERS)):
            time.sleep(0.05)
        for number in range(BACKUPS):
            before, file, started = _everything(folder), folder / f"{number}.tar", time.monotonic()
            command = [sys.executable, "-m", "guildhall", "backup", "make", str(file), "-w", str(folder / "hall")]
            subprocess.run(command, check=True, capture_output=True)
            taken.append((file, before, time.monotonic() - started))
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert all(writer.exitcode == 0 for writer in writers)
    grown = [_restored(folder, file, before, new) for file, before, _ in taken]
    assert grown == sorted(grown) and grown[0] < grown[-1], "nobody wrote between the backups"
    slowest = max(seconds for *_, seconds in taken)
    return {"backups": len(taken), "acknowledged": len(_everything(folder)), "lost": 0, "slowest_s": round(slowest, 2)}


def _write(folder: Path, number: int, stop: Any) -> None:
    """Deliver until told to stop; a line is written only once the record is durable."""
    with Workspace.open(folder / "hall") as workspace, (folder / f"writer-{number}").open("w") as said:
        for count in range(1_000_000):
            if stop.is_set():
                return
            content = f"deliverable {number} {count}".encode() * 200
            file = FileRef(name="a.txt", size=len(content), digest=workspace.blobs.put(content))
            author = ModelRun(name=f"n-{number}-{count}", model="scripted/x")
            made = Submission(task="t-0", author=author, files=(file,))
            workspace.store.add(made)
            said.write(f"{made.key}\n")
            said.flush()


def _acknowledged(folder: Path, number: int) -> set[str]:
    file = folder / f"writer-{number}"
    return {line for line in file.read_text().split("\n")[:-1] if line} if file.exists() else set()


def _everything(folder: Path) -> set[str]:
    return {key for number in range(WRITERS) for key in _acknowledged(folder, number)}


def _restored(folder: Path, backup: Path, before: set[str], new: NewDatabase) -> int:
    """How many submissions came back; all that were acknowledged, and nothing broken."""
    key = folder / "hall" / KEY_FILE
    with restore_backup(backup, folder / f"{backup.name}-again", database=new(), key=key) as again:
        kept = {one.key for one in again.store.find(Submission)}
        assert before <= kept, f"{len(before - kept)} acknowledged records are not in the backup"
        assert (faults := examine_workspace(again).faults) == [], faults[:3]
    return len(kept)


@proof(
    "operations-stop",
    "A server told to stop 8 times on each database while graders submit and others read: it ends with code 0 "
    "before a service manager would kill it, its worker with it; every receipt it promised is kept, and no fault is "
    "left.",
    budget_s=1800,
)
def stopped_under_load() -> Figures:
    with _databases() as databases, tempfile.TemporaryDirectory() as folder:
        return {name: _stopped(Path(folder) / name, new()) for name, new in databases.items()}


def _stopped(path: Path, database: str | None) -> dict[str, Any]:
    from tests.torture.ground import Ground
    from tests.torture.servers import _acknowledge, _press, _sheets
    from tests.web.processes import serving

    path.mkdir()
    ground = Ground.lay(path / "hall", database=database, provider=0, rounds=STOPS)
    scene: Any = SimpleNamespace(ground=ground)
    rng, slowest, promised, reads = Random(20261116), 0.0, 0, Counter[str]()
    for number in range(STOPS):
        sheets = _sheets(scene, number)
        with serving(path / "hall", "--stop-within", str(STOP_WITHIN_S), worker=True) as server:
            ended = threading.Event()
            with ThreadPoolExecutor(len(sheets) + READERS) as pool:
                reading = [pool.submit(_read, server.port, ended) for _ in range(READERS)]
                presses = {pool.submit(_press, scene, number, server.port, sheet): sheet for sheet in sheets}
                time.sleep(rng.uniform(0.0, 0.5))
                started = time.monotonic()
                try:
                    assert server.stop(within_s=GRACE_S) == 0, server.words()
                finally:
                    ended.set()
                slowest = max(slowest, time.monotonic() - started)
                kept = [sheet for press, sheet in presses.items() if press.result()]
                reads.update(outcome for read in reading for outcome in read.result())
        promised += len(kept)
        _acknowledge(scene, kept)
    with Workspace.open(path / "hall") as workspace:
        assert (faults := examine_workspace(workspace).faults) == [], faults[:3]
    assert promised > 0 and reads["answered"] > STOPS
    return {
        "stops": STOPS,
        "promised": promised,
        "lost": 0,
        "slowest_s": round(slowest, 2),
        "reads": dict(sorted(reads.items())),
    }


def _read(port: int, ended: threading.Event) -> list[str]:
    """Read a page again and again, each time anew: how each try ended."""
    outcomes = []
    while not ended.is_set():
        try:
            answer = httpx.get(f"http://127.0.0.1:{port}/enter", timeout=30)
            outcomes.append("answered" if answer.status_code == 200 else str(answer.status_code))
        except httpx.ConnectError:
            outcomes.append("refused")
            time.sleep(0.05)
        except httpx.HTTPError as error:
            outcomes.append(type(error).__name__)
    return outcomes
