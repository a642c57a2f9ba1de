"""`guildhall` in processes of its own that need not import it: forked from one that has, as if started anew."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from guildhall.cli.main import main

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm", "guildhall.cli.serve", "guildhall.web.serving", "guildhall.web.worker"])


class Forked:
    """A command at work, under the names of `subprocess.Popen`; all it says goes to `out`."""

    def __init__(self, *words: str, out: Path, environment: Mapping[str, str]) -> None:
        self._process = _FORKS.Process(target=_run, args=(words, str(out), dict(environment)))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, within_s: float | None = None) -> int:
        self._process.join(within_s)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("guildhall", within_s or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(words: tuple[str, ...], out: str, environment: dict[str, str]) -> None:
    said = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["guildhall", *words]
    try:
        main()
    finally:
        atexit._run_exitfuncs()
