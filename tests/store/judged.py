"""Made-up judgments of every kind, and what they say by a slow and obvious road: from the values themselves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import delete

from guildhall.domain.authors import Expert, GraderKind, ModelGrader, ModelRun, Person
from guildhall.domain.judgments import (
    CRITERIA,
    Acceptance,
    BlindGuess,
    Comparison,
    Judgment,
    TimeCorrection,
    Usability,
)
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.tasks import FileRef, Specification, Task
from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES, shelf_of
from guildhall.store.verdict_parts import read_verdicts, row_keys
from guildhall.store.verdicts import rebuild

START = datetime(2026, 1, 1, tzinfo=UTC)
STUDIES = ("one", "two")
Said = list[dict[str, Any]]


@cache
def world() -> tuple[Value, ...]:
    """Two studies of two tasks, judged by people and judges: pairs and a set of three, chains, failures, surplus."""
    tasks = [
        Task(id=f"t-{n}", version=n, sector="S", occupation="O", brief="Do it.", expert_hours=n, expert_files=files)
        for n, files in ((1, (FileRef(name="a.docx"), FileRef(name="b.XLSX"))), (2, ()))
    ]
    made: list[Value] = [tasks[0]]  # the other wording is named and not kept
    judgments: list[Value] = []
    for task in tasks:
        works = [Submission(task=task.id, task_version=task.version, author=Expert(), files=task.expert_files)]
        works += [
            Submission(
                task=task.id,
                task_version=task.version,
                author=ModelRun(name=name, model=f"x/{name}", settings={"reasoning_effort": "low"}, sample=sample),
                confidence=40 + sample,
                seconds=1.5,
                usage=Usage(cost_usd=0.25),
            )
            for name, sample in (("b", 1), ("a", 1), ("a", 2))
        ]
        sets = [(works[0], work) for work in works[1:]] + [(works[0], works[1], works[2])]
        compared = [
            Comparison(study=study, task=task.id, submissions=tuple(one.key for one in shown))
            for study, shown in zip((*STUDIES, STUDIES[0], STUDIES[0]), sets, strict=True)
        ]
        made += [*works, *compared]
        for number, comparison in enumerate(compared):
            judgments += _judgments(comparison, number + 4 * task.version)
    return (*made, *judgments)


def _judgments(comparison: Comparison, number: int) -> list[Judgment]:
    order = comparison.submissions[::-1] if number % 2 else comparison.submissions
    shown: dict[str, Any] = {"comparison": comparison.key, "order": order}
    person = Person(code_name=f"g-{number % 3}", grader_kind=list(GraderKind)[number % 2])
    first = Judgment(
        **shown,
        grader=person,
        ranks=tuple(1 + (place + number) % 2 for place in range(len(order))),
        strength=1 + number % 3,
        confidence=60.5,
        criteria={CRITERIA[number % 10]: 2, CRITERIA[(number + 1) % 10]: -1, CRITERIA[(number + 2) % 10]: None},
        usability=(Usability(place="B", acceptance=list(Acceptance)[number % 3], edit_minutes=2.5),),
        specification=list(Specification)[number % 3],
        guess=list(BlindGuess)[number % 5],
        exposure=1 + number % 2,
        active_s=100.25,
        omissions={"A": number},
        made_at=START + timedelta(microseconds=number),
    )
    again = first.but(
        replaces=first.key,
        reason="On second thoughts.",
        correction=TimeCorrection(active_s=61.5, reason="I was away."),
        made_at=START + timedelta(days=number),
    )
    once_more = again.but(replaces=again.key, correction=None, active_s=None, planned=False)
    judge = ModelGrader(name="j", model="x/j", settings={"temperature": number % 2})
    failed = Judgment(
        **shown, grader=judge, failure="refused: it would not", sweep=2, usage=Usage(cost_usd=0.125), made_at=START
    )
    answered = Judgment(**shown, grader=judge, ranks=(1,) * len(order), sweep=2, replaces=failed.key, made_at=START)
    return [first, again, once_more, failed, answered]


def broken() -> Judgment:
    """Kept long ago by other means: its order is not the works of its comparison."""
    (judgment, *_) = (one for one in world() if isinstance(one, Judgment))
    return judgment.but(order=(*judgment.order[:1], "0" * 64), reason="It was never shown.")


def emptied(store: Store) -> Store:
    """The store without records."""
    with store.transaction() as connection:
        for shelf in SHELVES:
            connection.execute(delete(shelf.table))
    rebuild(store)
    return store


def put(store: Store, value: Value) -> None:
    """Keep a value as versions without the table of verdicts did."""
    shelf = shelf_of(type(value))
    with store.transaction() as connection:
        connection.execute(shelf.table.insert().values(shelf.row(value)))


NUMBERS = ("judgment", "comparison", "replaces")
"""Columns that follow from the store alone."""


def said_by_table(store: Store, parts: Path, studies: tuple[str, ...] = STUDIES) -> Said:
    """What the table says, with keys and names for its numbers."""
    found = read_verdicts(store, studies, parts=parts)
    rows = found.rows.with_columns(
        *(row_keys(store, kind, found.rows[name]).alias(name) for name, kind in zip(NUMBERS, _KINDS, strict=True))
    )
    works, tasks, graders = found.works.to_dicts(), found.tasks.to_dicts(), found.graders.to_dicts()
    said = []
    for row in rows.drop("key_head").to_dicts():
        work, task, grader = works[row["work"]], tasks[row["task"]], graders[row["grader"]]
        row |= {"study": studies[row["study"]], "work": work["key"], "task": task["key"], "grader": grader["key"]}
        row |= {"kind": grader["kind"], "grader_name": grader["name"], "made_for": tasks[work["task"]]["key"]}
        row |= {name: work[name] for name in ("author", "name", "by_model", "sample", "effort", "kinds")}
        row |= {"work_seconds": work["seconds"], "stated": work["confidence"], "hours": task["hours"]}
        row["failure"] = None if row["failure"] is None else found.failures["name"][row["failure"]]
        said.append(row)
    return sorted(said, key=lambda row: (row["judgment"], row["place"]))


_KINDS: tuple[type[Value], ...] = (Judgment, Comparison, Judgment)


def said_by_values(store: Store, studies: tuple[str, ...] = STUDIES) -> Said:
    """The same from the values, one judgment at a time."""
    tasks = {task.key: task for task in store.each(Task)}
    works = {work.key: work for work in store.each(Submission)}
    sets = {one.key: one for one in store.each(Comparison)}
    judgments = {one.key: one for one in store.each(Judgment)}
    said: Said = []
    for judgment in judgments.values():
        compared = sets.get(judgment.comparison)
        whole = compared is not None and all(key in works for key in compared.submissions)
        known = judgment.replaces is None or judgment.replaces in judgments
        if compared is None or not whole or not known or compared.study not in studies:
            continue
        if set(judgment.order) == set(compared.submissions):
            said += _said(judgment, compared, works, tasks)
    return sorted(said, key=lambda row: (row["judgment"], row["place"]))


def _said(
    judgment: Judgment, compared: Comparison, works: dict[str, Submission], tasks: dict[Any, Task]
) -> Iterator[dict[str, Any]]:
    seconds = judgment.correction.active_s if judgment.correction else judgment.active_s
    pair, grader = len(judgment.order) == 2, judgment.grader
    task_key = works[compared.submissions[0]].task_key
    task = tasks.get(task_key)
    guesses = {BlindGuess.A: 0, BlindGuess.B: 1}
    for place, key in enumerate(judgment.order):
        work, letter = works[key], "AB C"[place] if place < 2 else "C"
        usable = next((one for one in judgment.usability if one.place == letter), None)
        effort = work.author.settings.get("reasoning_effort") if isinstance(work.author, ModelRun) else None
        kinds = sorted({file.name.rpartition(".")[2].lower() for file in work.files})
        yield {
            "judgment": judgment.key,
            "place": place,
            "study": compared.study,
            "comparison": compared.key,
            "task": task_key,
            "work": key,
            "grader": grader.key,
            "rank": judgment.ranks[place] if judgment.ranks else None,
            "sweep": judgment.sweep,
            "planned": judgment.planned,
            "exposure": judgment.exposure,
            "replaces": judgment.replaces,
            "accepted": None if usable is None else int(usable.acceptance is Acceptance.AS_IS),
            "edit_minutes": None if usable is None else usable.edit_minutes,
            "guess": guesses.get(judgment.guess, -1) if judgment.guess and pair else None,
            "strength": judgment.strength,
            "confidence": judgment.confidence,
            "specification": list(Specification).index(judgment.specification) if judgment.specification else None,
            "active_ms": None if seconds is None else round(seconds * 1000),
            "omitted": judgment.omissions.get(letter, 0),
            "failure": judgment.failure.split(":")[0] if judgment.failure else None,
            "cost_usd": judgment.usage.cost_usd if judgment.usage else None,
            "made_at": (judgment.made_at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1),
            **{name.replace(" ", "_"): _of_side(judgment.criteria.get(name), place, pair) for name in CRITERIA},
            "kind": grader.grader_kind.value if isinstance(grader, Person) else "judge",
            "grader_name": grader.code_name if isinstance(grader, Person) else grader.name,
            "made_for": work.task_key,
            "author": work.author.key,
            "name": work.author.name if isinstance(work.author, ModelRun) else "expert",
            "by_model": isinstance(work.author, ModelRun),
            "sample": work.author.sample if isinstance(work.author, ModelRun) else 1,
            "effort": effort,
            "kinds": "+".join(kinds) or None,
            "work_seconds": work.seconds,
            "stated": work.confidence,
            "hours": task.expert_hours if task else None,
        }


def _of_side(mark: int | None, place: int, pair: bool) -> int | None:
    return None if mark is None or not pair else (mark if place else -mark)
