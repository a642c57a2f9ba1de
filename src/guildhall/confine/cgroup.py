"""Limits the kernel itself keeps for a room's whole tree: a control group (cgroup) for memory and processes.

`open_group` makes one where a hierarchy can be written to: version 2 where it was delegated to us, else version 1
(root). A room's first process is placed in it before any work starts, and whatever it starts is born there. Without
such a hierarchy there is no group, and the watch on the room is all that counts the tree.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from guildhall.confine.limits import HeldBy, RoomLimits
from guildhall.confine.tree import started

_NAME = "guildhall-room-"
_NO_LIMIT = 1 << 60  # version 1 writes "no limit" as the largest number of whole pages
_SHARE_OF_SOCKETS = 16
_DYING_TAKES_AT_MOST_S = 2.0
_numbers = count()


@dataclass(frozen=True)
class ControlGroup:
    """The control group of one room; in version 2 both folders are one."""

    held_by: HeldBy
    memory: Path
    pids: Path

    def hold(self, *, memory_bytes: int, processes: int) -> None:
        """Set the limits; swap counts as memory where the kernel counts it."""
        if self.held_by == "cgroup v2":
            _write(self.memory / "memory.max", memory_bytes)
            _write_where_known(self.memory / "memory.swap.max", 0)
        else:
            _write(self.memory / "memory.limit_in_bytes", memory_bytes)
            _write_where_known(self.memory / "memory.memsw.limit_in_bytes", memory_bytes)
            # Version 1 counts buffers of TCP and UDP apart, and only once they have a limit; version 2 counts them in.
            _write_where_known(self.memory / "memory.kmem.tcp.limit_in_bytes", memory_bytes // _SHARE_OF_SOCKETS)
        _write(self.pids / "pids.max", processes)

    def place(self, pid: int) -> None:
        """Move a process in; what it starts from now on is born inside."""
        for folder in self._folders():
            _write(folder / "cgroup.procs", pid)

    def ended_for_memory(self) -> int:
        """How many processes the kernel has ended in here because the limit was reached."""
        name = "memory.events" if self.held_by == "cgroup v2" else "memory.oom_control"
        for line in (self.memory / name).read_text().splitlines():
            word, _, number = line.partition(" ")
            if word == "oom_kill":
                return int(number)
        return 0

    def used_bytes(self) -> int:
        """What the kernel charges to the tree now: its memory, files in its temporary space, cached pages."""
        return self._number("memory.current", "memory.usage_in_bytes")

    def peak_bytes(self) -> int:
        """The most the kernel ever charged to the tree."""
        return self._number("memory.peak", "memory.max_usage_in_bytes")

    def processes(self) -> set[int]:
        found: set[int] = set()
        for folder in self._folders():
            with contextlib.suppress(OSError):
                found |= set(map(int, (folder / "cgroup.procs").read_text().split()))
        return found - {0}  # 0 stands for a process this namespace cannot see

    def remove(self, *, patience_s: float = _DYING_TAKES_AT_MOST_S) -> bool:
        """End whoever is left inside and remove the group; False when somebody takes too long to die."""
        until = time.monotonic() + patience_s
        while True:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if all(_removed(folder) for folder in self._folders()):
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.005)

    def _folders(self) -> tuple[Path, ...]:
        return (self.memory,) if self.memory == self.pids else (self.memory, self.pids)

    def _number(self, in_v2: str, in_v1: str) -> int:
        return int((self.memory / (in_v2 if self.held_by == "cgroup v2" else in_v1)).read_text())


def open_group(limits: RoomLimits, *, work: Path, process: Path = Path("/proc/self")) -> ControlGroup | None:
    """A group that holds `limits` for a room about to start; None where no hierarchy can be written to.

    Groups whose owner has died are removed on the way.
    """
    name = f"{_NAME}{_namespace()}-{os.getpid()}-{started(os.getpid())}-{next(_numbers)}"
    for held_by, memory, pids in _places(process):
        group = ControlGroup(held_by, memory / name, pids / name)
        try:
            for parent in {memory, pids}:
                _sweep(parent)
                (parent / name).mkdir()
            group.hold(memory_bytes=kernel_bytes(limits, work=work, process=process), processes=limits.processes + 1)
        except OSError:
            group.remove(patience_s=0)
            continue
        return group
    return None


def held_by_here() -> HeldBy:
    """Who would count the tree of a room on this machine: tried, by making a group and removing it."""
    group = open_group(RoomLimits(), work=Path("/"))
    if group is None:
        return "watch"
    group.remove()
    return group.held_by


def kernel_bytes(limits: RoomLimits, *, work: Path, process: Path = Path("/proc/self")) -> int:
    """What the kernel lets a room hold: its memory, and what the limits allow in files that live in memory.

    Those are `/tmp` and `/dev/shm`, and a work folder that lies on a tmpfs, which may reach twice its limit
    before it is ended for the disk.
    """
    in_memory = 2 * limits.temp_bytes
    device = work.stat().st_dev
    if _file_systems(process).get(f"{os.major(device)}:{os.minor(device)}") in ("tmpfs", "ramfs"):
        in_memory += 2 * limits.work_bytes
    return limits.memory_bytes + in_memory


def _places(process: Path) -> Iterator[tuple[HeldBy, Path, Path]]:
    """Where a group may be made, best first: version, parent for memory, parent for processes."""
    own = _own_groups(process)
    if "" in own:
        for parent in _delegated(*own[""]):
            yield "cgroup v2", parent, parent
    if {"memory", "pids"} <= own.keys():
        memory = _within_what_holds_us(*own["memory"], "memory.limit_in_bytes")
        pids = _within_what_holds_us(*own["pids"], "pids.max")
        yield "cgroup v1", memory, pids


def _delegated(top: Path, own: Path) -> Iterator[Path]:
    """Our own group, or the one above where ours sets no limit that its neighbours would escape."""
    unlimited = not any(_limited(own / name) for name in ("memory.max", "pids.max"))
    for parent in [own, own.parent] if unlimited and own != top else [own]:
        try:
            if not {"memory", "pids"} <= set((parent / "cgroup.controllers").read_text().split()):
                continue
            if not {"memory", "pids"} <= set((parent / "cgroup.subtree_control").read_text().split()):
                _write(parent / "cgroup.subtree_control", "+memory +pids")  # refused where processes live in it
        except OSError:
            continue
        yield parent


def _within_what_holds_us(top: Path, own: Path, limit: str) -> Path:
    """The top of the hierarchy; our own group where we are limited ourselves, so that no room escapes that limit."""
    around = [own, *own.parents]
    return own if any(_limited(group / limit) for group in around[: around.index(top)]) else top


def _limited(file: Path) -> bool:
    try:
        said = file.read_text().strip()
    except OSError:
        return False
    return said != "max" and int(said) < _NO_LIMIT


def _own_groups(process: Path) -> dict[str, tuple[Path, Path]]:
    """Controller (empty for version 2) -> the top of its hierarchy, and the group this process is in."""
    try:
        paths = dict(line.split(":", 2)[1:] for line in (process / "cgroup").read_text().splitlines())
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
    except (OSError, ValueError):
        return {}
    found: dict[str, tuple[Path, Path]] = {}
    for fields in mounts:
        kind, _, options = fields[fields.index("-") + 1 :]
        top, mounted = Path(fields[4]), fields[3]
        for controllers, path in paths.items():
            known = kind == "cgroup2" if not controllers else kind == "cgroup"
            if known and set(controllers.split(",")) - {""} <= set(options.split(",")):
                inside = os.path.relpath(path, mounted)
                own = top if inside.startswith("..") else top / inside
                found.update(dict.fromkeys(controllers.split(","), (top, own)))
    return found


def _file_systems(process: Path) -> dict[str, str]:
    """Device -> kind of the file system on it, of all that is mounted."""
    with contextlib.suppress(OSError):
        lines = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
        return {fields[2]: fields[fields.index("-") + 1] for fields in lines}
    return {}


def _sweep(parent: Path) -> None:
    """Remove the groups of rooms whose owner has died; only those of our own process namespace can be told."""
    for folder in parent.glob(f"{_NAME}{_namespace()}-*"):
        pid, began, _ = folder.name.rsplit("-", 3)[1:]
        if started(int(pid)) != int(began):
            ControlGroup("cgroup v1", folder, folder).remove(patience_s=0)


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(file: Path, value: object) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CREAT)  # one write, as the kernel wants it; only a faked folder creates
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def _write_where_known(file: Path, value: object) -> None:
    if file.exists():
        _write(file, value)
