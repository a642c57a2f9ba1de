"""Run a plain function on a hostile file, in a room of its own without network and within limits.

    extracted = confined(extract, path, out=folder, budget=20_000)

calls `extract(copy_of_path, private_folder, budget=20_000)` inside. The function lives at the top of a module of
this package, returns a `Value`, takes JSON-ready options and writes only into the folder it is given. What it
wrote is then moved to `out`, and paths in what it returned are made to point there.
"""

from __future__ import annotations

import json
import sys
import tempfile
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

import guildhall
from guildhall.confine.limits import MIB, Finished, Limits
from guildhall.confine.room import run
from guildhall.documents.handing import adopt, hand_in, read_regular
from guildhall.documents.worker import RESULT
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

V = TypeVar("V", bound=Value)

LIMITS = Limits(wall_s=60, cpu_s=45, memory_bytes=960 * MIB, processes=64, file_bytes=512 * MIB, work_bytes=1536 * MIB)
"""What one file may cost before its parser is stopped."""

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
NOTHING: Mapping[str, Path] = {}
_ANSWER_BYTES = 64 * MIB


def confined(
    function: Callable[..., V],
    file: Path,
    *,
    out: Path,
    limits: Limits = LIMITS,
    also: Mapping[str, Path] = NOTHING,
    **options: Any,
) -> V:
    """What `function(file, out, **options)` returns, or `UnreadableFile` saying why it did not.

    A limit reached, a crash, an exception of the parser and a result that is not of the promised shape all end in
    `UnreadableFile`. `also` are further files, handed to the function as `Path` arguments of those names. `out` is
    made when the function writes something; existing files in it are replaced only by files of the same name.
    """
    with tempfile.TemporaryDirectory(prefix="guildhall-document-") as folder:
        work = Path(folder)
        (work / "out").mkdir()
        job = {
            "function": f"{function.__module__}:{function.__qualname__}",
            "file": hand_in(file, work / "in"),
            "also": {name: hand_in(path, work / name) for name, path in also.items()},
            "options": options,
        }
        finished = run(
            [sys.executable, "-m", "guildhall.documents.worker"],
            work=work,
            limits=limits,
            read_only=_interpreter(),
            env=_ONE_THREAD,
            stdin=json.dumps(job).encode(),
        )
        answer = _answer(file, work / RESULT, finished, limits)
        try:
            value = typing.get_type_hints(function)["return"].model_validate(answer["value"])
        except ValidationError as error:
            raise UnreadableFile(file, "made its parser answer in a wrong shape") from error
        adopt(work / "out", out)
        return typing.cast("V", relocated(value, answer["out"], out))


def _interpreter() -> list[Path]:
    """What must be visible for this interpreter and this package to run inside; /usr is there already."""
    package = Path(guildhall.__file__).parents[1]
    wanted = {Path(sys.prefix), Path(sys.base_prefix), package}
    return sorted(path for path in wanted if path.exists() and not path.is_relative_to("/usr"))


def _answer(file: Path, path: Path, finished: Finished, limits: Limits) -> dict[str, Any]:
    """What the worker said; it may have been taken over, so its file is opened with care."""
    if finished.ended != "exit":
        raise UnreadableFile(file, f"stopped at its {limit_in_words(finished, limits)}")
    data = read_regular(path, limit=_ANSWER_BYTES)
    if data is None:
        raise UnreadableFile(file, f"crashed its parser (exit code {finished.code})")
    try:
        answer = json.loads(data)
        if "refused" in answer:
            raise UnreadableFile(file, str(answer["refused"]))
        return {"value": answer["value"], "out": str(answer["out"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableFile(file, "made its parser answer in a wrong shape") from error


def limit_in_words(finished: Finished, limits: Limits) -> str:
    """The limit at which a command was ended, for a person."""
    return {
        "wall": f"limit of {limits.wall_s:g} s",
        "cpu": f"limit of {limits.cpu_s:g} s of processor time",
        "memory": f"limit of {limits.memory_bytes // MIB} MiB of memory",
        "processes": f"limit of {limits.processes} processes",
        "disk": f"limit of {limits.work_bytes // MIB} MiB on disk",
        "output": f"limit of {limits.output_bytes // MIB} MiB of output",
        "lost": "room, which went away",
    }.get(finished.ended, finished.ended)


def relocated(value: V, inside: str, out: Path) -> V:
    """The value with every path that lay below `inside` now below `out`; a path elsewhere is refused."""

    def moved(item: Any) -> Any:
        if isinstance(item, Path):
            if ".." in item.parts or not item.is_relative_to(inside):
                raise UnreadableFile(item, "was named by a parser although it lies outside its folder")
            return out / item.relative_to(inside)
        if isinstance(item, dict):
            return {key: moved(part) for key, part in item.items()}
        if isinstance(item, list | tuple):
            return tuple(moved(part) for part in item)
        return item

    return type(value).model_validate(moved(value.model_dump()))
