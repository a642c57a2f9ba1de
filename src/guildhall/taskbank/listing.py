"""Finding tasks: the newest version of each, narrowed by sector, occupation, file type and length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Self

from pydantic import ValidationError
from sqlalchemy import select

from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id, Value
from guildhall.errors import InputError, UnknownName, UnreadableFile
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.taskbank.gdpval import read_rows


class TaskFilter(Value):
    """What a listing is narrowed to; an empty filter lets everything through."""

    sector: str | None = None
    occupation: str | None = None
    file_type: str | None = None
    min_hours: float | None = None
    max_hours: float | None = None
    ids: tuple[str, ...] = ()

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Conditions such as `occupation=Editors`; `ids=FILE` stands for the task ids in a file or a release."""
        fields: dict[str, Any] = {}
        for one in words:
            name, equals, value = one.partition("=")
            if not equals or name not in cls.model_fields:
                raise UnknownName("condition", one, known=[f"{field}=..." for field in cls.model_fields])
            fields[name] = task_ids(Path(value)) if name == "ids" else value
        try:
            return cls.model_validate(fields, strict=False)
        except ValidationError as error:
            raise InputError(f"{', '.join(words)}: {error.errors()[0]['msg']}") from error

    def admits(self, task: Task) -> bool:
        return (
            _contains(task.sector, self.sector)
            and _contains(task.occupation, self.occupation)
            and (self.file_type is None or _ending(self.file_type) in file_types(task))
            and (not self.ids or task.id in self.ids)
            and self._admits_length(task.expert_hours)
        )

    def _admits_length(self, hours: float | None) -> bool:
        if self.min_hours is None and self.max_hours is None:
            return True
        if hours is None:  # an unknown length is in no range
            return False
        return (self.min_hours or 0) <= hours <= (self.max_hours if self.max_hours is not None else float("inf"))


def task_ids(path: Path) -> tuple[str, ...]:
    """The ids in a file, one a line, or those of a release (its table is read)."""
    if path.is_dir() or path.suffix in {".parquet", ".jsonl", ".csv"}:
        table = path / "data" / "train-00000-of-00001.parquet" if path.is_dir() else path
        return tuple(str(row.fields["task_id"]) for row in read_rows(table))
    try:
        return tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"holds no task ids ({error})", fix="give a text file, one id a line") from error


def newest_tasks(store: Store, wanted: TaskFilter | None = None) -> list[Task]:
    """The newest version of each task, in the order they came in."""
    wanted = wanted or TaskFilter()
    return [task for task in latest_tasks(store).values() if wanted.admits(task)]


def latest_tasks(store: Store) -> dict[Id, Task]:
    """Task id -> its newest version: what a new study chooses from. A study that began keeps what it pinned."""
    newest: dict[Id, Task] = {}
    for task in store.each(Task):
        if task.id not in newest or newest[task.id].version < task.version:
            newest[task.id] = task
    return newest


def newer_wordings(store: Store, study: Study) -> list[TaskKey]:
    """The newest versions of those tasks of a study that have a newer one than it pinned."""
    tasks, newest = shelf_of(Task).table, dict[Id, TaskKey]()
    with store.glance() as connection:
        keys = [TaskKey(key) for key in connection.execute(select(tasks.c.key)).scalars()]
    for key in keys:
        if key.id not in newest or newest[key.id].version < key.version:
            newest[key.id] = key
    pins = [pin for pin in study.tasks if pin.is_whole]
    return [newest[pin.id] for pin in pins if pin.id in newest and newest[pin.id].version > pin.version]


def find_task(store: Store, text: str) -> Task:
    """One task by its id, `id@version`, or an unambiguous beginning of its id."""
    identity, _, version = text.partition("@")
    if version:
        return store.get(Task, TaskKey(text))
    tasks = newest_tasks(store)
    exact = [task for task in tasks if task.id == identity]
    found = exact or [task for task in tasks if task.id.startswith(identity)]
    if len(found) != 1:
        many = f"{len(found)} tasks begin with {text!r}" if found else f"no task begins with {text!r}"
        raise InputError(f"{many}; `guildhall tasks list` shows the ids")
    return found[0]


def file_types(task: Task) -> set[str]:
    return {_ending(PurePosixPath(file.name).suffix) for file in (*task.reference_files, *task.expert_files)}


def count_types(names: Iterable[str]) -> dict[str, int]:
    """How often each file type occurs, most frequent first."""
    counts: dict[str, int] = {}
    for name in names:
        ending = _ending(PurePosixPath(name).suffix) or "none"
        counts[ending] = counts.get(ending, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _ending(text: str) -> str:
    return text.lower().lstrip(".")


def _contains(text: str, part: str | None) -> bool:
    return part is None or part.casefold() in text.casefold()
