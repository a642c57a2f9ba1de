"""Bringing tasks in: look at what was handed over, check all of it, and only then add it, whole.

Every fault is told in one list and nothing is begun. Files are kept first, records after, in one transaction: an import
that is killed leaves all or nothing of a task, and running it again finishes the work.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from guildhall.documents.unpacking import UploadLimits, unpack
from guildhall.domain.tasks import FileRef, Provenance, Task
from guildhall.errors import FaultsFound, InputError, RefusedPackage, UnreadableFile, UnsafePath
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.taskbank.folder import FILE_FOLDERS, MAX_FILE_BYTES, read_folder, task_folders
from guildhall.taskbank.gdpval import Row, fetch, hub_name, read_rows, task_of

Progress = Callable[[str, int, int], None]
TABLES = "data/*.parquet"
_PART = re.compile(r"-\d+-of-(\d+)$")
_POINTER = b"version https://git-lfs"
_MOST_FILES, _MOST_TIMES, _ALWAYS_BYTES = 20_000, 20, 1 << 30
"""How many files a zip may hold, and how many times its own size it may unpack to; so many bytes are always taken."""


@dataclass
class Incoming:
    """Checked tasks and where the bytes of their files are; nothing is written yet."""

    tasks: list[Task]
    bytes_of: dict[tuple[str, str, str], Path] = field(default_factory=dict)
    """(task key, field, file name) -> the file on this machine."""
    versioned: bool = True
    """Whether the source numbers its versions itself (task folders do, the public tables do not)."""
    faults: list[str] = field(default_factory=list)
    """Files that are listed and not here, or not whole: without them tasks come in only if that is asked for."""
    unlisted: int = 0
    """Files that lie among the others and belong to no task."""


@dataclass(frozen=True)
class Imported:
    new: int
    known: int
    revised: int
    files: int
    files_absent: int
    files_unlisted: int = 0


@contextmanager
def opened_source(
    source: str, *, revision: str | None = None, licence: str | None = None, with_files: bool = True
) -> Iterator[Incoming]:
    """What a path or a hub's data set holds, its files at hand for as long as the block runs.

    `revision` and `licence` are recorded where the source itself says none.
    """
    path, named = Path(source), None
    if not path.exists() and (hub := hub_name(source)):
        snapshot = fetch(*hub, with_files=with_files)
        path, named, revision = snapshot.folder, snapshot.repository, snapshot.commit
    with unpacked(path) as folder:
        yield read_source(folder, source=named or path.resolve().name, revision=revision, licence=licence)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """What lies at a path; a zip is unpacked, within limits, for as long as the block runs."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="guildhall-zip-") as made:
        folder = Path(made)
        _unpack(path, folder)
        inside = [one for one in folder.iterdir() if one.name != "__MACOSX"]
        # Zips of a repository, and of a folder, hold one folder that holds everything.
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() and inside[0].name != "data" else folder


