"""Processes of their own that need not import `guildhall` first: forked from one that has, as if started anew."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from guildhall.cli.main import main

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["tests.warm", "tests.engine.caller", "guildhall.engine.registry", "guildhall.web.serving", "guildhall.web.worker"]
)


class Forked:
    """A function at work, under the names of `subprocess.Popen`; what it says goes to `out`, and what it regrets too.

    It leads a session of its own, and Ctrl-C interrupts it whoever runs the tests in the background.
    """

    def __init__(
        self,
        function: Callable[..., None],
        *arguments: str,
        out: Path,
        errors: Path | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._out, self._errors = out, errors or out
        for file in (self._out, self._errors):
            file.write_bytes(b"")
        where = (str(self._out), str(self._errors), str(folder or Path.cwd()), {**os.environ, **(environment or {})})
        self._process = FORKS.Process(target=_run, args=(function, arguments, *where))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, within_s: float | None = None) -> int:
        self._process.join(within_s)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("a forked process", within_s or 0.0)
        return code

    def communicate(self) -> tuple[bytes, bytes]:
        self.wait()
        return self._out.read_bytes(), self._errors.read_bytes()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def guildhall(*words: str) -> None:
    """The command line, as `python -m guildhall` runs it."""
    sys.argv = ["guildhall", *words]
    main()


def _run(
    function: Callable[..., None],
    arguments: tuple[str, ...],
    out: str,
    errors: str,
    folder: str,
    environment: dict[str, str],
) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, file in ((1, out), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), stream)
    os.chdir(folder)
    sys.path.insert(0, folder)
    os.environ.clear()
    os.environ.update(environment)
    try:
        function(*arguments)
    finally:
        atexit._run_exitfuncs()
