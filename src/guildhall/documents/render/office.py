"""A pool of warm LibreOffice workers: one room and one private profile each, thrown away at the first oddity."""

from __future__ import annotations

import json
import queue
import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from guildhall.confine.limits import MIB, RoomLimits
from guildhall.confine.room import start
from guildhall.documents import asking
from guildhall.documents.confined import ON_THE_CLOCK, SYSTEM_PYTHON, interrupted, limit_in_words
from guildhall.documents.render import office_inside
from guildhall.errors import MissingTool, RoomClosed, UnreadableFile

FILES_PER_WORKER = 20
LIMITS = RoomLimits(
    wall_s=60, cpu_s=40, memory_bytes=768 * MIB, processes=128, file_bytes=256 * MIB, work_bytes=768 * MIB
)
"""What one conversion may cost; memory and disk hold for the worker's whole room."""

_HARMLESS = ("javaldx",)  # said at every start on a machine without Java
_LOG_BYTES = 4 * MIB


@dataclass(frozen=True)
class LoadAs:
    """How LibreOffice shall read a file: the extension it sees and, where that is not enough, a filter."""

    extension: str
    filter: tuple[str, str] | None = None


@dataclass(frozen=True)
class Wanted:
    """What LibreOffice shall make of a file: a PDF of so many pages, or a workbook, calculated anew where asked."""

    ending: str = "pdf"
    max_pages: int = 1
    calculate: bool = False


@dataclass(frozen=True)
class Converted:
    """A PDF (or workbook) made by LibreOffice, what it complained about, and what the pages do not show."""

    content: bytes
    warnings: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)


class WorkerFailed(Exception):
    """A worker ended or answered nonsense; whether the file is to blame is for the pool to find out."""


class AtLimit(WorkerFailed):
    """A worker reached the limit of a single file: that file is to blame."""


class OnTheClock(AtLimit):
    """A worker was stopped by the clock, or went away: nothing is known about the file."""


class NeverStarted(WorkerFailed):
    """LibreOffice did not come up: no file is to blame."""


class NotFresh(WorkerFailed):
    """Pages that colour authors came from a worker that had shown other files, and may have coloured for them."""


class OfficeWorker:
    """One LibreOffice in one room; not for two threads at once. After `WorkerFailed` it must be closed."""

    def __init__(self, limits: RoomLimits = LIMITS) -> None:
        self._limits = limits
        self._folder = tempfile.TemporaryDirectory(prefix="guildhall-office-", ignore_cleanup_errors=True)
        work = Path(self._folder.name)
        shutil.copyfile(office_inside.__file__, work / "inside.py")
        shutil.copyfile(asking.__file__, work / "asking.py")
        self._room = start(work=work, limits=limits)
        self._heard = 0
        self.files = 0
        self.odd = False
        try:
            self._start()
        except (OSError, RoomClosed, WorkerFailed) as error:
            self.close()
            raise NeverStarted(f"LibreOffice did not start ({error})") from error

    def _start(self) -> None:
        here = self._room.cwd
        serve = f'"{SYSTEM_PYTHON}" -I inside.py "{here}/profile" "{here}/socket" </dev/null >log 2>&1 &'
        self._room.run(["sh", "-c", serve])
        self._ask({})
        self._complaints()

    def convert(self, content: bytes, load_as: LoadAs, *, wanted: Wanted) -> Converted | str:
        """What is wanted, or why LibreOffice refuses this; `odd` then says whether it must serve no other file."""
        self.files += 1
        folder = f"job-{self.files}"
        source, target = f"{folder}/document.{load_as.extension}", f"{folder}/out/document.{wanted.ending}"
        job = {
            "file": f"{self._room.cwd}/{source}",
            "target": f"{self._room.cwd}/{target}",
            "filter": load_as.filter,
            "max_pages": wanted.max_pages,
            "workbook": wanted.ending == "xlsx",
            "calculate": wanted.calculate,
        }
        try:
            # All files pass through the room's own user: writing into its folder ourselves would follow its links.
            self._room.write_file(source, content)
            self._room.write_file(f"{folder}/out/.keep", b"")
            answer = self._ask(job)
            warnings = self._complaints()
            # A process gives each author of comments or changes the next colour: pages would tell what came before.
            colours = bool(answer.get("remarks_by_authors"))
            if colours and self.files > 1:
                raise NotFresh("an earlier file may have taken the first colours")
            self.odd = bool(warnings) or "error" in answer or colours
            if "error" in answer:
                return str(answer["error"])
            made = self._room.read_file(target, limit_bytes=self._limits.file_bytes)
            self._room.run(["rm", "-rf", folder])
        except (OSError, RoomClosed) as error:
            raise WorkerFailed(f"LibreOffice left no {wanted.ending} ({error})") from error
        return Converted(made, warnings, {name: count for name, count in answer.items() if isinstance(count, int)})

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        command = [SYSTEM_PYTHON, "-I", "-S", "asking.py", f"{self._room.cwd}/socket"]
        finished = self._room.run(command, stdin=json.dumps(job).encode())
        if finished.ended != "exit":
            end = OnTheClock if finished.ended in ON_THE_CLOCK else AtLimit
            raise end(f"stopped at its {limit_in_words(finished, self._limits)}")
        try:
            answer = json.loads(finished.stdout)
        except ValueError as error:
            raise WorkerFailed("LibreOffice crashed") from error
        if not isinstance(answer, dict):
            raise WorkerFailed("LibreOffice answered nonsense")
        return answer

    def _complaints(self) -> tuple[str, ...]:
        """What LibreOffice wrote to its error output since we last looked."""
        log = self._room.read_file("log", limit_bytes=_LOG_BYTES)
        new, self._heard = log[self._heard :], len(log)
        lines = new.decode("utf-8", "replace").splitlines()
        return tuple(line for line in lines if line.strip() and not any(word in line for word in _HARMLESS))

    def close(self) -> None:
        """End LibreOffice and remove its profile."""
        self._room.close()
        self._folder.cleanup()


