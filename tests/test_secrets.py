"""Keys stay where they belong: none is in any log, record, report, bundle, output or process list, at any depth."""

from __future__ import annotations

import http.server
import io
import json
import os
import tarfile
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401 - Inspect packs its logs with it

from tests import warm
from tests.warm import Forked

PLANTED = {
    "LOOP_API_KEY": "canary-provider-key-6f1e2d3c4b5a",
    "OPENAI_API_KEY": "sk-canary-openai-0a1b2c3d4e5f",
    "GUILDHALL_SMTP_PASSWORD": "canary-mail-password-99aa88bb",
    "AWS_SECRET_ACCESS_KEY": "canary-bucket-secret-77cc66dd",
}
STUDY = """
[study]
id = "leaky"
title = "A provider that quotes keys"

[tasks]
ids = ["sample-grant-desk-review"]

[[authors]]
name = "loop"
model = "openai-api/loop/any"
samples = 1

[sampling]
at_once = 1

[sampling.limits]
item_turns = 3
item_seconds = 60.0
"""


class Quoting(http.server.BaseHTTPRequestHandler):
    """A provider that refuses every call and quotes the caller's key in its answer, as real ones do."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = f"Incorrect API key provided: {self.headers['Authorization']}. Find yours in the settings."
        body = json.dumps({"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}})
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_words: object) -> None:
        """Quiet: the test's own output is no place to look for keys."""


@pytest.fixture
def provider() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quoting)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def guildhall(*words: str, folder: Path, environment: dict[str, str]) -> tuple[int, bytes, set[str]]:
    """Run a command; its exit code, all it wrote, and every command line seen among its processes meanwhile."""
    process = Forked(warm.guildhall, *words, out=folder / "said", folder=folder, environment=environment)
    seen: set[str] = set()
    while process.poll() is None:
        seen |= command_lines(process.pid)
        time.sleep(0.02)
    return process.wait(), process.communicate()[0], seen


def command_lines(session: int) -> set[str]:
    """What `ps` would show of a session's processes."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(place.name)) == session:
                found.add((place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def layers(data: bytes) -> Iterator[bytes]:
    """The bytes themselves and, where they are packed, what is inside."""
    yield data
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from layers(archive.read(name))
    elif data.startswith(b"\x1f\x8b"):
        yield from layers(zlib.decompress(data, wbits=31))
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if (body := archive.extractfile(member)) is not None:
                    yield from layers(body.read())


def test_no_planted_key_is_found_in_anything_that_is_written_or_shown(provider: str, tmp_path: Path) -> None:
    environment = {**PLANTED, "LOOP_BASE_URL": provider, "INSPECT_TRACE_FILE": str(tmp_path / "trace.log")}
    (tmp_path / "study.toml").write_text(STUDY)
    shown: dict[str, bytes] = {}
    processes: set[str] = set()
    for words in (
        ["init", "w"],
        ["tasks", "import", str(files("guildhall.taskbank") / "sample"), "--workspace", "w"],
        ["study", "run", "study.toml", "--workspace", "w"],
        ["study", "status", "study.toml", "--workspace", "w", "--json"],
        ["bundle", "export", "w.bundle", "--workspace", "w"],
        ["doctor", "--json"],
    ):
        code, written, seen = guildhall(*words, folder=tmp_path, environment=environment)
        shown[f"{' '.join(words)} ({code})"] = written
        processes |= seen
    told = b"".join(shown.values())
    assert b"Incorrect API key provided: Bearer [hidden]" in told, "the provider's refusal was never told"
    keys = [key.encode() for key in PLANTED.values()]
    for where, written in shown.items():
        assert not [key for key in keys if key in written], where
    for line in processes:
        assert not [key for key in PLANTED.values() if key in line], line
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file():
            for layer in layers(path.read_bytes()):
                assert not [key for key in keys if key in layer], path.relative_to(tmp_path)


def test_the_search_looks_into_packed_files() -> None:
    """The search itself: it would be easy to find nothing by looking nowhere."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.txt", b"canary " * 50)
    assert b"canary" not in packed.getvalue()
    assert any(b"canary canary" in layer for layer in layers(packed.getvalue()))
