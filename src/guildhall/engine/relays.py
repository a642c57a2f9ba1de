"""The relays of this process: each is started by the first call that needs it, and ends by itself, after us."""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import subprocess
import sys
import threading
from uuid import uuid4

from guildhall.store.work import this_worker, worker_at

logger = logging.getLogger(__name__)


class _Detached(subprocess.Popen[bytes]):
    """A child that outlives us by design, which is no leak to be warned of."""

    def __del__(self) -> None:
        """Nobody waits for it."""


class RunningRelay:
    """A relay in a session of its own, so that what ends this process, or its whole group, does not end it.

    The socket listens before the process runs: nobody waits for its start. The pipe that gives it its orders is open
    for as long as this process lives, so that its closing cannot fail to tell the relay of our end.
    """

    def __init__(self, http: str) -> None:
        self.token, self.ended = secrets.token_hex(16), False
        read_end, self._lifeline = os.pipe()
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening, os.fdopen(read_end, "rb") as orders:
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            self._process = _Detached(
                [sys.executable, "-P", "-m", "guildhall.engine.relay", str(listening.fileno())],
                stdin=orders,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
                start_new_session=True,
            )
        head = {"caller": this_worker(), "relay": worker_at(self._process.pid)}
        told = {"name": uuid4().hex, "token": self.token, "head": head, "http": http}
        os.write(self._lifeline, json.dumps(told).encode() + b"\n")

    def give_up(self, why: str) -> None:
        """It does not answer: the rest of this process's calls go without it."""
        if not self.ended:
            _go_without(why)
        self.ended = True


_relays: dict[tuple[int, str], RunningRelay | None] = {}
_remarks: dict[int, str] = {}
_starting = threading.Lock()


def relay_for(http: str) -> RunningRelay | None:
    """The relay for clients built on the named library; None where it could not be started or has ended."""
    mine = os.getpid(), http  # a forked child has no part in its parent's
    with _starting:
        if mine not in _relays:
            try:
                _relays[mine] = RunningRelay(http)
            except OSError as error:
                _go_without(str(error))
                _relays[mine] = None
    relay = _relays[mine]
    return None if relay is None or relay.ended else relay


def remark() -> str | None:
    """Why this process goes without a relay, for those who watch it; None while it has what it needs."""
    return _remarks.get(os.getpid())


def _go_without(why: str) -> None:
    _remarks[os.getpid()] = (
        f"there is no relay ({why}): models were asked directly, and if the run is killed, what answers cost that were "
        "still on their way stays unknown"
    )
    logger.warning(_remarks[os.getpid()])
