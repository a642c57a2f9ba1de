"""A proxy before a model server: it delays, injects 429 and 500 answers, and notes the usage of every true answer."""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TASK = re.compile(r"TASK-\d+")
_USAGE = re.compile(rb'"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})')


class FaultProxy:
    """Serves on loopback until closed.

    `answers` holds, for each task named in a request, the tokens read and written by the server's own count; `asked`
    counts the requests that named it, and `refused` those of them that were refused.
    """

    def __init__(
        self, upstream: str, *, seed: int, faults: float = 0.2, delay_s: tuple[float, float] = (0.1, 0.4)
    ) -> None:
        self.answers: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.asked: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.injected: dict[int, int] = defaultdict(int)
        self.streamed = 0
        self._upstream, self._faults, self._delay_s = upstream, faults, delay_s
        self._random, self._lock = random.Random(seed), threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                proxy.handle(self)

            def log_message(self, *_arguments: Any) -> None:
                """Nothing on the terminal."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["Content-Length"])
        if len(body := request.rfile.read(length)) < length:  # its sender was killed half-way
            request.close_connection = True
            return
        task = _TASK.findall(body.decode())[0]
        with self._lock:
            self.asked[task] += 1
            delay, fault = self._random.uniform(*self._delay_s), self._random.random()
        time.sleep(delay)
        if fault < self._faults:
            status = 429 if fault < self._faults / 2 else 500
            with self._lock:
                self.injected[status] += 1
                self.refused[task] += 1
            self._send(request, status, b'{"error": {"message": "injected"}}', "application/json")
            return
        connection = http.client.HTTPConnection(self._upstream, timeout=120)
        connection.request("POST", request.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status == 200:
            self._note(task, content)
        self._send(request, answer.status, content, answer.headers.get("Content-Type", "application/json"))

    def _note(self, task: str, content: bytes) -> None:
        usage = json.loads(_USAGE.findall(content)[-1])
        with self._lock:
            self.streamed += b"data:" in content[:20]
            self.answers[task].append((int(usage["prompt_tokens"]), int(usage["completion_tokens"])))

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, content: bytes, kind: str) -> None:
        try:
            request.send_response(status)
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)
        except OSError:
            request.close_connection = True

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
