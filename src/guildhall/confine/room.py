"""Rooms: confined places in which commands run.

`run` opens a room for one command; `start` opens one that stays until it is closed. A thread of each room hears
what its first process reports and looks at what the tree uses; at a limit it ends every process in the room.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from guildhall.confine.bubblewrap import Mount
from guildhall.confine.command import Command, Ending
from guildhall.confine.launch import Launched, launch, why_no_bubblewrap
from guildhall.confine.limits import DEFAULT_LIMITS, Ended, Finished, HeldBy, How, RoomLimits
from guildhall.confine.watch import Watch
from guildhall.errors import RoomClosed

_BUSY_LOOK_S, _IDLE_LOOK_S = 0.02, 0.1
_CLOSING_TAKES_AT_MOST_S = 5.0
_ENDED_BY_SIGNAL: dict[int, Ended] = {128 + signal.SIGXFSZ: "disk"}
_LOST = Ending(status=9)
_EVERYTHING = 0
"""Not a command's number: what the first process answers when it has ended all of them."""


def run(
    command: Sequence[str],
    *,
    work: Path,
    limits: RoomLimits = DEFAULT_LIMITS,
    read_only: Sequence[Path] = (),
    env: Mapping[str, str] = {},
    stdin: bytes | None = None,
    how: How | None = None,
    kernel_limits: bool = True,
) -> Finished:
    """Run one command in a room of its own and take everything down after it.

    The command starts in `work` (`/job` inside), the only place where what it writes is kept; `read_only` paths
    are seen where they are outside. Without `how`, bubblewrap is used where it works and limits alone where it
    does not: `Finished.how` says which. Memory and processes of the tree are held by the kernel where a control group
    can be made, and by a watch where none can or `kernel_limits` is false: `Finished.limits_held_by` says which.
    """
    with start(work=work, limits=limits, read_only=read_only, env=env, how=how, kernel_limits=kernel_limits) as room:
        return room.run(command, stdin=stdin)


def start(
    *,
    work: Path,
    limits: RoomLimits = DEFAULT_LIMITS,
    read_only: Sequence[Path] = (),
    mounts: Sequence[Mount] = (),
    env: Mapping[str, str] = {},
    how: How | None = None,
    kernel_limits: bool = True,
) -> Room:
    """Open a room in which `/tmp` and background processes persist from one command to the next."""
    chosen: How = how or ("rlimits" if why_no_bubblewrap() else "bubblewrap")
    launched = launch(
        work=work,
        limits=limits,
        read_only=read_only,
        mounts=mounts,
        env=env,
        how=chosen,
        kernel_limits=kernel_limits,
    )
    return Room(launched, work, limits)


