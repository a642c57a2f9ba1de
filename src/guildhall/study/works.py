"""The work that stands in a study's comparisons, as columns: whose it is, and all one may break results down by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from sqlalchemy import select

from guildhall.analysis.tables import Coded, Floats, encode
from guildhall.domain.authors import Author, Expert
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.store.fields import Digests, Field, JsonText, read_fields
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.places import Places, joined
from guildhall.study.rows import taken

HOURS = ((2.0, "0-2 h"), (4.0, "2-4 h"), (8.0, "4-8 h"), (float("inf"), "8 h and more"))
MOST_NAMED = 5_000
BREAKDOWNS = {
    "sector": "By sector",
    "occupation": "By occupation",
    "file_type": "By type of deliverable",
    "hours": "By time an expert takes",
    "references": "With and without reference files",
    "specification": "By how well the brief is specified",
    "condition": "By prompt condition",
    "effort": "By reasoning effort",
}


@dataclass(frozen=True)
class Works:
    """Submissions by place, which `places` finds; a column's code of -1 is unknown, never a class of its own."""

    key: tuple[str, ...]
    places: Places
    task: Coded
    model: Coded
    """The author's name; every expert is `expert`."""
    sample: Coded
    by_model: NDArray[np.bool_]
    confidence: Floats
    """What the author stated about its own work, 0 to 100; NaN when it said nothing."""
    seconds: Floats
    cost_usd: Floats
    """What the work took, as the ledger booked it; NaN where unknown."""
    columns: Mapping[str, Coded]


@dataclass(frozen=True)
class Sets:
    """A study's comparisons by place, the oldest first: keys, tasks, and the works they show.

    `works[i]` is shown by the comparison at `shown_by[i]`.
    """

    key: tuple[str, ...]
    places: Places
    task: tuple[str, ...]
    works: NDArray[np.int64]
    shown_by: NDArray[np.int64]

    def first_by(self, made: NDArray[np.bool_]) -> NDArray[np.int64]:
        """For each comparison the first of its works for which `made` holds, else -1."""
        found = np.full(len(self.task), -1, dtype=np.int64)
        at = np.flatnonzero(made[self.works])[::-1]
        found[self.shown_by[at]] = self.works[at]
        return found


@dataclass(frozen=True)
class _Maker:
    """What there is to know of an author, read once for all its work."""

    name: str
    sample: str
    by_model: bool
    condition: str | None
    effort: str | None


def read_sets(store: Store, study: str) -> tuple[Sets, Works]:
    """The comparisons of a study and the work they show."""
    table = shelf_of(Comparison).table
    keys: list[str] = []
    tasks: list[str] = []
    sizes: list[int] = []
    shown = bytearray()
    for chunk in read_fields(
        store,
        Comparison,
        {"submissions": (Digests, "submissions")},
        columns=("key", "task"),
        narrowed=lambda query: query.where(table.c.study == study),
    ):
        keys += chunk["key"]
        tasks += chunk["task"]
        sizes += chunk["submissions"].sizes
        shown += chunk["submissions"].joined
    works = _read_works(store, study, set(tasks), bytes(shown))
    sets = Sets(
        key=tuple(keys),
        places=Places(joined(keys)),
        task=tuple(tasks),
        works=works.places.known(bytes(shown), "submission"),
        shown_by=np.repeat(np.arange(len(sizes)), sizes),
    )
    return sets, works


def _read_works(store: Store, study: str, tasks: set[str], shown: bytes) -> Works:
    comparisons, table = shelf_of(Comparison).table, shelf_of(Submission).table
    # Each chunk asks anew, and names are sooner compared than found; but a question has room for so many only.
    named = sorted(tasks) if len(tasks) <= MOST_NAMED else None
    within = table.c.task.in_(named or select(comparisons.c.task).where(comparisons.c.study == study))
    numbers = {"confidence": "confidence", "seconds": "seconds", "cost_usd": "usage.cost_usd"}
    fields: dict[str, Field] = {"author": (JsonText, "author"), "files": (list, "files")}
    fields |= {name: (float, path) for name, path in numbers.items()}
    read: dict[str, list[Any]] = {name: [] for name in ("key", "task", *fields)}
    wanted = Places(shown)
    for chunk in read_fields(
        store, Submission, fields, columns=("key", "task"), narrowed=lambda query: query.where(within)
    ):
        kept = (wanted.of(joined(chunk["key"])) >= 0).tolist()
        for name, cells in read.items():
            cells += chunk[name] if all(kept) else compress(chunk[name], kept)
    read = _by_task_and_author(read)
    task, author = encode(read["task"]), encode(read["author"])
    makers = [_maker(text) for text in author.names]
    of_maker = {
        name: taken(encode(getattr(maker, name) for maker in makers), author.codes)
        for name in ("name", "sample", "condition", "effort")
    }
    by_model = np.array([maker.by_model for maker in makers], dtype=np.bool_)
    return Works(
        key=tuple(read["key"]),
        places=Places(joined(read["key"])),
        task=task,
        model=of_maker["name"],
        sample=of_maker["sample"],
        by_model=by_model[author.codes],
        **{name: np.array(read[name], dtype=np.float64) for name in numbers},
        columns={
            **_task_columns({one.id: one for one in store.each(Task)}, task),
            "file_type": encode(map(_file_type, read["files"])),
            "condition": of_maker["condition"],
            "effort": of_maker["effort"],
        },
    )


def _by_task_and_author(read: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Rows by task, author's name and sample: whoever happened to finish first changes no report."""
    task, author = encode(read["task"]), encode(read["author"])
    makers = [(_maker(text).name, int(_maker(text).sample), text) for text in author.names]
    order = np.lexsort((_ranks(makers)[author.codes], _ranks(task.names)[task.codes])).tolist()
    return {name: [cells[at] for at in order] for name, cells in read.items()}


def _ranks(names: Sequence[Any]) -> NDArray[np.int64]:
    """Where each of several different names stands among all, sorted."""
    ranks = np.zeros(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


@cache
def _authors() -> TypeAdapter[Author]:
    return TypeAdapter(Author)


@cache
def _maker(text: str) -> _Maker:
    author = _authors().validate_json(text)
    if isinstance(author, Expert):
        return _Maker("expert", "1", by_model=False, condition=None, effort=None)
    effort = author.settings.get("reasoning_effort")
    return _Maker(
        author.name,
        str(author.sample),
        by_model=True,
        condition=author.condition,
        effort=str(effort) if effort else None,
    )


def author_name(text: str) -> str:
    """The name under which reports know an author, from its JSON; every expert is `expert`."""
    return _maker(text).name


def _file_type(files: list[dict[str, str]]) -> str:
    types = {_ending(file["name"]) for file in files} - {""}
    return "+".join(sorted(types)) if types else "text only"


@cache
def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower().lstrip(".")


def _task_columns(tasks: Mapping[str, Task], task: Coded) -> dict[str, Coded]:
    """What is known of a work through its task."""
    known = [_task_facts(tasks[name]) for name in task.names]
    return {
        name: taken(encode(facts[name] for facts in known), task.codes)
        for name in ("sector", "occupation", "hours", "references", "specification")
    }


def _task_facts(task: Task) -> dict[str, str | None]:
    return {
        "sector": task.sector,
        "occupation": task.occupation,
        "hours": _hours(task.expert_hours),
        "references": "with reference files" if task.reference_files else "without",
        "specification": str(task.ratings.specification) if task.ratings.specification else None,
    }


def _hours(hours: float | None) -> str | None:
    return None if hours is None else next(label for limit, label in HOURS if hours < limit)