def _unpack(path: Path, folder: Path) -> None:
    most = min(max(_ALWAYS_BYTES, _MOST_TIMES * path.stat().st_size), shutil.disk_usage(folder).free // 2)
    try:
        with path.open("rb") as package:
            unpack(package, folder, UploadLimits(most_files=_MOST_FILES, most_bytes=most, in_folders=False))
    except RefusedPackage as error:
        raise UnreadableFile(path, error.why, fix="unpack it, and import the folder") from error


def read_source(
    path: Path, *, source: str | None = None, revision: str | None = None, licence: str | None = None
) -> Incoming:
    """Everything importable at a path: a table, a copy of the data set, one task folder or a bank of them."""
    if not path.exists():
        raise UnreadableFile(path, "does not exist", fix="check the path")
    if path.is_file():
        return _from_tables([path], Provenance(source=source or path.name, revision=revision, licence=licence))
    if parts := sorted(path.glob(TABLES)):
        for part in parts:
            if (whole := _PART.search(part.stem)) and int(whole[1]) != len(parts):
                fix = "download the rest, or import one of them by its own path"
                raise UnreadableFile(path, f"holds {len(parts)} of {int(whole[1])} parts of its table", fix=fix)
        return _from_tables(parts, Provenance(source=source or path.resolve().name, revision=revision, licence=licence))
    folders = task_folders(path)
    if not folders:
        raise UnreadableFile(
            path, "holds neither task folders nor the public data set", fix="`guildhall tasks new` starts a task folder"
        )
    return _from_folders(folders)


def _from_tables(paths: list[Path], about: Provenance) -> Incoming:
    """The files lie beside the table, or beside its folder, as the hub lays them out."""
    roots = (paths[0].parent, paths[0].absolute().parent.parent)
    card = licence_of(roots[1] if paths[0].absolute().parent.name == "data" else roots[0])
    about = about.but(licence=card or about.licence)
    incoming = Incoming(_tasks_of((row for path in paths for row in read_rows(path)), about), versioned=False)
    if not incoming.tasks:
        raise UnreadableFile(paths[0], "holds no rows")
    _refuse_duplicates(paths[0], incoming.tasks)
    found: set[Path] = set()
    for task in incoming.tasks:
        for kind in FILE_FOLDERS.values():
            for file in getattr(task, kind):
                root = next((root for root in roots if (root / file.source).is_file()), None)
                place = None if root is None else root / file.source
                if root is not None and place is not None:
                    _refuse_outside(place, root.resolve())
                    found.add(place.absolute())
                if (fault := _file_fault(place, file)) is not None:
                    incoming.faults.append(f"task {task.id}: {file.source} {fault}")
                elif place is not None:
                    incoming.bytes_of[task.key, kind, file.name] = place
    incoming.unlisted = _unlisted(roots, found)
    return incoming


def _tasks_of(rows: Iterable[Row], about: Provenance) -> list[Task]:
    tasks, faults = [], []
    for row in rows:
        try:
            tasks.append(task_of(row, about))
        except InputError as error:
            faults.append(str(error))
    if len(faults) == 1:
        raise InputError(faults[0])
    if faults:
        raise FaultsFound(f"{len(faults)} rows cannot be read", faults, fix="correct them and import again")
    return tasks


def _file_fault(place: Path | None, file: FileRef) -> str | None:
    """Why a listed file is not the one that is meant; None where it is."""
    if place is None:
        return "is not here"
    size = place.stat().st_size
    if file.size is not None and size != file.size:
        return f"has {size:,} bytes, and the table says {file.size:,}"
    if size > MAX_FILE_BYTES:
        return "is larger than 2 GiB"
    with place.open("rb") as stream:
        if stream.read(len(_POINTER)) == _POINTER:
            return "is a pointer of Git LFS and not the file; `git lfs pull` fetches it"
    return None


def _unlisted(roots: Iterable[Path], found: set[Path]) -> int:
    folders = {(root / name).absolute() for root in roots for name in ("reference_files", "deliverable_files")}
    return sum(path.is_file() and path not in found for folder in folders for path in folder.rglob("*"))


_CARD = re.compile(r"\A\ufeff?---\s*\n(.*?)\n---\s*$", re.DOTALL | re.MULTILINE)
_LICENCE = re.compile(r"^license:\s*['\"]?([\w.+-]+)['\"]?\s*$", re.MULTILINE)


def licence_of(folder: Path) -> str | None:
    """The licence a data set's card states at its head; None where there is no card or it does not say."""
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    head = _CARD.search(card)
    stated = _LICENCE.search(head[1]) if head else None
    return stated[1] if stated else None


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


def import_tasks(
    workspace: Workspace, incoming: Incoming, *, without_files: bool = False, progress: Progress | None = None
) -> Imported:
    """Keep the files, then the tasks: all of them in one transaction.

    Without `without_files` a task of which a file is missing is refused, and all the missing are named.
    """
    if incoming.faults and not without_files:
        count = sum(len(getattr(task, kind)) for task in incoming.tasks for kind in FILE_FOLDERS.values())
        raise FaultsFound(
            f"{len(incoming.faults)} of {count} listed files cannot be kept",
            incoming.faults,
            fix="bring them (the hub fetches them: `guildhall tasks import openai/gdpval`), or pass --without-files to "
            "keep names alone; nothing was imported",
        )
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
    return Imported(new, len(complete) - new, revised, kept, files - kept, files_unlisted=incoming.unlisted)


def _next_version(store: Store, task: Task) -> Task:
    """A later release of the public data may change a task: that is a new version beside the old one.

    The same task from another copy is the same task, unless that copy is the first to say its licence.
    """
    versions = store.find(Task, id=task.id)
    stated = task.provenance.licence if task.provenance else None
    for known in versions:
        before = known.provenance.licence if known.provenance else None
        if known.but(version=1, provenance=task.provenance) == task and stated in {None, before}:
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
