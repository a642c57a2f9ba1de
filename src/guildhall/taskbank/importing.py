"""Bringing tasks in: look at what was handed over, check all of it, and only then add it, whole.

Files are kept first, records after, in one transaction: an import that is killed leaves all or nothing of a task,
and running it again finishes the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from guildhall.domain.tasks import FileRef, Task
from guildhall.errors import InputError, UnreadableFile, UnsafePath
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.taskbank.folder import FILE_FOLDERS, read_folder, task_folders
from guildhall.taskbank.gdpval import read_rows, task_of

Progress = Callable[[str, int, int], None]
PARQUET_PLACE = Path("data") / "train-00000-of-00001.parquet"


@dataclass
class Incoming:
    """Checked tasks and where the bytes of their files are; nothing is written yet."""

    tasks: list[Task]
    bytes_of: dict[tuple[str, str, str], Path] = field(default_factory=dict)
    """(task key, field, file name) -> the file on this machine."""
    versioned: bool = True
    """Whether the source numbers its versions itself (task folders do, the public tables do not)."""


@dataclass(frozen=True)
class Imported:
    new: int
    known: int
    revised: int
    files: int
    files_absent: int


def read_source(path: Path, *, source: str | None = None, revision: str | None = None) -> Incoming:
    """Everything importable at a path: a table, a copy of the data set, one task folder or a bank of them."""
    if not path.exists():
        raise UnreadableFile(path, "does not exist", fix="check the path")
    if path.is_file():
        return _from_table(path, source=source or path.name, revision=revision)
    if (path / PARQUET_PLACE).exists():
        return _from_table(path / PARQUET_PLACE, source=source or path.name, revision=revision)
    folders = task_folders(path)
    if not folders:
        raise UnreadableFile(
            path, "holds neither task folders nor the public data set", fix="`guildhall tasks new` starts a task folder"
        )
    return _from_folders(folders)


def _from_table(path: Path, *, source: str, revision: str | None) -> Incoming:
    """The files lie beside the table, or beside its folder, as the hub lays them out."""
    tasks = [task_of(row, source=source, revision=revision) for row in read_rows(path)]
    incoming = Incoming(tasks, versioned=False)
    if not incoming.tasks:
        raise UnreadableFile(path, "holds no rows")
    _refuse_duplicates(path, incoming.tasks)
    for task in incoming.tasks:
        for kind in FILE_FOLDERS.values():
            for file in getattr(task, kind):
                for folder in (path.parent, path.absolute().parent.parent):
                    if (place := folder / file.source).is_file():
                        _refuse_outside(place, folder.resolve())
                        incoming.bytes_of[task.key, kind, file.name] = place
                        break
    return incoming


def _refuse_outside(place: Path, root: Path) -> None:
    """Links are how hub caches store files, so a link is fine; one that leaves the data set and its cache is not."""
    real = place.resolve()
    if real.is_relative_to(root) or (place.is_symlink() and real.parent.name == "blobs"):
        return
    raise UnsafePath(place, "is a link that leaves the folder", fix="put the file itself there")


def _from_folders(folders: Iterable[Path]) -> Incoming:
    incoming = Incoming([])
    for folder in folders:
        found = read_folder(folder)
        if found.task is None:  # read_folder refuses a folder with faults
            raise InputError(f"{folder}: no task could be read")
        incoming.tasks.append(found.task)
        for name, path in found.files.items():
            kind, _, relative = name.partition("/")
            incoming.bytes_of[found.task.key, FILE_FOLDERS[kind], relative] = path
    _refuse_duplicates(folder.parent, incoming.tasks)
    return incoming


def _refuse_duplicates(path: Path, tasks: list[Task]) -> None:
    twice = [key for key, times in Counter(task.key for task in tasks).items() if times > 1]
    if twice:
        raise InputError(
            f"{path}: task id {twice[0].rsplit('@', 1)[0]!r} occurs more than once; give each task its own id"
        )


def import_tasks(workspace: Workspace, incoming: Incoming, *, progress: Progress | None = None) -> Imported:
    """Keep the files, then the tasks: all of them in one transaction."""
    files = sum(len(getattr(task, kind)) for task in incoming.tasks for kind in FILE_FOLDERS.values())
    kept = 0

    def advance(name: str) -> None:
        nonlocal kept
        kept += 1
        if progress:
            progress(name, kept, len(incoming.bytes_of))

    complete = [with_digests(task, incoming, workspace.blobs, advance) for task in incoming.tasks]
    with workspace.store.transaction():
        if not incoming.versioned:
            complete = [_next_version(workspace.store, task) for task in complete]
        new = workspace.store.add_all(complete)
    revised = sum(task.version > 1 for task in complete) if not incoming.versioned else 0
    return Imported(new=new, known=len(complete) - new, revised=revised, files=kept, files_absent=files - kept)


def _next_version(store: Store, task: Task) -> Task:
    """A later release of the public data may change a task: that is a new version beside the old one."""
    versions = store.find(Task, id=task.id)
    for known in versions:
        if known.but(version=1) == task:
            return known
    return task.but(version=1 + max((known.version for known in versions), default=0))


def with_digests(task: Task, incoming: Incoming, blobs: Blobs, advance: Callable[[str], None]) -> Task:
    """A task whose files are kept and named by digest; those that are not at hand stay known by name."""

    def kept(kind: str, file: FileRef) -> FileRef:
        path = incoming.bytes_of.get((task.key, kind, file.name))
        if path is None:
            return file
        digest = blobs.put(path)
        advance(file.name)
        return file.but(digest=digest, size=path.stat().st_size)

    return task.but(**{kind: tuple(kept(kind, file) for file in getattr(task, kind)) for kind in FILE_FOLDERS.values()})
