"""What a process and all its descendants use, read from `/proc`.

Whoever loses its parent inside a room is adopted by the room's first process, so nobody can leave the tree.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class TreeUsage:
    """What a tree used at one look; `tasks` counts threads, as the kernel's own limit does."""

    tasks: int = 0
    resident_bytes: int = 0
    cpu_s: float = 0.0


@dataclass(frozen=True)
class _Process:
    started: int
    tasks: int
    resident_bytes: int
    own_cpu: int
    reaped_cpu: int


class Tree:
    """The descendants of one process, looked at again and again."""

    def __init__(self, root: int) -> None:
        self.root = root
        self._cpu_by_process: dict[tuple[int, int], int] = {}
        self._cpu_s = 0.0
        self._last: dict[int, int] = {}

    def pids(self) -> list[int]:
        """All descendants, parents first; a process that moves while we look turns up at the next look."""
        found, wave = [], [self.root]
        while wave:
            wave = [child for pid in wave for child in _children(pid)]
            found += wave
        return found

    def look(self) -> TreeUsage:
        processes = {pid: process for pid in self.pids() if (process := _read(pid)) is not None}
        self._last = {pid: process.started for pid, process in processes.items()}
        for pid, process in processes.items():
            self._cpu_by_process[pid, process.started] = process.own_cpu
        # Two undercounts, and the larger is nearer: a parent that ignores its children's end is never charged
        # for them, and a process that lives shorter than a look is only ever seen in its parent's account.
        seen = sum(self._cpu_by_process.values())
        charged = sum(process.own_cpu + process.reaped_cpu for process in processes.values())
        self._cpu_s = max(self._cpu_s, seen / _TICKS, charged / _TICKS)
        return TreeUsage(
            tasks=sum(process.tasks for process in processes.values()),
            resident_bytes=sum(process.resident_bytes for process in processes.values()),
            cpu_s=self._cpu_s,
        )

    def still_alive(self) -> set[int]:
        """Descendants, and those of the last look that have lost their way to us (their first process was killed)."""
        strays = {pid for pid, started in self._last.items() if (now := _read(pid)) and now.started == started}
        return strays | set(self.pids())

    def unlinked_bytes(self, device: int) -> int:
        """What files of one file system hold that only open or mapped files of the tree lead to."""
        sizes: dict[int, int] = {}
        for pid in self.pids():
            for on, inode, size in _held(pid):
                if on == device:
                    sizes[inode] = max(size, sizes.get(inode, 0))
        return sum(sizes.values())

    def proportional_bytes(self) -> int:
        """Memory with shared pages split among their users: slower to read than `resident_bytes`, and exact."""
        return sum(_proportional(pid) for pid in self.pids())


def _held(pid: int) -> Iterator[tuple[int, int, int]]:
    """Files a process has open or mapped though no folder names them any more: device, inode, bytes on disk."""
    try:
        with os.scandir(f"/proc/{pid}/fd") as opened:
            for one in opened:
                with contextlib.suppress(OSError):
                    found = one.stat()
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                        yield found.st_dev, found.st_ino, found.st_blocks * 512
        for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.endswith(" (deleted)"):
                between, _, _, device, inode = line.split(maxsplit=5)[:5]
                (first, last), (major, minor) = (between.split("-"), device.split(":"))
                yield os.makedev(int(major, 16), int(minor, 16)), int(inode), int(last, 16) - int(first, 16)
    except OSError:
        return  # it ended while we looked


def started(pid: int) -> int | None:
    """When a process began, in the kernel's ticks: with its number, a name nobody else has; None when it is gone."""
    process = _read(pid)
    return process.started if process else None


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except OSError:
        pass  # it ended while we looked
    return found


def _read(pid: int) -> _Process | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    own_cpu, reaped_cpu = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return _Process(int(fields[19]), int(fields[17]), int(fields[21]) * _PAGE, own_cpu, reaped_cpu)


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    wanted = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(wanted))
