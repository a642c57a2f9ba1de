"""Looking at what a room uses, and saying when it is too much."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from guildhall.confine.cgroup import ControlGroup
from guildhall.confine.command import Command
from guildhall.confine.limits import Ended, RoomLimits
from guildhall.confine.tree import Tree, TreeUsage

DEEPEST = 100
"""Folders nested deeper than this are an attack on whoever walks them, and count as past the limit."""


@dataclass(frozen=True)
class Size:
    bytes: int = 0
    files: int = 0
    unmeasurable: bool = False  # nested too deep, or a folder its owner closed to everybody


def measure(folder: Path, *, give_up_after: int) -> Size:
    """Bytes on disk and entries below `folder`, links not followed; stops counting past `give_up_after` entries."""
    used, files = 0, 0
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth > DEEPEST:
            return Size(used, files, unmeasurable=True)
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    files += 1
                    if files > give_up_after:
                        return Size(used, files)
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except PermissionError:
            return Size(used, files, unmeasurable=True)
        except OSError:
            continue  # removed while we looked
    return Size(used, files)


_FULL_HOUSE_S = 1.0
_FOLDER_LOOK_S, _SLOWEST_FOLDER_LOOK_S = 0.25, 1.0


class Watch:
    """The limits of one room, held against looks at its tree and its work folder."""

    def __init__(self, root: int, *, ours: int, work: Path, limits: RoomLimits, group: ControlGroup | None) -> None:
        self._tree, self._ours, self._group = Tree(root), ours, group
        self._work, self._limits = work, limits
        self._full_since: float | None = None
        self._tolerated: Size | None = None
        self._ended_for_disk = False
        self._next_folder_look = 0.0
        self.cpu_s = 0.0
        self._cpu_when_quiet = 0.0
        self._known_ends = 0

    def look(self, commands: Sequence[Command]) -> Ended | None:
        """Note what is used against the running commands; the limit that is passed, if one is."""
        usage = self._tree.look()
        self.cpu_s = usage.cpu_s
        tasks = max(0, usage.tasks - self._ours)
        held = min(usage.resident_bytes, self._group.used_bytes()) if self._group else usage.resident_bytes
        for command in commands:
            command.peak_bytes = max(command.peak_bytes, held)
            command.peak_tasks = max(command.peak_tasks, tasks)
            command.cpu_s = usage.cpu_s - command.cpu_at_start
        if self.kernel_ended_some() or self._too_much_memory(usage):
            return "memory"
        if self._too_many(tasks):
            return "processes"
        if self._too_long_at_work(commands):
            return "cpu"
        if tasks and self._too_much_disk():
            return "disk"
        return None

    def kernel_ended_some(self) -> bool:
        """Whether the kernel ended somebody for memory since this was last asked."""
        if self._group is None:
            return False
        try:
            before, self._known_ends = self._known_ends, self._group.ended_for_memory()
        except FileNotFoundError:  # the group went before the room: nobody was ended in it that we know of
            return False
        return self._known_ends > before

    def kill_tree(self) -> None:
        """Kill, from outside, everybody below the launcher and everybody last seen there."""
        for pid in self._tree.still_alive() | (self._group.processes() if self._group else set()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _too_long_at_work(self, commands: Sequence[Command]) -> bool:
        """During a command, or in the background while none runs."""
        if commands:
            self._cpu_when_quiet = self.cpu_s
            return any(command.cpu_s > self._limits.cpu_s for command in commands)
        return self.cpu_s - self._cpu_when_quiet > self._limits.cpu_s

    def _too_much_memory(self, usage: TreeUsage) -> bool:
        if usage.resident_bytes <= self._limits.memory_bytes:
            return False
        return self._tree.proportional_bytes() > self._limits.memory_bytes

    def _too_many(self, tasks: int) -> bool:
        """Past the limit, or held at it: the kernel refuses more, and a fork bomb would go on trying."""
        if tasks > self._limits.processes:
            return True
        if tasks < self._limits.processes:
            self._full_since = None
            return False
        self._full_since = self._full_since or time.monotonic()
        return time.monotonic() - self._full_since > _FULL_HOUSE_S

    def _too_much_disk(self) -> bool:
        """Past the limit, unless nothing was added since everything was last ended for it: clearing up is allowed.

        Past twice the limit, or where the folder cannot be measured, nothing that lasts until a look is.
        """
        now = time.monotonic()
        if now < self._next_folder_look:
            return False
        most_bytes, most_files = self._limits.work_bytes, self._limits.work_files
        size = measure(self._work, give_up_after=2 * most_files)
        size = replace(size, bytes=size.bytes + self._tree.unlinked_bytes(self._work.stat().st_dev))
        self._next_folder_look = now + min(_SLOWEST_FOLDER_LOOK_S, max(_FOLDER_LOOK_S, 4 * (time.monotonic() - now)))
        if not size.unmeasurable and size.bytes <= most_bytes and size.files <= most_files:
            self._tolerated = None
            return False
        hopeless = size.unmeasurable or size.bytes > 2 * most_bytes or size.files > 2 * most_files
        if self._ended_for_disk:  # what was written while everything was being ended is part of that end
            self._ended_for_disk, self._tolerated = False, size
        known = self._tolerated
        if hopeless or known is None or size.bytes > known.bytes or size.files > known.files:
            self._ended_for_disk = True
            return True
        self._tolerated = size
        return False
