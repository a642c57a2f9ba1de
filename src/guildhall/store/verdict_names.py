"""What the whole numbers of verdicts stand for: works, wordings of tasks, and those a study pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import Connection, func, or_, select

from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import NOTHING_TO_JUDGE, Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id
from guildhall.store.records import Store
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


_WORK_TYPES = {
    "code": pl.Int64(),
    "key": pl.String(),
    "task": pl.Int32(),
    "author": pl.Int32(),
    "stop": pl.Int16(),
    "seconds": pl.Float64(),
    "cost_usd": pl.Float64(),
    "confidence": pl.Float64(),
    "kinds": pl.Int32(),
}
_AUTHOR_TYPES = {
    "by": pl.Int32(),
    "author": pl.String(),
    "name": pl.String(),
    "by_model": pl.Boolean(),
    "sample": pl.Int32(),
    "condition": pl.String(),
    "effort": pl.String(),
}
_OWN = ("stop", "seconds", "cost_usd", "confidence", "kinds")


def read_works(connection: Connection, shown: pl.Series) -> pl.DataFrame:
    """The works that were shown: read among all where they are many, since naming each takes longer."""
    query = select(
        works.c.work.label("code"), _SUBMISSIONS.c.key, works.c.task, works.c.author, *(works.c[name] for name in _OWN)
    )
    query = query.join(_SUBMISSIONS, _SUBMISSIONS.c.seq == works.c.work)
    some = in_parts(shown) if len(shown) <= MOST_NAMED else ()
    queries = [query.where(works.c.work.in_(numbers)) for numbers in some] or [query]
    found = pl.concat([pl.read_database(one, connection, schema_overrides=_WORK_TYPES) for one in queries])
    found = found.filter(pl.col("code").is_in(shown.implode()))
    by_model = (authors.c.kind == "model").label("by_model")
    of_author = (authors.c.code.label("by"), authors.c.key.label("author"), authors.c.name, by_model)
    query = select(*of_author, authors.c.sample, authors.c.condition, authors.c.effort)
    makers = pl.read_database(query, connection, schema_overrides=_AUTHOR_TYPES)
    query = select(names.c.code.label("of_kinds"), names.c.key.label("kinds")).where(names.c.kind == "files")
    kinds = pl.read_database(query, connection, schema_overrides=_KINDS)
    withdrawn = select(_SUBMISSIONS.c.replaces).where(_SUBMISSIONS.c.replaces.is_not(None))
    replaced = pl.Series(connection.execute(withdrawn).scalars().all(), dtype=pl.String())
    found = found.with_columns(taken_back=pl.col("key").is_in(replaced.implode()))
    stops = pl.DataFrame({"stop": list(STOPS), "at": list(STOPS.values())}, schema_overrides={"at": pl.Int16()})
    found = found.rename({"author": "by", "kinds": "of_kinds", "stop": "at"})
    found = found.join(makers, on="by").join(stops, on="at").join(kinds, on="of_kinds", how="left")
    return found.select("code", "key", "task", *list(_AUTHOR_TYPES)[1:], *_OWN, "taken_back")


_KINDS = {"of_kinds": pl.Int32(), "kinds": pl.String()}


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


_ATTEMPT_TYPES = {"row": pl.Int64(), "key": pl.String(), "stop": pl.Int16(), "code": pl.Int32(), "by": pl.Int32()}
_BLANK = ('"text":""', '"text":" ', '"text":"\\')
"""How the text of a submission begins in its canonical JSON where there may be no word in it."""


def read_attempts(store: Store, study: Study) -> pl.DataFrame | None:
    """All that a study's authors brought to the wordings it pins: a row for each piece that nothing replaced.

    `key`, the author's key (`author`) and its `model, sample, condition, effort`, `stop`, whether it left nothing to
    judge (`empty`), and the task's facts: `id, wording, expert` (whether an expert's work is there) and the others of
    `TASK_TYPES`. Sorted by task, model and sample. None where a study names no authors: nobody knows
    what was to be tried.
    """
    wanted = {author.key for author in study.authors}
    if not wanted:
        return None
    replaced = select(_SUBMISSIONS.c.replaces).where(_SUBMISSIONS.c.replaces.is_not(None))
    row, code, by = works.c.work.label("row"), works.c.task.label("code"), works.c.author.label("by")
    made = select(row, _SUBMISSIONS.c.key, works.c.stop, code, by)
    made = made.join(_SUBMISSIONS, _SUBMISSIONS.c.seq == works.c.work).where(_SUBMISSIONS.c.key.not_in(replaced))
    text, without_words = _SUBMISSIONS.c.body, [STOPS[one] for one in NOTHING_TO_JUDGE]
    blank = or_(works.c.stop.in_(without_words), *(text.contains(one, autoescape=True) for one in _BLANK))
    with store.reading() as connection:
        pinned = select(names.c.code).where(names.c.kind == "task", names.c.key.in_(sorted(study.pins.values())))
        known = connection.execute(pinned).scalars().all()
        found = pl.read_database(made.where(works.c.task.in_(known)), connection, schema_overrides=_ATTEMPT_TYPES)
        query = select(works.c.work, text).join(_SUBMISSIONS, _SUBMISSIONS.c.seq == works.c.work)
        doubted = connection.execute(query.where(works.c.task.in_(known), works.c.kinds.is_(None), blank)).all()
        facts = read_tasks(connection, known, {})
        named = (authors.c.code.label("by"), authors.c.key.label("author"), authors.c.name.label("model"))
        of_author = select(*named, authors.c.sample, authors.c.condition, authors.c.effort)
        makers = pl.read_database(of_author.where(authors.c.kind == "model"), connection, schema_overrides=_MAKERS)
    empty = [row.work for row in doubted if Submission.model_validate_json(row.body).leaves_nothing]
    ours = pl.col("author").is_in(sorted(wanted)) | (pl.col("model") == study.baseline)
    stops = pl.DataFrame({"at": list(STOPS), "stop": list(STOPS.values())}, schema_overrides={"stop": pl.Int16()})
    tasks = pl.DataFrame(facts, schema=TASK_TYPES, orient="row")
    return (
        found.with_columns(empty=pl.col("row").is_in(empty))
        .join(makers, on="by")
        .filter(ours)
        .join(tasks.rename({"key": "wording"}), on="code")
        .join(stops, on="stop")
        .drop("row", "code", "by", "stop", "version")
        .rename({"at": "stop"})
        .sort("id", "model", "sample", "key")
    )


_MAKERS = {
    "by": pl.Int32(),
    "author": pl.String(),
    "model": pl.String(),
    "sample": pl.Int32(),
    "condition": pl.String(),
    "effort": pl.String(),
}


def in_parts(every: Sequence[Any] | pl.Series) -> Iterator[list[Any]]:
    """All of them, as many at a time as one question has room for."""
    for start in range(0, len(every), _NAMED_AT_ONCE):
        yield list(every[start : start + _NAMED_AT_ONCE])