class OfficePool:
    """Up to `workers` LibreOffices, started when needed and kept warm; safe to use from many threads."""

    def __init__(self, *, workers: int = 2, limits: RoomLimits = LIMITS) -> None:
        self._limits = limits
        self._idle: queue.LifoQueue[OfficeWorker] = queue.LifoQueue()
        self._places = threading.BoundedSemaphore(workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def convert(self, file: Path, content: bytes, load_as: LoadAs, *, max_pages: int) -> Converted:
        """Convert content to PDF; `UnreadableFile(file)` when LibreOffice refuses it, hangs or dies of it."""
        return self._made(file, content, load_as, Wanted(max_pages=max_pages))

    def workbook(self, file: Path, content: bytes, load_as: LoadAs, *, calculate: bool = False) -> bytes:
        """A spreadsheet as an xlsx package, with every formula computed anew where asked; refused as PDFs are."""
        return self._made(file, content, load_as, Wanted(ending="xlsx", calculate=calculate)).content

    def _made(self, file: Path, content: bytes, load_as: LoadAs, wanted: Wanted) -> Converted:
        """What is wanted of the file.

        After a crash it is tried once more in a fresh worker, so that no file is blamed for its predecessor; so is a
        file whose pages colour authors, so that its looks are its own.
        """
        require_office()
        with self._places:
            try:
                result = self._attempt(self._warm(), content, load_as, wanted)
            except OnTheClock as failure:
                raise interrupted(file, str(failure)) from failure
            except AtLimit as failure:
                raise UnreadableFile(file, str(failure)) from failure
            except WorkerFailed:
                result = self._in_fresh_worker(file, content, load_as, wanted)
        if isinstance(result, str):
            raise UnreadableFile(file, f"LibreOffice cannot convert it ({result})")
        return result

    def _in_fresh_worker(self, file: Path, content: bytes, load_as: LoadAs, wanted: Wanted) -> Converted | str:
        try:
            return self._attempt(OfficeWorker(self._limits), content, load_as, wanted)
        except (OnTheClock, NeverStarted) as failure:
            raise interrupted(file, str(failure)) from failure
        except WorkerFailed as failure:
            raise UnreadableFile(file, str(failure)) from failure

    def _attempt(self, worker: OfficeWorker, content: bytes, load_as: LoadAs, wanted: Wanted) -> Converted | str:
        """Convert, and keep the worker for others only when nothing odd happened."""
        try:
            result = worker.convert(content, load_as, wanted=wanted)
        except BaseException:
            worker.close()
            raise
        if worker.odd or worker.files >= FILES_PER_WORKER:
            worker.close()
        else:
            self._idle.put(worker)
        return result

    def _warm(self) -> OfficeWorker:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return OfficeWorker(self._limits)

    def close(self) -> None:
        """End every idle worker."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return


def require_office() -> None:
    """`MissingTool` where LibreOffice or its Python bridge is not installed."""
    if shutil.which("soffice") is None or not Path(SYSTEM_PYTHON).exists():
        raise MissingTool(
            "LibreOffice",
            needed_for="showing Office files",
            fix="install libreoffice-writer-nogui, -calc-nogui, -impress-nogui and python3-uno",
        )