class Room:
    """A confined place; commands may run in it one after another or at once, from any thread."""

    def __init__(self, launched: Launched, work: Path, limits: RoomLimits) -> None:
        self.how, self.work, self.limits = launched.how, work, limits
        self.limits_held_by: HeldBy = launched.group.held_by if launched.group else "watch"
        self.cwd = launched.cwd
        self._launched = launched
        self._lock = threading.Lock()
        self._commands: dict[int, Command] = {}
        self._next = 0
        self._left_open: list[int] = []
        self._calm = threading.Event()  # not set while everything is being ended
        self._calm.set()
        self._closed = False
        # Below bubblewrap's own process comes the room's first one; without bubblewrap that is the root itself.
        ours = 1 if launched.how == "bubblewrap" else 0
        self._watch = Watch(launched.process.pid, ours=ours, work=work, limits=limits, group=launched.group)
        self._thread = threading.Thread(target=self._attend, name="guildhall-room", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return not self._closed and self._launched.process.poll() is None

    @property
    def kernel_peak_bytes(self) -> int | None:
        """The most the kernel ever charged to this room, files in memory included; None where a watch holds it."""
        return self._launched.group.peak_bytes() if self._launched.group else None

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] = {},
        cwd: str | None = None,
        wall_s: float | None = None,
        output_bytes: int | None = None,
    ) -> Finished:
        """Run a command to its end or to its limit; relative `cwd` is below the work folder."""
        return self.wait(self.begin(command, stdin=stdin, env=env, cwd=cwd, output_bytes=output_bytes), wall_s=wall_s)

    def begin(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] = {},
        cwd: str | None = None,
        output_bytes: int | None = None,
    ) -> Command:
        """Start a command without waiting for it; `wait` must follow."""
        body = {"command": list(command), "env": {**self._launched.env, **env}, "cwd": self._inside(cwd or "")}
        return self._begin("exec", body, stdin=stdin, output_bytes=output_bytes)

    def wait(self, current: Command, *, wall_s: float | None = None) -> Finished:
        """Move a command's input and output until it has ended, by itself or at a limit."""
        try:
            current.conduct(
                wall_s=self.limits.wall_s if wall_s is None else wall_s,
                end=lambda: self.end(current),
                give_up=self._destroy,
            )
            return self._finished(current)
        finally:
            with self._lock:
                self._commands.pop(current.number, None)
                self._left_open += current.close()

    def end(self, current: Command) -> None:
        """End a command and its descendants; whoever waits for it is told."""
        self._tell({"op": "end", "id": current.number})

    def read_file(self, path: str, *, limit_bytes: int, wall_s: float | None = None) -> bytes:
        """A file's content as the room sees it; an OSError as the room met it, EFBIG past `limit_bytes`."""
        body = {"path": self._inside(path), "cwd": self.cwd, "limit": limit_bytes}
        finished = self.wait(self._begin("read", body, output_bytes=limit_bytes), wall_s=wall_s)
        _raise_for(finished, path)
        return finished.stdout

    def write_file(self, path: str, content: bytes, *, wall_s: float | None = None) -> None:
        """Write a file as the room's user, making missing folders; an OSError as the room met it."""
        body = {"path": self._inside(path), "cwd": self.cwd}
        _raise_for(self.wait(self._begin("write", body, stdin=content), wall_s=wall_s), path)

    def close(self) -> None:
        """End everything in the room; safe to call twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(OSError):  # the other side may have gone first
            self._launched.channel.shutdown(socket.SHUT_RDWR)
        try:
            self._launched.process.wait(_CLOSING_TAKES_AT_MOST_S)
        except subprocess.TimeoutExpired:
            self._destroy()
            self._launched.process.wait()
        self._thread.join()
        self._launched.channel.close()
        self._launched.clear()

    def _inside(self, path: str) -> str:
        return os.path.join(self.cwd, path)  # noqa: PTH118 - a path of the room, not of this machine

    def _begin(
        self, op: str, body: dict[str, Any], *, stdin: bytes | None = None, output_bytes: int | None = None
    ) -> Command:
        limit = self.limits.output_bytes if output_bytes is None else output_bytes
        self._calm.wait(_CLOSING_TAKES_AT_MOST_S)
        with self._lock:
            if self._closed:
                raise RoomClosed(str(self.work))
            self._next += 1
            current = Command(self._next, stdin=stdin, output_bytes=limit)
            self._commands[current.number] = current
        current.cpu_at_start = self._watch.cpu_s
        self._send(op, current, body)
        return current

    def _send(self, op: str, current: Command, body: dict[str, Any]) -> None:
        with tempfile.TemporaryFile() as letter:
            letter.write(json.dumps(body).encode())
            letter.flush()
            request = json.dumps({"op": op, "id": current.number}).encode()
            try:
                socket.send_fds(self._launched.channel, [request], [letter.fileno(), *current.theirs])
            except OSError:
                current.ended(_LOST)
                current.cut_off = "lost"
        current.sent()

    def _destroy(self) -> None:
        """End the room from outside: what was asked to end did not."""
        self._watch.kill_tree()
        self._launched.process.kill()

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # a room that is gone is reported by the attending thread
            self._launched.channel.send(json.dumps(message).encode())

    def _finished(self, current: Command) -> Finished:
        ending = current.ending or _LOST
        stderr = bytes(current.stderr.kept)
        return Finished(
            code=ending.code,
            stdout=bytes(current.stdout.kept),
            stderr=stderr if ending.refused is None else ending.refused.encode(),
            ended=current.cut_off or _ENDED_BY_SIGNAL.get(ending.code, "exit"),
            how=self.how,
            limits_held_by=self.limits_held_by,
            wall_s=time.monotonic() - current.began,
            cpu_s=max(ending.cpu_s, current.cpu_s),
            peak_bytes=current.peak_bytes,
            peak_processes=current.peak_tasks,
            omitted=current.stdout.omitted + current.stderr.omitted,
            refused=ending.errno,
        )

    def _attend(self) -> None:
        """The room's own thread: hear about ends, look at use, end everything at a limit."""
        channel = self._launched.channel
        incoming = select.poll()
        incoming.register(channel, select.POLLIN)
        while True:
            wait_s = _BUSY_LOOK_S if self._commands else _IDLE_LOOK_S
            if incoming.poll(wait_s * 1000) and not self._hear(channel):
                break
            try:
                self._look()
            except OSError:  # somebody took our control group away: what cannot be counted does not go on
                break
        why: Ended = "memory" if self._watch.kernel_ended_some() else "lost"
        self._watch.kill_tree()
        self._calm.set()
        with self._lock:
            for command in self._commands.values():
                if command.ending is None:
                    command.cut_off = command.cut_off or why
                    command.ended(_LOST)
            for fd in self._left_open:
                os.close(fd)
            self._left_open = []

    def _hear(self, channel: socket.socket) -> bool:
        """Take one report; False when the room is gone, or no longer makes sense."""
        try:
            said = json.loads(channel.recv(65536))
            number = said.pop("id")
            ending = Ending(**said)
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if number == _EVERYTHING:
            self._watch.kernel_ended_some()  # whoever was ended until now belongs to the breach that was reported
            self._calm.set()
            return True
        if self._calm.is_set() and self._watch.kernel_ended_some():  # before its command is told that it has ended
            self._end_everything(self._running(), "memory")
        with self._lock:
            command = self._commands.get(number)
            if command is not None and command.ending is None:
                command.ended(ending)
        return True

    def _look(self) -> None:
        commands = self._running()
        with self._lock:
            self._drain()
        breach = self._watch.look(commands)
        if breach is not None and self._calm.is_set():
            self._end_everything(commands, breach)

    def _running(self) -> list[Command]:
        with self._lock:
            return [command for command in self._commands.values() if command.ending is None]

    def _end_everything(self, commands: Sequence[Command], breach: Ended) -> None:
        self._calm.clear()
        for command in commands:
            command.cut_off = command.cut_off or breach
        self._tell({"op": "end_all"})

    def _drain(self) -> None:
        """Keep the pipes of background processes flowing, so that they neither stall nor die of a closed one."""
        for fd in list(self._left_open):
            try:
                if os.read(fd, 1 << 20):
                    continue
            except BlockingIOError:
                continue
            self._left_open.remove(fd)
            os.close(fd)


def _raise_for(finished: Finished, path: str) -> None:
    if finished.ok:
        return
    if finished.ended == "wall":
        raise TimeoutError(f"{path}: took longer than allowed")
    number = int(finished.stderr) if finished.stderr.isdigit() else 5
    raise OSError(number, os.strerror(number), path)
