"""Ask a server inside a room: run there by the system's Python as `asking.py SOCKET`, so standard library only.

The question comes on standard input, the answer goes to standard output. Nothing printed means nobody answered.
"""

from __future__ import annotations

import socket
import sys
import time

START_WITHIN_S = 60


def main() -> None:
    with socket.socket(socket.AF_UNIX) as client:
        _connect(client, sys.argv[1])
        client.sendall(sys.stdin.buffer.read())
        client.shutdown(socket.SHUT_WR)
        sys.stdout.buffer.write(received(client))


def _connect(client: socket.socket, address: str) -> None:
    """Connect as soon as the server listens, which its start may delay."""
    ends = time.monotonic() + START_WITHIN_S
    while True:
        try:
            return client.connect(address)
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.02)


def received(connection: socket.socket) -> bytes:
    """Everything the other side says until it is done."""
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


if __name__ == "__main__":
    main()
