"""Looking at what a room uses, and saying when it is too much."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from guildhall.confine.command import Command
from guildhall.confine.folder import Size, measure
from guildhall.confine.limits import Ended, Limits
from guildhall.confine.tree import Tree, Usage

_FULL_HOUSE_S = 1.0
_FOLDER_LOOK_S = 0.25


class Watch:
    """The limits of one room, held against looks at its tree and its work folder."""

    def __init__(self, root: int, *, ours: int, work: Path, limits: Limits) -> None:
        self._tree, self._ours = Tree(root), ours
        self._work, self._limits = work, limits
        self._full_since: float | None = None
        self._folder = Size()
        self._next_folder_look = 0.0
        self.cpu_s = 0.0
        self._cpu_when_quiet = 0.0

    def look(self, commands: Sequence[Command]) -> Ended | None:
        """Note what is used against the running commands; the limit that is passed, if one is."""
        usage = self._tree.look()
        self.cpu_s = usage.cpu_s
        tasks = max(0, usage.tasks - self._ours)
        for command in commands:
            command.peak_bytes = max(command.peak_bytes, usage.resident_bytes)
            command.peak_tasks = max(command.peak_tasks, tasks)
            command.cpu_s = usage.cpu_s - command.cpu_at_start
        if self._too_much_memory(usage):
            return "memory"
        if self._too_many(tasks):
            return "processes"
        if self._too_long_at_work(commands):
            return "cpu"
        if tasks and self._too_much_disk():
            return "disk"
        return None

    def kill_tree(self) -> None:
        """Kill, from outside, everybody below the launcher and everybody last seen there."""
        for pid in self._tree.still_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _too_long_at_work(self, commands: Sequence[Command]) -> bool:
        """During a command, or in the background while none runs."""
        if commands:
            self._cpu_when_quiet = self.cpu_s
            return any(command.cpu_s > self._limits.cpu_s for command in commands)
        return self.cpu_s - self._cpu_when_quiet > self._limits.cpu_s

    def _too_much_memory(self, usage: Usage) -> bool:
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
        """Past the limit and still growing: whoever is only clearing up must be able to."""
        now = time.monotonic()
        if now < self._next_folder_look:
            return False
        before, self._folder = self._folder, measure(self._work, give_up_after=self._limits.work_files)
        self._next_folder_look = now + max(_FOLDER_LOOK_S, 10 * (time.monotonic() - now))
        size = self._folder
        past = size.unmeasurable or size.bytes > self._limits.work_bytes or size.files > self._limits.work_files
        grew = size.bytes > before.bytes or size.files > before.files or (size.unmeasurable and not before.unmeasurable)
        return past and grew
