"""A bank as one thing: its name, the digest of its content, what changed between two, and figures joined to its tasks.

Wages and hours may come from another source than the task, which is kept and printed wherever they serve. A figure that
a task states itself stays; what no source gives stays unknown; a figure more makes a new version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from guildhall.domain.tasks import Joined, Task
from guildhall.domain.values import Digest, Id, Value, canonical_json, sha256
from guildhall.errors import FaultsFound, InputError
from guildhall.store.records import Store
from guildhall.store.rows import read_rows
from guildhall.store.workspace import SETTINGS, Workspace
from guildhall.taskbank.importing import opened_source
from guildhall.taskbank.listing import newest_tasks
from guildhall.taskbank.review.differences import Change, file_changes

ASIDE = frozenset({"version", "provenance", "review"})
"""What may differ between two copies of the same task."""


class Bank(Value):
    """What a bank is called and what it holds. `sources` counts the figures joined to its tasks, by their source."""

    name: str
    tasks: int
    digest: Digest
    sources: dict[str, int] = {}


@dataclass(frozen=True)
class BankDifferences:
    added: tuple[Id, ...]
    removed: tuple[Id, ...]
    changed: Mapping[Id, tuple[str, ...]]
    same: int


def bank_of(tasks: Sequence[Task]) -> Bank:
    """A bank is called by where its tasks came from; equal content has an equal digest, wherever it was got."""
    names = {_origin(task) for task in tasks}
    held = sorted((task.id, sha256(canonical_json(_said(task)))) for task in tasks)
    sources = Counter(source for task in tasks for source in (task.sources or {}).values())
    name = " + ".join(sorted(names)[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return Bank(
        name=name or "an empty bank",
        tasks=len(tasks),
        digest=sha256(canonical_json(held)),
        sources=dict(sorted(sources.items())),
    )


def _origin(task: Task) -> str:
    about = task.provenance
    if about is None:
        return "tasks of its own"
    return f"{about.source}@{about.revision[:12]}" if about.revision else about.source


def _said(task: Task) -> dict[str, object]:
    """A task's content; a file is its bytes, or its place in the data set where they were never fetched."""
    said = task.model_dump(mode="json", exclude=set(ASIDE))
    for kind in ("reference_files", "expert_files"):
        said[kind] = [[file["name"], file["digest"] or file["source"]] for file in said[kind]]
    return said


def bank_differences(before: Sequence[Task], after: Sequence[Task]) -> BankDifferences:
    """What came, what went, and of what is in both whatever differs, in words."""
    old, new = {task.id: task for task in before}, {task.id: task for task in after}
    both = [name for name in old if name in new]
    changed = {name: words for name in both if (words := tuple(_changes(old[name], new[name])))}
    return BankDifferences(
        added=tuple(sorted(new.keys() - old)),
        removed=tuple(sorted(old.keys() - new)),
        changed=changed,
        same=len(both) - len(changed),
    )


_FILES = frozenset({"reference_files", "expert_files"})
_SHORT = frozenset({"title", "sector", "occupation", "expert_hours", "hourly_wage_usd"})


def _changes(before: Task, after: Task) -> Iterator[str]:
    for name in sorted(set(Task.model_fields) - ASIDE - _FILES):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            words = name.replace("_", " ")
            yield f"{words}: {_shown(old)} -> {_shown(new)}" if name in _SHORT else words
    for file in file_changes(before, after):
        known = file.before is not None and file.after is not None and file.before.digest and file.after.digest
        if file.change is Change.CHANGED and not known:
            continue  # of a file known by name alone nothing more can be said
        if file.change is not Change.SAME:
            yield f"{file.name} {file.change.value}"


def _shown(value: object) -> str:
    return "unknown" if value is None else str(value)


@contextmanager
def opened_bank(source: str | None, workspace: Path | None = None) -> Iterator[list[Task]]:
    """The tasks of a workspace (the one at hand when nothing is named) or of anything that can be imported."""
    if source is None or (Path(source) / SETTINGS).exists():
        with Workspace.find(workspace if source is None else Path(source)) as opened:
            yield newest_tasks(opened.store)
        return
    with opened_source(source, with_files=False) as incoming:
        yield incoming.tasks


