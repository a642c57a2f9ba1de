"""The hostile set in full: what each malicious or broken file comes to, and what it costs."""

from __future__ import annotations

import collections
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.documents.hostile import HOSTILE
from tests.documents.hostile_parts import BEACON

from guildhall.documents.looking import Documents, documents
from guildhall.documents.values import FileOutcome, LookOutcome
from proofs import ROOT, Figures, proof

_LIMIT_S = 150
"""Rendering and checking a file are at most a conversion and a look, each stopped at 60 s."""
_GIB = 1 << 30
_IN_FLIGHT = 2
_MAKING = threading.Lock()
"""Some files take hundreds of megabytes to make: one at a time."""


@dataclass
class _Seen:
    """What came of one file."""

    seconds: float = 0.0
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    said: list[str] = field(default_factory=list)

    def note(self, outcome: FileOutcome, seconds: float) -> None:
        self.seconds = max(self.seconds, seconds)
        self.outcomes[outcome.outcome.value] += 1
        self.said += [outcome.reason] if outcome.reason else []
        self.said += [found.words for found in outcome.findings]


@proof(
    "documents-hostile",
    "every malicious or broken file ends within its limits with a clear finding, under 1 GiB, writes nothing outside"
    " its folder and calls nobody",
    budget_s=3600,
)
def hostile_files() -> Figures:
    assert len(HOSTILE) >= 40
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-hostile-") as folder,
        documents(Path(folder) / "cache") as look,
        _listening(BEACON) as heard,
        _watching_memory() as peaks,
    ):
        places = [Path(folder) / str(number) for number in range(len(HOSTILE))]
        with ThreadPoolExecutor(_IN_FLIGHT) as pool:
            looks = pool.map(partial(_looked_at, look, peaks), HOSTILE, HOSTILE.values(), places)
            seen = dict(zip(HOSTILE, looks, strict=True))
    late = {name: one.seconds for name, one in seen.items() if one.seconds >= _LIMIT_S}
    silent = [name for name, one in seen.items() if not one.said]
    escaped = [str(path) for place in (Path("/tmp"), ROOT, Path.home()) for path in place.glob("guildhall-escaped*")]
    slow = sorted(seen, key=lambda name: -seen[name].seconds)[:5]
    figures = {
        "files": len(seen),
        "looks": dict(sum((one.outcomes for one in seen.values()), collections.Counter[str]())),
        "slowest_s": {name: round(seen[name].seconds) for name in slow},
        "most_mib_in_a_room": {names: size >> 20 for names, size in collections.Counter(peaks.rooms).most_common(5)},
        "peak_mib_of_ours": peaks.ours >> 20,
        "without_a_finding": silent,
        "escaped": len(escaped),
        "calls_home": len(heard),
    }
    assert not late, figures
    assert not silent, figures
    assert not escaped, escaped
    assert not heard, heard
    assert max(peaks.rooms.values()) < _GIB, figures
    assert peaks.ours < _GIB, figures
    return {**figures, "said": {name: one.said[0][:120] for name, one in seen.items()}}


def _looked_at(look: Documents, peaks: _Peaks, name: str, make: Callable[[Path], Path], here: Path) -> _Seen:
    """Everything one can wish of a file; nothing may be left beside it but its scrubbed copy."""
    here.mkdir()
    with _MAKING:
        file = make(here)
    peaks.at_work.add(name)
    wishes: tuple[Callable[[Path], FileOutcome], ...] = (
        look.render,
        lambda one: look.text(one)[0],
        look.check,
        lambda one: look.scrub(one, out=here / "scrubbed"),
        look.tells,
    )
    seen = _Seen()
    for wish in wishes:
        began = time.perf_counter()
        outcome = wish(file)
        seen.note(outcome, time.perf_counter() - began)
        assert outcome.outcome is LookOutcome.OK or outcome.reason, outcome
    assert {path.name for path in here.iterdir()} <= {file.name, "scrubbed"}, file.name
    peaks.at_work.remove(name)
    shutil.rmtree(here)
    return seen


@contextmanager
def _listening(port: int) -> Iterator[list[str]]:
    """Whoever calls at this port of the machine is noted."""
    heard: list[str] = []
    with socket.create_server(("127.0.0.1", port)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                heard.append(str(address))
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield heard
        server.shutdown(socket.SHUT_RDWR)


@dataclass
class _Peaks:
    """The most memory seen: of this process, and of any tree of processes below it by the files then at work."""

    at_work: set[str] = field(default_factory=set)
    ours: int = 0
    rooms: dict[str, int] = field(default_factory=dict)


@contextmanager
def _watching_memory() -> Iterator[_Peaks]:
    """Looks ten times a second."""
    peaks = _Peaks()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            largest = max(_resident_by_child(os.getpid()).values(), default=0)
            names = " or ".join(sorted(peaks.at_work))
            peaks.rooms[names] = max(peaks.rooms.get(names, 0), largest)
            peaks.ours = max(peaks.ours, _resident(os.getpid()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()


def _resident_by_child(root: int) -> dict[int, int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    totals: dict[int, int] = collections.defaultdict(int)
    for pid in parents:
        at = pid
        while at in parents and parents[at] != root:
            at = parents[at]
        if parents.get(at) == root:
            totals[at] += _resident(pid)
    return totals


def _resident(pid: int) -> int:
    """Memory in bytes, pages shared between processes divided among them."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0
