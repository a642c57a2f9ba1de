"""Runs inside a sandbox: carries bytes between its loopback port and the proxy's Unix socket.

Programs speak to proxies over TCP, and the sandbox's own loopback is all the TCP it has. Run by the system's
Python (`python3 -I -S bridge.py PORT SOCKET`), so nothing of ours is imported.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading


def main() -> None:
    port, target = int(sys.argv[1]), sys.argv[2]
    with socket.create_server(("127.0.0.1", port), backlog=64) as listening:
        if os.fork():
            os._exit(0)  # whoever started us may go on: the port is open, and the child serves it
        while True:
            near, _ = listening.accept()
            far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                far.connect(target)
            except OSError:
                near.close()
                far.close()
                continue
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=carry, args=(source, sink), daemon=True).start()


def carry(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main()
