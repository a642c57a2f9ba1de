"""What a sandbox on this machine really holds back: a handful of attempts, each tried and judged."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.confine.limits import MIB, HeldBy, Limits
from guildhall.confine.room import Room, start
from guildhall.domain.values import Value

_LIMITS = Limits(wall_s=10, cpu_s=10, memory_bytes=256 * MIB, temp_bytes=8 * MIB, processes=40)
_EAT_MEMORY = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = b"x" * (60 * 1024**2)
        time.sleep(9)
time.sleep(9)
"""
_REACH_OUT = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
_MANY = "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(5); os._exit(0)"
_WARM_RUNS = 21
WARM_EXEC_GOAL_MS = 30.0


class Check(Value):
    """One thing a sandbox should do; `holds` is None where it could not be tried."""

    name: str
    holds: bool | None
    detail: str


def check_sandbox() -> list[Check]:
    """Try what matters most, within seconds; `proofs/sandbox.py` holds the long list."""
    why_not = why_no_bubblewrap()
    found = [Check(name="bubblewrap", holds=why_not is None, detail=why_not or shutil.which("bwrap") or "")]
    found.append(_program("LibreOffice", "soffice"))
    docker = shutil.which("docker")
    found.append(Check(name="Docker", holds=None, detail="client found, not tried" if docker else "not installed"))
    if why_not is None:
        with (
            tempfile.TemporaryDirectory(prefix="guildhall-check-") as work,
            start(work=Path(work), limits=_LIMITS, how="bubblewrap") as room,
        ):
            found += [try_it(room) for try_it in _ATTEMPTS]
    return found


def _program(name: str, command: str) -> Check:
    path = shutil.which(command)
    return Check(name=name, holds=path is not None, detail=path or f"`{command}` is not installed")


def _no_network(room: Room) -> Check:
    tried = room.run(["python3", "-c", _REACH_OUT])
    last = tried.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return Check(name="no network", holds=tried.code != 0, detail=" ".join(last))


def _no_host_files(room: Room) -> Check:
    seen = room.run(["ls", "/home", "/root", "/etc/shadow"])
    return Check(name="host files hidden", holds=not seen.stdout.strip(), detail="/home, /root, /etc/shadow")


def _read_only(room: Room) -> Check:
    tried = room.run(["sh", "-c", "touch /usr/x /etc/x /x /dev/x"])
    return Check(name="system read-only", holds=tried.code != 0, detail="/usr, /etc, /, /dev")


def _memory_held(room: Room) -> Check:
    tried = room.run(["python3", "-c", _EAT_MEMORY])
    ended = f"ended by {tried.ended}, held by {_in_words(tried.limits_held_by)}"
    detail = f"6 x 60 MiB under {_LIMITS.memory_bytes // MIB} MiB: {ended}"
    return Check(name="memory of the tree", holds=tried.ended == "memory", detail=detail)


def _processes_held(room: Room) -> Check:
    tried = room.run(["python3", "-c", _MANY])
    held = tried.peak_processes <= _LIMITS.processes and not tried.ok
    seen = f"at most {tried.peak_processes} seen, held by {_in_words(tried.limits_held_by)}"
    return Check(name="processes of the tree", holds=held, detail=f"200 wanted, {seen}")


def _in_words(held_by: HeldBy) -> str:
    return "a watch that looks every 20 ms" if held_by == "watch" else f"the kernel ({held_by})"


def _warm_exec(room: Room) -> Check:
    times_ms = []
    for _ in range(_WARM_RUNS):
        began = time.perf_counter()
        room.run(["true"])
        times_ms.append((time.perf_counter() - began) * 1000)
    median = statistics.median(times_ms)
    # Slow is not unsafe, and a busy machine is slow: this one is reported and never fails.
    holds = True if median < WARM_EXEC_GOAL_MS else None
    return Check(name="warm command", holds=holds, detail=f"{median:.1f} ms at the median")


_ATTEMPTS: tuple[Callable[[Room], Check], ...] = (
    _no_network,
    _no_host_files,
    _read_only,
    _memory_held,
    _processes_held,
    _warm_exec,
)
