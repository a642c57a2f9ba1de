"""Submissions made elsewhere: a folder for each task, logs of the public eval, or the public submission table.

Everything that comes in is checked by the rules of collection: links are left out, any name is kept in a plain form,
an input handed back unchanged is not work, and whatever was not as it should be is recorded with the submission.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import Problem, StopReason, Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.logs import LoggedSample, log_files, read_samples
from guildhall.errors import InputError, UnreadableFile
from guildhall.sampling.collection import MOST_BYTES, Collection, Entry, told_apart, unfit
from guildhall.sampling.elicitation import read_confidence
from guildhall.store.rows import read_rows
from guildhall.store.workspace import Workspace

MESSAGES = ("final_message.md", "final_message.txt", "deliverable_text.txt", "deliverable_text.md")
"""A file of one of these names in a task's folder is the author's final message, not a deliverable."""


@dataclass(frozen=True)
class Brought:
    """What an import came to. `unknown` are names that are no task of this workspace."""

    submissions: tuple[Submission, ...]
    new: int
    unknown: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    """Tasks that stand more than once for one try of one author."""


@dataclass
class _Importer:
    """Turns what lies in folders into submissions of one author."""

    workspace: Workspace
    tasks: Mapping[str, Task]
    origin: str
    made: list[Submission] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def add(
        self, task_id: str, author: ModelRun, folder: Path | None, *, text: str = "", log: LoggedSample | None = None
    ) -> None:
        task = self.tasks.get(task_id)
        if task is None:
            self.unknown.append(task_id)
            return
        found, collection = self.collect(folder, {file.digest for file in task.reference_files if file.digest})
        text = text or found
        stated = read_confidence(text)
        if stated.fault is not None:
            collection.problem("unreadable confidence", stated.fault)
        if log is not None and log.error is not None:
            collection.problems.append(Problem(rule=log.stop.value, words=log.error))
        nothing = not collection.files and not stated.text.strip()
        fields: dict[str, Any] = {"stop": StopReason.NOTHING_DELIVERED} if nothing else {}
        self.made.append(
            Submission(
                task=task.id,
                task_version=task.version,
                author=author,
                text=stated.text,
                files=tuple(collection.files),
                confidence=stated.confidence,
                problems=tuple(collection.problems),
                origin=self.origin,
                **(fields if log is None else _from_log(log)),
            )
        )

    def collect(self, folder: Path | None, inputs: set[str], *, without: Path | None = None) -> tuple[str, Collection]:
        """The final message and the files below a folder, or one file; `without` one that is neither."""
        collection, text = Collection(), ""
        for path, entry in _entries(folder):
            if path == without:
                continue
            if entry.path in MESSAGES and entry.kind == "file" and entry.size <= MOST_BYTES:
                text = text or path.read_text(encoding="utf-8", errors="replace")
            else:
                self._take(path, entry, inputs, collection)
        return text, collection

    def _take(self, path: Path, entry: Entry, inputs: set[str], collection: Collection) -> None:
        if entry.is_cache:
            return
        taken = sum(file.size or 0 for file in collection.files)
        if (why := unfit(entry, count=len(collection.files), total=taken)) is not None:
            collection.problem(why[0], why[1], entry.path)
            return
        try:
            stream = path.open("rb")
        except OSError as error:
            collection.problem("unreadable", f"could not be opened: {error.strerror}", entry.path)
            return
        with stream:
            digest = self.workspace.blobs.put(stream)
        if digest in inputs:
            collection.problem("echoed input", "is an input file, unchanged, and does not count as work", entry.path)
            return
        if entry.raw is not None:
            collection.problem("name written anew", f"was called {entry.raw!r}", entry.path)
        collection.files.append(FileRef(name=entry.path, digest=digest, size=entry.size))

    def finish(self) -> Brought:
        times = Counter((one.task, one.author.key) for one in self.made)
        self._refuse_replays()
        new = self.workspace.store.add_all(self.made)
        twice = sorted({task for (task, _), n in times.items() if n > 1})
        return Brought(tuple(self.made), new=new, unknown=tuple(self.unknown), twice=tuple(twice))

    def _refuse_replays(self) -> None:
        """The same work as two tries, or as two authors', would count as two opinions of one model's skill."""
        made = [one for one in self.made if not one.leaves_nothing]
        kept = [
            one
            for task in sorted({one.task for one in made})
            for one in self.workspace.store.find(Submission, task=task)
        ]
        again = {one.key for one in made}
        known: dict[tuple[str, str], Submission] = {}
        for one in kept:
            if one.key not in again and isinstance(one.author, ModelRun):
                known.setdefault((one.task, _content(one)), one)
        alike: Counter[str] = Counter()
        for one in made:
            place = (one.task, _content(one))
            if (other := known.setdefault(place, one)) is not one and other.key != one.key:
                assert isinstance(other.author, ModelRun)  # noqa: S101 - only those are known
                alike[f"{other.author.name}, try {other.author.sample}"] += 1
        for who, n in alike.most_common(1):
            if n >= FEWEST_ALIKE and n > len(made) / 2:
                raise InputError(
                    f"{n} of these {len(made)} replies are, to the byte, those of {who}: the same run twice; "
                    "nothing was brought in"
                )


FEWEST_ALIKE = 3
"""Short answers may be alike by chance; so many, and more than half of all, are a run played again."""


def _content(one: Submission) -> str:
    """What was handed in, whoever made it and whenever."""
    return sha256(canonical_json([one.text.strip(), sorted(str(file.digest) for file in one.files)]))


def import_folder(
    path: Path, tasks: Sequence[Task], *, author: ModelRun, workspace: Workspace, origin: str | None = None
) -> Brought:
    """A folder with one folder for each task, named by its id; what lies in it is the deliverable."""
    folders = sorted(inner for inner in path.iterdir() if inner.is_dir()) if path.is_dir() else []
    if not folders:
        raise UnreadableFile(path, "holds no folder", fix="give a folder with one folder for each task id")
    importer = _importer(workspace, tasks, origin or f"folder {path.name}")
    for folder in folders:
        importer.add(folder.name, author, folder)
    return importer.finish()


def import_logs(
    path: Path, tasks: Sequence[Task], *, name: str | None, files: Path | None, workspace: Workspace
) -> Brought:
    """Inspect logs whose samples are named by task id. The files lie beside, in `<files>/<task id>/`: logs of the
    public eval hold the messages only.
    """
    importer = _importer(workspace, tasks, f"inspect logs {path.name}")
    for log in log_files(path):
        for sample in read_samples(log):
            task_id = str(sample.metadata.get("task_id") or sample.metadata.get("task") or sample.id)
            author = ModelRun(
                name=name or sample.model.replace("/", "-"),
                model=sample.model,
                condition="outside",
                sample=sample.epoch,
            )
            importer.add(task_id, author, _folder_of(files, task_id), text=sample.text, log=sample)
    return importer.finish()


def import_table(path: Path, tasks: Sequence[Task], *, author: ModelRun, workspace: Workspace) -> Brought:
    """The public submission table (`task_id, deliverable_text, deliverable_files`), its files beside it."""
    root = path.parent.parent if path.parent.name == "data" else path.parent
    importer = _importer(workspace, tasks, f"table {path.name}")
    for row in read_rows(path, required=("task_id", "deliverable_text", "deliverable_files")):
        task_id = str(row["task_id"])
        listed = [str(name) for name in row["deliverable_files"] or []]
        importer.add(task_id, author, _listed_folder(root, task_id, listed), text=str(row["deliverable_text"] or ""))
    return importer.finish()


def _listed_folder(root: Path, task_id: str, listed: Iterable[str]) -> Path | None:
    """The folder a task's listed files lie in; a path that leaves the table's folder is refused."""
    for name in listed:
        parts = PurePosixPath(name).parts
        if PurePosixPath(name).is_absolute() or ".." in parts or not (root / name).exists():
            raise UnreadableFile(root / name, f"is listed for task {task_id} and is not there")
    folder = root / "deliverable_files" / task_id
    return folder if folder.is_dir() else None


def import_single(path: Path, task: Task, *, author: ModelRun, workspace: Workspace) -> Submission:
    """One author's work on one task: a file, or a folder of what belongs to it."""
    _require_there(path)
    importer = _importer(workspace, [task], f"files {path.name}")
    importer.add(task.id, author, path)
    importer.finish()
    return importer.made[0]


