"""One command in a room, seen from outside: its pipes, its clock, and how it ended."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from guildhall.confine.limits import Ended

_CHUNK = 1 << 16
_ENDING_TAKES_AT_MOST_S = 10.0


@dataclass
class Ending:
    """What the room's first process said about a command's end."""

    status: int
    cpu_s: float = 0.0
    refused: str | None = None
    errno: int | None = None

    @property
    def code(self) -> int:
        signal = self.status & 0x7F
        return 128 + signal if signal else self.status >> 8


@dataclass
class Stream:
    """One output of a command: kept up to a limit, counted beyond it."""

    fd: int
    limit: int
    kept: bytearray = field(default_factory=bytearray)
    omitted: int = 0
    at_end: bool = False

    def take(self) -> bool:
        """Take what is there now; False when there is nothing (more)."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.at_end = True
            return False
        room = self.limit - len(self.kept)
        self.kept += data[:room]
        self.omitted += max(0, len(data) - room)
        return True


class Command:
    """A command on its way; `conduct` moves its input and output until it has ended."""

    def __init__(self, number: int, *, stdin: bytes | None, output_bytes: int) -> None:
        self.number = number
        self.ending: Ending | None = None
        self.cut_off: Ended | None = None
        self.peak_bytes = 0
        self.peak_tasks = 0
        self.began = time.monotonic()
        self.cpu_at_start = 0.0
        self.cpu_s = 0.0
        self._input = memoryview(stdin or b"")
        child_stdin, self._stdin = os.pipe()
        out, child_stdout = os.pipe()
        err, child_stderr = os.pipe()
        self.theirs = (child_stdin, child_stdout, child_stderr)
        self.stdout, self.stderr = Stream(out, output_bytes), Stream(err, output_bytes)
        self._wake_read, self._wake_write = os.pipe()
        for fd in (self._stdin, out, err, self._wake_read):
            os.set_blocking(fd, False)

    def sent(self) -> None:
        """Our copies of the command's ends are no longer needed; without this no end of file would ever come."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = (-1, -1, -1)

    def ended(self, ending: Ending) -> None:
        """Called from the room's thread, once."""
        self.ending = ending
        os.write(self._wake_write, b".")

    def conduct(self, *, wall_s: float, end: Callable[[], None], give_up: Callable[[], None]) -> None:
        """Move bytes until the command has ended.

        `end` is called once if it outlives its time or floods its output, `give_up` if that did not end it.
        """
        deadline = time.monotonic() + wall_s
        told = False
        with selectors.DefaultSelector() as watched:
            for stream in (self.stdout, self.stderr):
                watched.register(stream.fd, selectors.EVENT_READ, stream)
            watched.register(self._wake_read, selectors.EVENT_READ)
            if self._input:
                watched.register(self._stdin, selectors.EVENT_WRITE)
            else:
                self._close_stdin()
            while self.ending is None:
                for key, _ in watched.select(max(0.0, deadline - time.monotonic())):
                    self._move(key, watched)
                late = time.monotonic() >= deadline
                flooded = bool(self.stdout.omitted or self.stderr.omitted)
                if late and told:
                    give_up()
                    return
                if late or (flooded and not told):
                    self.cut_off = self.cut_off or ("wall" if late else "output")
                    told, deadline = True, time.monotonic() + _ENDING_TAKES_AT_MOST_S
                    end()
        # What it wrote before it ended is in the pipe now; a background process may hold the pipe open for ever.
        for stream in (self.stdout, self.stderr):
            while stream.take():
                pass

    def _move(self, key: selectors.SelectorKey, watched: selectors.BaseSelector) -> None:
        if isinstance(key.data, Stream):
            key.data.take()
            if key.data.at_end:
                watched.unregister(key.fileobj)
        elif key.fd == self._stdin:
            try:
                self._input = self._input[os.write(self._stdin, self._input[:_CHUNK]) :]
            except BrokenPipeError:
                self._input = memoryview(b"")
            if not self._input:
                watched.unregister(self._stdin)
                self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def close(self) -> list[int]:
        """Release the descriptors; returns outputs that somebody in the background still writes to."""
        self._close_stdin()
        for fd in (*self.theirs, self._wake_read, self._wake_write):
            if fd >= 0:
                os.close(fd)
        open_still = [stream.fd for stream in (self.stdout, self.stderr) if not stream.at_end]
        for stream in (self.stdout, self.stderr):
            if stream.at_end:
                os.close(stream.fd)
        return open_still
