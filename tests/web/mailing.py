"""A mail server on loopback: it speaks enough SMTP to take a letter, or refuses as it is told."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class MailServer:
    port: int = 0
    refuse: int | None = None
    """The code with which recipients are refused; None takes everybody."""
    letters: list[tuple[str, str]] = field(default_factory=list)
    """Recipient and text of each letter taken."""
    said: list[str] = field(default_factory=list)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    known = MailServer()

    class Talk(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 here")
            to = ""
            while line := self.rfile.readline().decode().rstrip("\r\n"):
                known.said.append(line)
                word = line.split(" ")[0].upper()
                if word == "RCPT":
                    to = line.partition("<")[2].partition(">")[0]
                    self._say(f"{known.refuse} not <{to}>" if known.refuse else "250 fine")
                elif word == "DATA":
                    self._say("354 go on")
                    known.letters.append((to, self._text()))
                    self._say("250 taken")
                elif word == "QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 fine")

        def _text(self) -> str:
            lines = []
            while (line := self.rfile.readline().decode()) != ".\r\n":
                lines.append(line)
            return "".join(lines).replace("\r\n", "\n")

        def _say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.daemon_threads = True
        known.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield known
        server.shutdown()
        thread.join()
