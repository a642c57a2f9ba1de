"""What confined work may use, and what is known about it when it has ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

MIB = 1024**2
GIB = 1024**3

Ended = Literal["exit", "wall", "cpu", "memory", "processes", "disk", "output", "lost"]
"""Why a command ended: by itself, at a limit, or because the room around it went away (`lost`)."""

ROOM_WIDE: tuple[Ended, ...] = ("cpu", "memory", "processes", "disk")
"""Limits at which everything in a room is ended, background processes included."""

How = Literal["bubblewrap", "rlimits"]
"""What confined it. `rlimits` keeps limits and blocks the network, but hides none of the host's files."""


HeldBy = Literal["cgroup v2", "cgroup v1", "watch"]
"""Who counts a room's memory and processes: the kernel, for the whole tree at every moment, or a watch that looks."""


@dataclass(frozen=True)
class RoomLimits:
    """What one command may use; all but `file_bytes` and `open_files` hold for its whole process tree.

    In a long-lived room the memory, process, disk and temporary-space limits hold for everything that lives in
    it, and `wall_s`, `cpu_s` and `output_bytes` for each command anew (`cpu_s` also for the time between two).
    `memory_bytes` is what processes hold; files in temporary space come on top, up to their own limit.
    """

    wall_s: float = 60
    cpu_s: float = 60
    memory_bytes: int = GIB
    processes: int = 128  # threads count: that is how the kernel counts
    file_bytes: int = 256 * MIB  # a single file
    output_bytes: int = 10 * MIB  # each of stdout and stderr
    work_bytes: int = GIB  # the whole work folder
    work_files: int = 20_000
    temp_bytes: int = 256 * MIB  # /tmp, and as much again for /dev/shm
    temp_files: int = 20_000  # in each of the two: an inode is kernel memory
    open_files: int = 1024  # a single process

    def but(self, **changes: Any) -> Self:
        """A copy with some limits changed."""
        return replace(self, **changes)


DEFAULT_LIMITS = RoomLimits()


@dataclass(frozen=True)
class Finished:
    """How a confined command ended, and what it used.

    `code` is the exit code, or 128 plus the signal as shells count. `ended` names the limit when one was hit.
    A command that could not be started has code 126 or 127, the reason in `stderr` and its errno in `refused`.
    `peak_bytes` is an upper estimate, seen in looks: pages shared between processes count once for each, but
    under a control group never more than the kernel counted. `limits_held_by` says who kept memory and processes
    within their limits: a watch may see a burst only when it is past.
    """

    code: int
    stdout: bytes
    stderr: bytes
    ended: Ended
    how: How
    limits_held_by: HeldBy
    wall_s: float
    cpu_s: float
    peak_bytes: int
    peak_processes: int
    omitted: int = 0  # bytes of output that were not kept
    refused: int | None = None

    @property
    def ok(self) -> bool:
        return self.ended == "exit" and self.code == 0
