"""Run a plain function on a hostile file, without network and within limits.

    with Rooms() as rooms:
        extracted = rooms.call(extract, path, out=folder, budget=20_000)

calls `extract(copy_of_path, private_folder, budget=20_000)` inside a room. The function lives at the top of a module
of this package, returns a `Value`, takes JSON-ready options and writes only into the folder it is given. What it
wrote is then copied to `out`, and paths in what it returned are made to point there.
"""

from __future__ import annotations

import json
import queue
import sys
import tempfile
import threading
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import ValidationError

import guildhall
from guildhall.confine.limits import MIB, Finished, RoomLimits
from guildhall.confine.room import start
from guildhall.documents import asking
from guildhall.documents.handing import hand_in, take_out
from guildhall.documents.worker import OUT
from guildhall.domain.values import Value
from guildhall.errors import LookInterrupted, LookNotFinished, RoomClosed, UnreadableFile

V = TypeVar("V", bound=Value)

LIMITS = RoomLimits(
    wall_s=60, cpu_s=45, memory_bytes=768 * MIB, processes=64, file_bytes=512 * MIB, work_bytes=1536 * MIB
)
"""What one file may cost before its parser is stopped; memory and disk hold for a whole room."""
FILES_PER_ROOM = 20
SYSTEM_PYTHON = "/usr/bin/python3"

_START_WITHIN_S = 60.0
_PACKAGE = Path(guildhall.__file__).parents[1]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
_NOTHING: Mapping[str, Path] = {}


ON_THE_CLOCK = frozenset({"wall", "lost"})
"""Ends that a machine which was busy, asleep or stopped brings about as well as a file."""
_INSISTING: ContextVar[bool] = ContextVar("guildhall_insisting", default=False)


@contextmanager
def insisting() -> Iterator[None]:
    """Within this block a look that the clock ended raises `LookNotFinished`, which nothing takes for the file's own.

    For whoever keeps what was seen: elsewhere such a look is an omission with its reason, for this once.
    """
    token = _INSISTING.set(True)
    try:
        yield
    finally:
        _INSISTING.reset(token)


def interrupted(file: Path, why: str) -> LookInterrupted | LookNotFinished:
    """The error for a look that says nothing about the file."""
    return LookNotFinished(file.name, why) if _INSISTING.get() else LookInterrupted(file, why)


class WarmRoom:
    """A room with a worker in it that has everything loaded; not for two threads at once."""

    def __init__(self, limits: RoomLimits) -> None:
        self.limits = limits
        self.files = 0
        self._folder = tempfile.TemporaryDirectory(prefix="guildhall-room-", ignore_cleanup_errors=True)
        work = Path(self._folder.name)
        (work / "asking.py").write_bytes(Path(asking.__file__).read_bytes())
        env = {**_ONE_THREAD, "PYTHONPATH": str(_PACKAGE)}  # the package that asks, whichever one is installed
        self.room = start(work=work, limits=limits, read_only=_interpreter(), env=env)
        serve = f'"{sys.executable}" -m guildhall.documents.worker "{self.room.cwd}/socket" </dev/null >log 2>&1 &'
        self.room.run(["sh", "-c", serve], wall_s=_START_WITHIN_S)

    def ask(self, job: dict[str, Any]) -> Finished:
        command = [SYSTEM_PYTHON, "-I", "-S", "asking.py", f"{self.room.cwd}/socket"]
        return self.room.run(command, stdin=json.dumps(job).encode(), output_bytes=64 * MIB)

    def close(self) -> None:
        self.room.close()
        self._folder.cleanup()


class Rooms:
    """Up to `places` warm rooms, opened when needed; safe to use from many threads.

    A room serves at most twenty files, and none after a file that was refused, crashed or reached a limit.
    """

    def __init__(self, *, places: int = 2, limits: RoomLimits = LIMITS) -> None:
        self._limits = limits
        self._idle: queue.LifoQueue[WarmRoom] = queue.LifoQueue()
        self._places = threading.BoundedSemaphore(places)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(
        self, function: Callable[..., V], file: Path, *, out: Path, also: Mapping[str, Path] = _NOTHING, **options: Any
    ) -> V:
        """What `function(file, out, **also, **options)` returns, or `UnreadableFile` saying why it did not.

        A limit reached, a crash, an exception of the parser and a result that is not of the promised shape all end
        in `UnreadableFile`. `also` are further files, handed to the function as `Path` arguments of those names.
        `out` is made when the function writes something.
        """
        with self._places:
            warm = self._room()
            try:
                value = _called(warm, function, file, out, also, options)
            except BaseException:
                warm.close()
                raise
            if warm.files < FILES_PER_ROOM:
                self._idle.put(warm)
            else:
                warm.close()
            return value

    def close(self) -> None:
        """Close every idle room."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    def _room(self) -> WarmRoom:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return WarmRoom(self._limits)


def confined(
    function: Callable[..., V],
    file: Path,
    *,
    out: Path,
    limits: RoomLimits = LIMITS,
    also: Mapping[str, Path] = _NOTHING,
    **options: Any,
) -> V:
    """One call in a room of its own; see `Rooms.call`."""
    with Rooms(places=1, limits=limits) as rooms:
        return rooms.call(function, file, out=out, also=also, **options)


def _called(
    warm: WarmRoom, function: Callable[..., V], file: Path, out: Path, also: Mapping[str, Path], options: dict[str, Any]
) -> V:
    warm.files += 1
    folder = f"job-{warm.files}"
    try:
        job = {
            "function": f"{function.__module__}:{function.__qualname__}",
            "folder": f"{warm.room.cwd}/{folder}",
            "file": f"in/{hand_in(warm.room, file, f'{folder}/in')}",
            "also": {name: f"{name}/{hand_in(warm.room, path, f'{folder}/{name}')}" for name, path in also.items()},
            "options": options,
        }
        answer = _answer(file, warm.ask(job), warm.limits)
        value = typing.get_type_hints(function)["return"].model_validate(answer["value"])
        take_out(warm.room, f"{folder}/{OUT}", answer["files"], out, limit_bytes=warm.limits.file_bytes)
        warm.room.run(["rm", "-rf", folder])
    except ValidationError as error:
        raise UnreadableFile(file, "made its parser answer in a wrong shape") from error
    except (OSError, RoomClosed) as error:
        raise interrupted(file, f"lost the room it was looked at in ({error})") from error
    return typing.cast("V", relocated(value, answer["out"], out))


def _interpreter() -> list[Path]:
    """What must be visible for this interpreter and this package to run inside; /usr is there already."""
    wanted = {Path(sys.prefix), Path(sys.base_prefix), _PACKAGE}
    return sorted(path for path in wanted if path.exists() and not path.is_relative_to("/usr"))


def _answer(file: Path, finished: Finished, limits: RoomLimits) -> dict[str, Any]:
    """What the worker said; it may have been taken over, so only the promised shape is accepted."""
    if finished.ended in ON_THE_CLOCK:
        raise interrupted(file, f"stopped at its {limit_in_words(finished, limits)}")
    if finished.ended != "exit":
        raise UnreadableFile(file, f"stopped at its {limit_in_words(finished, limits)}")
    if not finished.stdout:
        raise UnreadableFile(file, "crashed its parser")
    try:
        answer = json.loads(finished.stdout)
        if "refused" in answer:
            raise UnreadableFile(file, str(answer["refused"]))
        files = [str(name) for name in answer["files"]]
        return {"value": answer["value"], "out": str(answer["out"]), "files": files}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableFile(file, "made its parser answer in a wrong shape") from error


def limit_in_words(finished: Finished, limits: RoomLimits) -> str:
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