def import_references(folder: Path, workspace: Workspace, *, without: Path) -> Collection:
    """Every file below a folder but one, kept under its own name, and what could not be kept."""
    _, collection = _importer(workspace, (), "references").collect(folder, set(), without=without)
    return collection


def _require_there(path: Path) -> None:
    if not path.exists():
        raise UnreadableFile(path, "is not there")


def _importer(workspace: Workspace, tasks: Sequence[Task], origin: str) -> _Importer:
    return _Importer(workspace, {task.id: task for task in tasks}, origin)


def _folder_of(files: Path | None, task_id: str) -> Path | None:
    for candidate in (files / task_id, files / "deliverable_files" / task_id) if files else ():
        if candidate.is_dir():
            return candidate
    return None


def _entries(folder: Path | None) -> Iterator[tuple[Path, Entry]]:
    """Everything below a folder that is not a folder, or one file; links are named and never followed."""
    if folder is None:
        return
    below = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
    paths = [path for path in below if path.is_symlink() or not path.is_dir()]
    root = folder if folder.is_dir() else folder.parent
    entries = told_apart(_entry(path, os.fsencode(path.relative_to(root))) for path in paths)
    yield from zip(paths, entries, strict=True)


def _entry(path: Path, name: bytes) -> Entry:
    seen = path.lstat()
    if stat.S_ISLNK(seen.st_mode):
        return Entry.of(name, "link", seen.st_size, os.fsencode(path.readlink()))
    return Entry.of(name, "file" if stat.S_ISREG(seen.st_mode) else "special", seen.st_size)


def _from_log(log: LoggedSample) -> dict[str, Any]:
    return {"stop": log.stop, "usage": log.usage, "seconds": log.seconds, "log": log.log, "made_at": log.made_at}


_TABLES = {".parquet", ".csv", ".jsonl", ".ndjson"}


def bring(
    source: Path,
    tasks: Sequence[Task],
    *,
    author: str | None,
    model: str,
    files: Path | None,
    workspace: Workspace,
) -> Brought:
    """Import what lies at a path as work on these wordings: logs by their ending, tables by theirs, else folders."""
    _require_there(source)
    if source.suffix == ".eval" or (source.is_dir() and any(source.glob("*.eval"))):
        return import_logs(source, tasks, name=author, files=files, workspace=workspace)
    if author is None:
        raise InputError("say who made these with --author NAME")
    maker = ModelRun(name=author, model=model, condition="outside")
    if source.suffix in _TABLES:
        return import_table(source, tasks, author=maker, workspace=workspace)
    packed = sorted(source.glob("data/*.parquet")) if source.is_dir() else []
    if packed:
        return import_table(packed[0], tasks, author=maker, workspace=workspace)
    return import_folder(source, tasks, author=maker, workspace=workspace)
