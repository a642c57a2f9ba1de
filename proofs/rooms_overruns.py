"""Overruns: what a room can make the host hold beyond what it was granted, with the kernel counting and without."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guildhall.confine.cgroup import kernel_bytes
from guildhall.confine.launch import may_mount, why_no_bubblewrap
from guildhall.confine.limits import MIB, Ended, HeldBy, RoomLimits
from guildhall.confine.room import start
from proofs import Figures, NotRun, proof

LIMITS = RoomLimits(
    wall_s=8,
    cpu_s=8,
    memory_bytes=128 * MIB,
    processes=32,
    file_bytes=16 * MIB,
    work_bytes=32 * MIB,
    work_files=2000,
    temp_bytes=16 * MIB,
    temp_files=2000,
    open_files=512,
)
CAP = 400 * MIB
"""Where an attempt stops of itself, all its processes together."""
_BEFORE = """
import os, sys, time
cap = @CAP@
def each(number):
    global cap
    cap //= number
    for _ in range(number - 1):
        if os.fork() == 0: break
def say(held, last=[0]):
    if held - last[0] >= 1 << 17 or held < last[0]:
        last[0] = held
        os.write(1, f'{os.getpid()} {held}\\n'.encode())
import atexit
@atexit.register
def wait():
    try:
        while True: os.wait()
    except ChildProcessError: pass
"""


@dataclass(frozen=True)
class Overrun:
    name: str
    fills: str
    script: str

    @property
    def limits(self) -> RoomLimits:
        return LIMITS.but(wall_s=40) if self.fills == "disk" else LIMITS  # these wait to be ended by a look


@dataclass(frozen=True)
class Taken:
    """What an attempt came to: bytes it says it held at most, and what the kernel and the host counted meanwhile."""

    overrun: Overrun
    ended: Ended
    limits_held_by: HeldBy
    held: int
    kernel_peak: int | None
    host_memory: int
    host_slab: int
    escaped: bool

    @property
    def allowed(self) -> int:
        """The room's limit and a tenth more, by what the attempt fills."""
        granted = {
            "inodes": 2 * LIMITS.temp_files * 1024 + 32 * MIB,
            "refused": 32 * MIB,  # the interpreter itself
            "sockets": LIMITS.memory_bytes // 16 + 40 * MIB,  # the interpreter, and a send that was let in at the edge
        }
        return granted.get(self.overrun.fills, LIMITS.memory_bytes + 2 * LIMITS.temp_bytes) * 11 // 10

    @property
    def row(self) -> list[object]:
        megabytes = [
            round(one / MIB, 1) for one in (self.held, self.kernel_peak or 0, self.host_memory, self.host_slab)
        ]
        return [self.overrun.name, self.overrun.fills, self.ended, *megabytes]


def overruns() -> tuple[Overrun, ...]:
    found = []
    for block in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n=== ")[1:]:
        head, _, script = block.partition("\n")
        name, _, fills = head.partition(" -> ")
        found.append(Overrun(name, fills, script))
    return tuple(found)


def take(overrun: Overrun, *, kernel_limits: bool) -> Taken:
    script = _BEFORE.replace("@CAP@", str(CAP)) + overrun.script
    with tempfile.TemporaryDirectory(prefix="guildhall-overrun-") as parent:
        work = Path(parent, "work")
        work.mkdir()
        most = kernel_bytes(LIMITS, work=work)
        with (
            start(work=work, limits=overrun.limits, how="bubblewrap", kernel_limits=kernel_limits) as room,
            _host_growth() as grown,
        ):
            finished = room.run(["python3", "-"], stdin=script.encode())
            peak = room.kernel_peak_bytes
    held: dict[bytes, int] = {}
    for pid, _, number in (line.partition(b" ") for line in finished.stdout.splitlines()):
        if number.isdigit():
            held[pid] = max(held.get(pid, 0), int(number))
    assert peak is None or peak <= most, (overrun.name, peak, most)
    # Once the kernel has ended one process for memory, another may take what that one gave back: they held it in turn.
    in_turn = peak is not None and finished.ended == "memory"
    claimed = max(held.values(), default=0) if in_turn else sum(held.values())
    if overrun.fills == "names" and peak is not None:
        claimed = min(claimed, peak)  # the kernel forgets the oldest names: what was asked for is not held at once
    return Taken(
        overrun,
        finished.ended,
        finished.limits_held_by,
        max(claimed, finished.peak_bytes),
        peak,
        grown["memory"],
        grown["slab"],
        b"ESCAPED" in finished.stdout,
    )


@contextmanager
def _host_growth() -> Iterator[dict[str, int]]:
    """How far the machine's free memory fell and its kernel memory rose at most meanwhile, whoever's doing it was."""
    before, over, grown = _host(), threading.Event(), {"memory": 0, "slab": 0}

    def look() -> None:
        while not over.wait(0.05):
            now = _host()
            grown["memory"] = max(grown["memory"], before["MemAvailable"] - now["MemAvailable"])
            grown["slab"] = max(grown["slab"], now["SUnreclaim"] - before["SUnreclaim"])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield grown
    finally:
        over.set()
        thread.join()


def _host() -> dict[str, int]:
    lines = [line.split() for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()]
    return {line[0].removesuffix(":"): int(line[1]) * 1024 for line in lines}


def loose(taken: Taken) -> bool:
    """Whether more was held than is granted. What is in flight between sockets is stated and not held: see the docs.

    Bytes on disk are looked at, not limited by the kernel: what fits between two looks depends on the machine's speed,
    so it is stated, and what is held is that the room ends for it.
    """
    if taken.overrun.fills == "disk":
        return taken.escaped or taken.ended != "disk"
    return taken.escaped or (taken.overrun.fills != "flight" and taken.held > taken.allowed)


@proof(
    "rooms-overruns",
    "The audit's four ways to make the host hold more than a room was granted and fourteen more: under a control group "
    "each holds at most the limit and a tenth, files in flight between sockets excepted; unlinked files on disk end "
    "the room at the next look; what each took of disk, and of all else by the watch alone, is stated",
    budget_s=900,
)
def overruns_are_held() -> Figures:
    why = why_no_bubblewrap()
    if why is not None:
        raise NotRun(why)
    with _host_growth() as noise:
        time.sleep(3)
    kernel = [take(one, kernel_limits=True) for one in overruns()]
    if {one.limits_held_by for one in kernel} == {"watch"}:
        raise NotRun("no control group can be made on this machine")
    watched = [take(one, kernel_limits=False) for one in overruns()]
    over = {one.overrun.name: one.row for one in kernel if loose(one)}
    assert not over, over
    assert not [one.overrun.name for one in watched if one.escaped]
    return {
        "overruns": len(kernel),
        "limits_held_by": sorted({one.limits_held_by for one in kernel}),
        "inodes_bounded": may_mount(),
        "granted_mib": (LIMITS.memory_bytes + 2 * LIMITS.temp_bytes) // MIB,
        "stops_of_itself_at_mib": CAP // MIB,
        "columns": ["name", "fills", "ended", "held mib", "kernel peak mib", "host memory mib", "host slab mib"],
        "others_moved_the_host_by_mib_in_3_s": {name: round(one / MIB, 1) for name, one in noise.items()},
        "by_the_kernel": [one.row for one in kernel],
        "by_the_watch": [one.row for one in watched],
        "over_by_the_watch": [one.overrun.name for one in watched if loose(one)],
    }
