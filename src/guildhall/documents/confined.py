"""Run a plain function on a hostile file, in a process of its own without network and within limits.

    extracted = confined(extract, path, out=folder, budget=20_000)

calls `extract(path, folder, budget=20_000)` inside the box. The function lives at the top of a module of this
package, returns a `Value`, takes JSON-ready options, and writes only into the folder. The paths are the same
inside and outside.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from guildhall.documents.worker import RESULT
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

V = TypeVar("V", bound=Value)
MIB = 1 << 20


class Limits(Value):
    """What one file may cost before its parser is stopped."""

    wall_s: float = 60
    cpu_s: int = 40
    memory_bytes: int = 1024 * MIB
    file_bytes: int = 256 * MIB
    processes: int = 64


LIMITS = Limits()


def confined(function: Callable[..., V], file: Path, *, out: Path, limits: Limits = LIMITS, **options: Any) -> V:
    """What `function(file, out, **options)` returns, or `UnreadableFile` saying why it did not.

    A limit reached, a crash, an exception of the parser and a result that is not of the promised shape
    all end in `UnreadableFile`; nothing is half done silently.
    """
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    job = {
        "function": f"{function.__module__}:{function.__qualname__}",
        "file": str(file.resolve()),
        "out": str(out),
        "options": options,
    }
    why = _launch(job, limits)
    answer = _answer(out / RESULT, limits)
    if answer is None:
        raise UnreadableFile(file, why or "stopped its parser without an answer")
    if "value" not in answer:
        raise UnreadableFile(file, str(answer.get("refused", "left no answer")))
    try:
        return typing.cast("V", typing.get_type_hints(function)["return"].model_validate(answer["value"]))
    except ValidationError as error:
        raise UnreadableFile(file, "made its parser answer in a wrong shape") from error


def _launch(job: dict[str, Any], limits: Limits) -> str | None:
    """Run the worker; why it ended early, or None."""
    command = [
        "prlimit",
        f"--cpu={limits.cpu_s}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        "--core=0",
        sys.executable,
        "-m",
        "guildhall.documents.worker",
    ]
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}  # noqa: S108
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        process.communicate(json.dumps(job).encode(), timeout=limits.wall_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return f"ran past its limit of {limits.wall_s:g} s"
    return None if process.returncode == 0 else f"crashed its parser (exit code {process.returncode})"


def _answer(path: Path, limits: Limits) -> dict[str, Any] | None:
    """The worker's answer; the worker may have been taken over, so its file is opened with care."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limits.file_bytes:
            return None
        data = stream.read()
    path.unlink()
    try:
        answer = json.loads(data)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
