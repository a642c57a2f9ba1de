"""A large study in a real store, written fast: every value checked in kind, its bytes made by filling in a form.

For each kind of value one is made and checked by the domain; the others are the same canonical JSON with the fields
that vary put in. A sample of what was written is read back as values, which checks the digests too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np
from sqlalchemy import insert

from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdicts import rebuild

Row = dict[str, object]
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
ENDINGS = ("docx", "xlsx", "pdf")
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Large:
    """How large: tasks x models x samples comparisons with the expert, each judged `graders_each` times."""

    tasks: int = 224
    models: int = 300
    samples: int = 3
    graders_each: int = 5
    graders: int = 500
    sectors: int = 9
    occupations: int = 32
    judgments: int = 1_000_000
    study: str = "large"
    family: str = "model"
    """What the models' names begin with: two studies in one store have models of their own."""
    seed: int = 1


def load_large(store: Store, large: Large) -> Study:
    """Write the study and all that belongs to it; at most `judgments` of them."""
    rng = np.random.default_rng(large.seed)
    tasks = [_task(number, large) for number in range(large.tasks)]
    study = Study(id=large.study, title="A large study", seed=large.seed, tasks=tuple(task.key for task in tasks))
    experts = [Submission(task=task.id, author={"kind": "expert"}, text="The expert's work.") for task in tasks]
    store.add_all([*tasks, study, *experts])
    judgments = _judgments(_comparisons(tasks, experts, large, rng, store), large, rng)
    _write(store, Judgment, islice(judgments, large.judgments))
    for kind in (Submission, Comparison, Judgment):
        _look_at(store, kind)
    rebuild(store)
    return study


def _task(number: int, large: Large) -> Task:
    occupation = number % large.occupations
    return Task(
        id=f"task-{number:04d}",
        sector=f"Sector {occupation % large.sectors}",
        occupation=f"Occupation {occupation:02d}",
        brief="Write it.",
        expert_text="The expert's work.",
        expert_hours=float(1 + number % 11),
        reference_files=(FileRef(name="data.csv"),) if number % 3 else (),
    )


def _comparisons(
    tasks: list[Task], experts: list[Submission], large: Large, rng: np.random.Generator, store: Store
) -> Iterator[tuple[str, str, str, float]]:
    """Write all submissions and comparisons; (comparison, expert's work, model's work, chance of a win) of each."""
    skill = rng.normal(-0.5, 0.7, large.models)
    made: list[tuple[str, str, str, float]] = []
    for model in range(large.models):
        submissions, comparisons = [], []
        for task, expert in zip(tasks, experts, strict=True):
            for sample in range(1, large.samples + 1):
                author = _authored(f"{large.family}-{model:03d}", sample)
                own = _submission(task.id, author, confidence=int(rng.integers(40, 100)))
                submissions.append(own)
                comparison = _comparison(task.id, expert.key, str(own["key"]), large)
                comparisons.append(comparison)
                chance = 1 / (1 + np.exp(-skill[model] - rng.normal()))
                made.append((str(comparison["key"]), expert.key, str(own["key"]), float(chance)))
        _write(store, Submission, iter(submissions))
        _write(store, Comparison, iter(comparisons))
    order = rng.permutation(len(made))
    yield from (made[at] for at in order.tolist())


def _judgments(
    comparisons: Iterator[tuple[str, str, str, float]], large: Large, rng: np.random.Generator
) -> Iterator[Row]:
    form = _form(
        Judgment(
            comparison="0" * 64,
            grader=Person(code_name="@grader"),
            order=("1" * 64, "2" * 64),
            ranks=(7, 8),
            reason="@reason",
            exposure=1,
            active_s=0.125,
            guess="A",
            made_at=MOMENT,
        )
    )
    for comparison, expert, own, chance in comparisons:
        graders = rng.choice(large.graders, large.graders_each, replace=False).tolist()
        draws = rng.random((large.graders_each, 4)).tolist()
        for grader, (won, tied, first, spent) in zip(graders, draws, strict=True):
            better, worse = (1, 1) if tied < 0.1 else (1, 2) if won < chance else (2, 1)
            model_first = first < 0.5
            body = (
                form.replace("0" * 64, comparison)
                .replace("1" * 64, own if model_first else expert)
                .replace("2" * 64, expert if model_first else own)
                .replace("[7,8]", f"[{better},{worse}]" if model_first else f"[{worse},{better}]")
                .replace("@grader", f"grader-{grader:03d}")
                .replace("@reason", "It follows the brief and the figures add up.")
                .replace("0.125", f"{300 + int(spent * 3000)}.5")
                .replace('"guess":"A"', f'"guess":"{"A" if spent < 0.5 else "B"}"')
            )
            yield _row(body, comparison=comparison, grader=f"person:grader-{grader:03d}", failed=False, replaces=None)


def _authored(name: str, sample: int) -> ModelRun:
    return ModelRun(name=name, model=f"provider/{name}", sample=sample)


def _submission(task: str, author: ModelRun, *, confidence: int) -> Row:
    ending = ENDINGS[hash_of(task) % len(ENDINGS)]
    made = Submission(
        task=task,
        author=author,
        files=(FileRef(name=f"work.{ending}"),),
        confidence=confidence,
        seconds=300.0,
        usage=Usage(cost_usd=0.4),
    )
    return shelf_of(Submission).row(made)


def _comparison(task: str, expert: str, own: str, large: Large) -> Row:
    return shelf_of(Comparison).row(Comparison(study=large.study, task=task, submissions=(expert, own)))


def hash_of(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


def _form(value: Value) -> str:
    return value.canonical().decode()


def _row(body: str, **columns: object) -> Row:
    digest = hashlib.sha256(body.encode()).hexdigest()
    return {"key": digest, "digest": digest, "body": body, **columns}


def _write(store: Store, kind: type[Value], rows: Iterator[Row]) -> None:
    with store.transaction() as connection:
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            connection.execute(insert(shelf_of(kind).table), chunk)


def _look_at(store: Store, kind: type[Value], *, every: int = 9973) -> None:
    """A sample of the rows are values of their kind, under their own digests."""
    table = shelf_of(kind).table
    with store.reading() as connection:
        for row in connection.execute(table.select().where(table.c.seq % every == 1)).mappings():
            value = kind.model_validate_json(row["body"])
            assert value.content_digest() == row["digest"]
            assert json.loads(row["body"]) == json.loads(value.canonical())