Sourced = tuple[float, str]
"""A figure and where it is from."""
IDS = ("task_id", "task", "id")
MOST_HOURS = 10_000


@dataclass(frozen=True)
class Enriched:
    tasks: int
    changed: int
    with_hours: int
    with_wage: int
    unknown: tuple[str, ...]
    """What was not found, in words."""


def read_hours(path: Path, *, column: str, source: str | None) -> dict[Id, Sourced]:
    """Hours by task; every row that cannot be used is named, and then none is."""
    rows = read_rows(path, required=(column,))
    name = next((one for one in IDS if one in rows[0]), None)
    if name is None:
        raise InputError(f"{path} has no column with the id of a task; call it {IDS[0]}")
    words = source or f"{path.name}, column {column}"
    hours: dict[Id, Sourced] = {}
    faults = []
    for number, row in enumerate(rows, 1):
        task, figure = str(row[name]), _figure(row[column])
        if figure is None and row[column] in {None, ""}:
            continue
        if figure is None or not 0 < figure <= MOST_HOURS:
            faults.append(f"row {number}: {row[column]!r} is no number of hours")
        elif hours.setdefault(task, (figure, words))[0] != figure:
            faults.append(f"row {number}: task {task} has other hours in another row")
    if faults:
        raise FaultsFound(f"{path}: {len(faults)} rows cannot be used", faults, fix="correct them and try again")
    return hours


def _figure(cell: Any) -> float | None:
    try:
        found = float(cell)
    except (TypeError, ValueError):
        return None
    return found if isfinite(found) else None


def enrich_tasks(
    store: Store,
    *,
    wage: Callable[[str, str], Sourced | None] | None = None,
    hours: Mapping[Id, Sourced] | None = None,
) -> Enriched:
    """Join to each task what is found for it; `wage` is asked by occupation and sector."""
    if wage is None and hours is None:
        raise InputError("say what to join: --wages FOLDER, --hours FILE or both")
    tasks = newest_tasks(store)
    told = hours or {}
    after = [_joined(task, wage(task.occupation, task.sector) if wage else None, told.get(task.id)) for task in tasks]
    changed = [new for old, new in zip(tasks, after, strict=True) if new is not old]
    with store.transaction():
        store.add_all(changed)
    return Enriched(
        tasks=len(tasks),
        changed=len(changed),
        with_hours=sum(task.expert_hours is not None for task in after),
        with_wage=sum(task.hourly_wage_usd is not None for task in after),
        unknown=tuple(_unknown(after, hours)),
    )


def _joined(task: Task, wage: Sourced | None, hours: Sourced | None) -> Task:
    found: dict[Joined, Sourced] = {}
    figures_found: dict[Joined, Sourced | None] = {"hourly_wage_usd": wage, "expert_hours": hours}
    for name, figure in figures_found.items():
        stated = getattr(task, name) is not None and name not in (task.sources or {})
        if figure is not None and not stated:
            found[name] = figure
    sources = {**(task.sources or {}), **{name: source for name, (_, source) in found.items()}}
    figures = {name: value for name, (value, _) in found.items()}
    if sources == (task.sources or {}) and all(getattr(task, name) == value for name, value in figures.items()):
        return task
    return task.but(version=task.version + 1, sources=sources, **figures)


def _unknown(tasks: list[Task], hours: Mapping[Id, Sourced] | None) -> Iterator[str]:
    without = sorted({task.occupation for task in tasks if task.hourly_wage_usd is None})
    if without:
        yield f"no wage is known of {len(without)} occupations: {'; '.join(without[:5])}"
    if strangers := sorted(set(hours or {}) - {task.id for task in tasks}):
        yield f"{len(strangers)} rows of hours name no task of this bank: {', '.join(strangers[:5])}"
