"""A provider on loopback and a wire that can be cut: small processes of their own, told what to do line by line.

`python -m tests.torture.wire echo` answers every line with itself; `... proxy PORT` passes bytes on to a port and
understands `cut` and `mend`. Each says the port it listens on.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class Wire:
    """The near end of a running proxy."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.port = int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        self._line()

    def cut(self) -> None:
        """Break every connection now, and refuse new ones."""
        self._tell("cut")

    def mend(self) -> None:
        self._tell("mend")


@contextmanager
def running(*words: str) -> Iterator[Wire]:
    command = [sys.executable, "-m", "tests.torture.wire", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


def echo() -> None:
    """Answer line for line until killed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        _say(str(server.getsockname()[1]))
        while True:
            peer, _ = server.accept()
            threading.Thread(target=_echo_to, args=(peer,), daemon=True).start()


def _echo_to(peer: socket.socket) -> None:
    with peer, peer.makefile("rwb") as lines, contextlib.suppress(OSError):
        for line in lines:
            lines.write(line)
            lines.flush()


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


class Proxy:
    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock, self._broken = threading.Lock(), False

    def serve(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            _say(str(server.getsockname()[1]))
            threading.Thread(target=self._obey, daemon=True).start()
            while True:
                near, _ = server.accept()
                if self._broken:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except ConnectionRefusedError:  # a server that is being restarted; the wire itself is sound
                    near.close()
                    continue
                with self._lock:
                    self._open |= {near, far}
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _obey(self) -> None:
        for line in sys.stdin:
            self._broken = line.strip() == "cut"
            if self._broken:
                with self._lock:
                    broken, self._open = self._open, set()
                for end in broken:
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
            _say("done")


if __name__ == "__main__":
    echo() if sys.argv[1] == "echo" else Proxy(int(sys.argv[2])).serve()
