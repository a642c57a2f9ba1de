"""Two independent model servers on loopback for proofs: llama.cpp by xllamacpp, and the npm package aimock."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proofs import ROOT, NotRun
from proofs._llama_server import make_gguf

AIMOCK = ROOT / ".prove" / "aimock"
PACKAGE = "@copilotkit/aimock@1.43.0"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def llama_server(folder: Path) -> Iterator[str]:
    """llama.cpp's server over a model of random weights; yields host:port."""
    model, port = folder / "tiny.gguf", free_port()
    make_gguf(model)
    command = [sys.executable, "-m", "proofs._llama_server", str(model), str(port)]
    with running(command, f"http://127.0.0.1:{port}/health", cwd=ROOT):
        yield f"127.0.0.1:{port}"


@contextmanager
def aimock_server(fixtures: list[dict[str, object]], folder: Path) -> Iterator[str]:
    """aimock over the given fixtures; installed below .prove/ on first use. Yields host:port."""
    port = free_port()
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}))
    program = AIMOCK / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    if not program.exists():
        _install()
    command = ["node", str(program), "-p", str(port), "-f", str(file), "--log-level", "silent", "--journal-max", "0"]
    with running(command, f"http://127.0.0.1:{port}/__aimock/journal"):
        yield f"127.0.0.1:{port}"


def journal(address: str) -> list[dict[str, object]]:
    """Every request aimock recorded."""
    with urllib.request.urlopen(f"http://{address}/__aimock/journal", timeout=30) as answer:
        found: list[dict[str, object]] = json.load(answer)
    return found


def _install() -> None:
    if shutil.which("npm") is None:
        raise NotRun("needs npm to install the aimock server")
    AIMOCK.mkdir(parents=True, exist_ok=True)
    (AIMOCK / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "--no-audit", "--no-fund", PACKAGE]
    done = subprocess.run(command, cwd=AIMOCK, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise NotRun(f"aimock could not be installed: {done.stderr[-300:]}")


@contextmanager
def running(command: list[str], address: str, *, cwd: Path | None = None) -> Iterator[None]:
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(address, process)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(address: str, process: subprocess.Popen[bytes], *, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"{address} did not answer within {seconds:.0f} s")
