"""The inside of a room: plain functions run on hostile files, each in a process of its own.

`python -m guildhall.documents.worker SOCKET` loads what most functions need, then waits. A job is one JSON document
(`function`, `file`, `also`, `options`, and `folder`, in which it is done); it runs in a fork, so it finds everything
loaded and leaves nothing behind. The answer is JSON: `value`, and the `files` that were written, or `refused`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from guildhall.documents.asking import received
from guildhall.errors import GuildhallError, UnreadableFile

ONLY_FROM = "guildhall.documents."
OUT = "out"
_LOADED_BEFORE = ("pypdfium2", "PIL.Image", "PIL.PngImagePlugin", "guildhall.documents.values")


def main() -> None:
    for name in _LOADED_BEFORE:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(sys.argv[1])
        server.listen(1)
        while True:
            connection, _ = server.accept()
            with connection:
                _in_a_fork(connection)


def _in_a_fork(connection: socket.socket) -> None:
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            job = json.loads(received(connection))
            connection.sendall(json.dumps(answer(job) if job else {}).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # whatever it started and left running


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Do one job in its folder and say what came of it."""
    os.chdir(job["folder"])
    module_name, _, name = job["function"].partition(":")
    if not module_name.startswith(ONLY_FROM):
        return {"refused": f"{module_name} is not a module of the documents package"}
    out = Path(OUT).absolute()
    out.mkdir()
    also = {name: Path(path).absolute() for name, path in job["also"].items()}
    function = getattr(importlib.import_module(module_name), name)
    try:
        value = function(Path(job["file"]).absolute(), out, **also, **job["options"])
    except UnreadableFile as refusal:
        return {"refused": refusal.why}
    except GuildhallError as refusal:
        return {"refused": str(refusal)}
    except MemoryError:
        return {"refused": "needs more memory than its limit"}
    except RecursionError:
        return {"refused": "is nested too deeply"}
    except Exception as fault:  # noqa: BLE001 - a parser may fail in any way on a hostile file; all are told by name
        return {"refused": f"cannot be parsed ({type(fault).__name__}: {fault})"[:500]}
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    return {"value": value.model_dump(mode="json"), "out": str(out), "files": files}


if __name__ == "__main__":
    main()
