"""The servers as an administrator runs them: real processes, on free loopback ports, told to stop by signals."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import warm
from tests.waiting import answers, until
from tests.warm import Forked
from tests.web.live import free_port


@dataclass
class Process:
    """A command at work; what it says is kept in a file, so that a full pipe never stops it."""

    child: Forked
    said: Path
    port: int = 0
    files_port: int = 0

    def stop(self, number: int = signal.SIGTERM, *, within_s: float | None = None) -> int:
        """Send a signal; the exit code."""
        self.child.send_signal(number)
        return self.child.wait(within_s)

    def words(self) -> str:
        return self.said.read_text()


@contextmanager
def guildhall(*words: str, folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Process]:
    said = folder / f"{words[0]}-{free_port()}.said"
    child = Forked(warm.guildhall, *words, out=said, environment=environment)
    try:
        yield Process(child, said)
    finally:
        child.kill()
        child.wait()


@contextmanager
def serving(
    workspace: Path, *options: str, worker: bool = False, environment: Mapping[str, str] | None = None
) -> Iterator[Process]:
    """`guildhall serve`, once it answers."""
    port, files_port = free_port(), free_port()
    words = ["serve", "--workspace", str(workspace), "--port", str(port), "--files-port", str(files_port)]
    running = guildhall(
        *words, *options, *([] if worker else ["--no-worker"]), folder=workspace.parent, environment=environment
    )
    with running as process:
        process.port, process.files_port = port, files_port
        wait_until_ready(process)
        yield process


def wait_until(seen: Callable[[], object], process: Process) -> None:
    """Wait until `seen()` is true; a process that ended meanwhile says why."""
    until(seen, over=lambda: None if process.child.poll() is None else process.words())


def wait_until_ready(process: Process) -> None:
    wait_until(lambda: answers(f"http://127.0.0.1:{process.port}/readyz"), process)
