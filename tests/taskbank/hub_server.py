"""A loopback server that imitates the parts of the hub a download needs, and can break off half-way."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "c0ffee" + "0" * 34


@dataclass
class Hub:
    url: str
    files: dict[str, bytes]
    fails: dict[str, int] = field(default_factory=dict)
    """Path -> how many more times it answers 503."""
    served: list[str] = field(default_factory=list)


@contextmanager
def loopback_hub(files: dict[str, bytes], repository: str = "owner/bank") -> Iterator[Hub]:  # noqa: C901 - a server in one piece
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = unquote(self.path.split("?")[0])
            if path.startswith(f"/api/datasets/{repository}"):
                told = _listing(files) if "/tree/" in path else _facts(repository, files)
                self.reply(json.dumps(told).encode(), {"Content-Type": "application/json"}, body)
            else:
                self.send_file(path.partition(f"/resolve/{COMMIT}/")[2], body)

        def send_file(self, name: str, body: bool) -> None:
            if hub.fails.get(name, 0) > 0 and body:
                hub.fails[name] -= 1
                self.reply(b"", {}, body, status=503)
            elif name not in files:
                self.reply(b"", {"X-Error-Code": "EntryNotFound"}, body, status=404)
            else:
                if body:
                    hub.served.append(name)
                etag = hashlib.sha256(files[name]).hexdigest()
                self.reply(files[name], {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, body)

        def reply(self, data: bytes, headers: dict[str, str], body: bool, status: int = 200) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub = Hub(f"http://127.0.0.1:{server.server_port}", files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listing(files: dict[str, bytes]) -> list[dict[str, object]]:
    return [
        {"rfilename": name, "path": name, "type": "file", "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        for name, data in files.items()
    ]


def _facts(repository: str, files: dict[str, bytes]) -> dict[str, object]:
    flags = {"private": False, "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0}
    return {"id": repository, "sha": COMMIT, "siblings": _listing(files), **flags}
