"""What the whole numbers of verdicts stand for: works, wordings of tasks, and those a study pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import Connection, Select, case, func, or_, select

from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import NOTHING_TO_JUDGE
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id
from guildhall.store.shelves import shelf_named, shelf_of
from guildhall.store.verdict_rows import STOPS, file_kinds, own_wording, read
from guildhall.store.verdict_tables import authors, names, works

MOST_NAMED = 5_000
"""So many rows are sooner asked for one by one than read among all."""
_NAMED_AT_ONCE = 500
_SUBMISSIONS = shelf_named("submissions").table


def as_pinned(
    connection: Connection, study_of: pl.Series, task: pl.Series, comparison: pl.Series, studies: dict[Id, int]
) -> tuple[pl.Series, dict[int, TaskKey]]:
    """The tasks of rows with the wordings that studies pinned first, and numbers for those.

    The table says what the comparison states, else what its work was made for, whatever forms of the study are kept.
    """
    form, numbers, table = shelf_of(Study).table, dict[TaskKey, int](), shelf_of(Comparison).table
    fresh = 1 + (connection.execute(select(func.max(names.c.code))).scalar() or 0)
    for study, code in studies.items():
        pins: dict[Id, TaskKey] = {}
        for body in connection.execute(select(form.c.body).where(form.c.id == study).order_by(form.c.seq)).scalars():
            pins = Study.model_validate_json(body).pins | pins
        own = study_of == code
        told = _task_names(connection, task.filter(own).unique().to_list())
        astray = [one for one, key in told.items() if pins.get(key.id, key) != key]
        if not astray:
            continue
        strays = own & task.is_in(astray)
        seen = comparison.filter(strays).unique()
        query = select(table.c.seq, table.c.body)
        bodies = [row for some in in_parts(seen) for row in connection.execute(query.where(table.c.seq.in_(some)))]
        silent = [row.seq for row in bodies if own_wording(read(row.body)) is None]
        numbers |= _codes_of(connection, {pins[told[one].id] for one in astray} - numbers.keys(), fresh + len(numbers))
        there = {one: numbers[pins[told[one].id]] for one in astray}
        moved = task.replace(there).cast(pl.Int32())
        task = moved.zip_with(strays & comparison.is_in(silent), task)
    return task, {number: key for key, number in numbers.items()}


def _codes_of(connection: Connection, keys: set[TaskKey], fresh: int) -> dict[TaskKey, int]:
    """The codes of wordings; those that have none get a number from `fresh` on."""
    known = select(names.c.key, names.c.code).where(names.c.kind == "task", names.c.key.in_(sorted(keys)))
    found = {TaskKey(row.key): int(row.code) for row in connection.execute(known)}
    return found | {key: fresh + place for place, key in enumerate(sorted(keys - found.keys()))}


def _task_names(connection: Connection, codes: Sequence[int]) -> dict[int, TaskKey]:
    query = select(names.c.code, names.c.key)
    named = (row for some in in_parts(codes) for row in connection.execute(query.where(names.c.code.in_(some))))
    return {row.code: TaskKey(row.key) for row in named}


WORK_TYPES = {
    "code": pl.Int64(),
    "key": pl.String(),
    "task": pl.Int32(),
    "author": pl.String(),
    "name": pl.String(),
    "by_model": pl.Boolean(),
    "sample": pl.Int32(),
    "condition": pl.String(),
    "effort": pl.String(),
    "stop": pl.String(),
    "seconds": pl.Float64(),
    "cost_usd": pl.Float64(),
    "confidence": pl.Float64(),
    "kinds": pl.String(),
    "taken_back": pl.Boolean(),
}
_OF_TRIED = ("key", "author", "sample", "condition", "effort", "stop")
TRIED_TYPES = {name: WORK_TYPES[name] for name in _OF_TRIED} | {
    "code": pl.Int32(),
    "model": pl.String(),
    "body": pl.String(),
}
_REPLACED = select(_SUBMISSIONS.c.replaces).where(_SUBMISSIONS.c.replaces.is_not(None))
_KINDS = names.alias("kinds")
_BY_MODEL = authors.c.kind == "model"
_WORKS = (
    select(
        works.c.work.label("code"),
        *(_SUBMISSIONS.c.key, works.c.task, authors.c.key.label("author"), authors.c.name, _BY_MODEL.label("by_model")),
        *(authors.c.sample, authors.c.condition, authors.c.effort),
        case({code: word for word, code in STOPS.items()}, value=works.c.stop).label("stop"),
        *(works.c.seconds, works.c.cost_usd, works.c.confidence, _KINDS.c.key.label("kinds")),
        _SUBMISSIONS.c.key.in_(_REPLACED).label("taken_back"),
    )
    .join(_SUBMISSIONS, _SUBMISSIONS.c.seq == works.c.work)
    .join(authors, authors.c.code == works.c.author)
    .outerjoin(_KINDS, _KINDS.c.code == works.c.kinds)
)
_BLANK = ('"text":""', '"text":" ', '"text":"\\')
"""How the text of a submission begins in its canonical JSON where there may be no word in it."""


def works_shown(shown: pl.Series) -> list[Select[Any]]:
    """What asks for works that were shown: for all there are where they are many, since naming each takes longer."""
    some = in_parts(shown) if len(shown) <= MOST_NAMED else ()
    return [_WORKS.where(works.c.work.in_(numbers)) for numbers in some] or [_WORKS]


def works_tried(study: Study) -> Select[Any]:
    """What asks for all that a study's authors, and its baseline, brought to the wordings it pins and nothing replaced.

    `code` is the wording's; `body` is the record of work without a file that may have nothing to judge.
    """
    text, without_words = _SUBMISSIONS.c.body, [STOPS[one] for one in NOTHING_TO_JUDGE]
    blank = or_(works.c.stop.in_(without_words), *(text.contains(one, autoescape=True) for one in _BLANK))
    pinned = select(names.c.code).where(names.c.kind == "task", names.c.key.in_(sorted(study.pins.values())))
    wanted = authors.c.key.in_(sorted(author.key for author in study.authors)) | (authors.c.name == study.baseline)
    body = case((works.c.kinds.is_(None) & blank, text)).label("body")
    told = (_WORKS.selected_columns[name] for name in _OF_TRIED)
    asked = _WORKS.with_only_columns(*told, works.c.task.label("code"), authors.c.name.label("model"), body)
    return asked.where(works.c.task.in_(pinned), _BY_MODEL, wanted, _SUBMISSIONS.c.key.not_in(_REPLACED))


TASK_TYPES = {
    "code": pl.Int32(),
    "key": pl.String(),
    "id": pl.String(),
    "version": pl.Int32(),
    "sector": pl.String(),
    "occupation": pl.String(),
    "hours": pl.Float64(),
    "references": pl.Int32(),
    "specification": pl.String(),
    "kinds": pl.String(),
    "expert": pl.Boolean(),
}


def read_tasks(connection: Connection, codes: Sequence[int], pinned: Mapping[int, TaskKey]) -> list[tuple[Any, ...]]:
    """A row as `TASK_TYPES` says for each wording of a task; `pinned` are those that have a code for this once."""
    table = shelf_of(Task).table
    known = {**_task_names(connection, codes), **pinned}
    bodies: dict[str, str] = {}
    for some in in_parts(sorted(known.values())):
        kept = select(table.c.key, table.c.body).where(table.c.key.in_(some))
        bodies |= {row.key: row.body for row in connection.execute(kept)}
    return [(code, key, key.id, key.version, *_task_facts(bodies.get(key))) for code, key in known.items()]


def _task_facts(body: str | None) -> tuple[Any, ...]:
    if body is None:
        return (None,) * 7
    task = read(body)
    kinds = file_kinds([file["name"] for file in task["expert_files"]])
    facts = (task["sector"], task["occupation"], task["expert_hours"], len(task["reference_files"]))
    return (*facts, task["ratings"]["specification"], kinds, bool(task["expert_files"] or task["expert_text"]))


def in_parts(every: Sequence[Any] | pl.Series) -> Iterator[list[Any]]:
    """All of them, as many at a time as one question has room for."""
    for start in range(0, len(every), _NAMED_AT_ONCE):
        yield list(every[start : start + _NAMED_AT_ONCE])
