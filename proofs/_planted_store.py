"""A planted world put into a store as frozen values: tasks, submissions, two waves of a study, judgments, ratings.

For each kind one value is made and checked by the domain; the others are the same JSON with the fields that vary put
in, so that a whole study is written in a part of a second. `check` reads rows back as values, digests included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import insert

from guildhall.domain.authors import ModelGrader, ModelRun, Person
from guildhall.domain.judgments import (
    Acceptance,
    BlindGuess,
    Comparison,
    Judgment,
    Severity,
    SeverityRating,
    Usability,
)
from guildhall.domain.picks import Pick
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.tasks import FileRef, Ratings, Specification, Task
from guildhall.domain.values import Value, canonical_json, sha256
from guildhall.grading.design import expert_submission
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdicts import rebuild
from proofs._planted_world import (
    CLAIMS,
    CONTROLS,
    ENDINGS,
    LABELS,
    MODELS,
    PICKED,
    RULES,
    SAMPLES,
    WAVE_OF_MODEL,
    Flags,
    World,
)

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
STUDIES = ("first-wave", "second-wave")
RELEASED = tuple(date(2024, 1, 1) + timedelta(days=180 * model) for model in range(len(MODELS)))
SETTINGS: Sequence[Mapping[str, Any]] = (
    {"model": "planted/one", "settings": {"reasoning_effort": "low"}},
    {"model": "planted/one", "settings": {"reasoning_effort": "high"}},
    {"model": "planted/two", "condition": "plain"},
    {"model": "planted/two"},
)
"""Two pairs of models that differ in one setting each: effort, and the prompt."""
SECTORS = ("Finance", "Government", "Information")
JUDGE = ModelGrader(name="planted-judge")
CODERS = ("first coder", "second coder")
RANKS = ((2, 1), (1, 1), (1, 2))
"""The model's and the expert's, by halves."""
SEVERITIES = tuple(Severity)
SPECIFICATIONS = tuple(Specification)


class Stored(NamedTuple):
    """The study to report on, and the coded reasons a report is given beside the store."""

    study: Study
    reasons: dict[str, dict[str, str]]


def store_world(store: Store, world: World) -> Stored:
    tasks = [_task(world, number) for number in range(len(world.tasks))]
    experts = [work for task in tasks if (work := expert_submission(task)) is not None]
    authors = [[_run(model, sample) for sample in range(1, SAMPLES + 1)] for model in range(len(MODELS))]
    with store.transaction():
        store.add_all([*tasks, *experts])
        works = _write(store, Submission, _submissions(world, tasks, authors))
        base = [experts[task].key for task in world.works.task.tolist()]
        compared = {
            wave: _write(store, Comparison, _comparisons(world, wave, tasks, base, works))
            for wave in range(len(STUDIES))
        }
        graded = _write(store, Judgment, _graded(world, compared, base, works))
        _write(store, Judgment, _judged(world, compared, base, works))
        _write(store, SeverityRating, _rated(world, works))
        _write(store, Prepared, _prepared(world, works, [one.key for one in experts]))
        _write(store, Pick, _picks(world, tasks, works))
        study = _studies(store, world, tasks, authors, works)
    rebuild(store)
    return Stored(study, _codes(world, graded))


def _task(world: World, number: int) -> Task:
    facts = world.tasks
    occupation = int(facts.occupation[number])
    return Task(
        id=f"task-{number:03d}",
        sector=SECTORS[occupation // 2],
        occupation=f"Occupation {occupation}",
        brief="Do it.",
        expert_files=(FileRef(name=f"work.{ENDINGS[facts.ending[number]]}"),),
        expert_hours=float(facts.hours[number]),
        hourly_wage_usd=float(facts.wage[number]),
        reference_files=(FileRef(name="data.csv"),) if facts.references[number] else (),
        ratings=Ratings(specification=SPECIFICATIONS[facts.specification[number]]),
    )


def _run(model: int, sample: int) -> ModelRun:
    return ModelRun(name=MODELS[model], sample=sample, **SETTINGS[model])


def _form(value: Value) -> dict[str, Any]:
    filled: dict[str, Any] = json.loads(value.canonical())
    return filled


Rows = Iterable[tuple[object, dict[str, Any], dict[str, Any]]]
"""What the row is of, its body, and the columns one searches by; a key where it is not the digest."""


def _write(store: Store, kind: type[Value], rows: Rows) -> dict[Any, str]:
    """Write bodies; the key of each, by what it is of."""
    keys: dict[Any, str] = {}
    made = []
    for name, body, columns in rows:
        written = canonical_json(body)
        row = {"digest": sha256(written), "body": written.decode(), **columns}
        row.setdefault("key", row["digest"])
        keys[name] = row["key"]
        made.append(row)
    if made:
        with store.transaction() as connection:
            connection.execute(insert(shelf_of(kind).table), made)
    return keys


def _submissions(world: World, tasks: Sequence[Task], authors: Sequence[Sequence[ModelRun]]) -> Rows:
    works = world.works
    forms = [
        [
            _form(
                Submission(
                    task="t", author=run, files=(FileRef(name="w"),), seconds=1, usage=Usage(cost_usd=1), confidence=1
                )
            )
            for run in runs
        ]
        for runs in authors
    ]
    keys = [[run.key for run in runs] for runs in authors]
    columns = (works.task, works.model, works.sample, works.seconds, works.usd, works.confidence)
    for at, (task, model, sample, seconds, usd, claim) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        form = forms[model][sample]
        file = {**form["files"][0], "name": f"work.{ENDINGS[world.tasks.ending[task]]}"}
        body = {
            **form,
            "task": tasks[task].id,
            "files": [file],
            "seconds": seconds,
            "usage": {**form["usage"], "cost_usd": usd},
            "confidence": float(CLAIMS[claim]),
        }
        yield at, body, {"task": tasks[task].id, "author": keys[model][sample], "replaces": None}


def _comparisons(world: World, wave: int, tasks: Sequence[Task], base: Sequence[str], works: Mapping[int, str]) -> Rows:
    """Every work of the wave's own models, and the anchors whose grades came."""
    own = np.flatnonzero(WAVE_OF_MODEL[world.works.model] == wave).tolist()
    again = np.unique(world.grades.work[world.grades.anchor]).tolist() if wave else []
    form = _form(Comparison(study=STUDIES[wave], task="t", submissions=("0" * 64, "1" * 64)))
    for work in (*own, *again):
        task = tasks[world.works.task[work]].id
        yield (
            work,
            {**form, "task": task, "submissions": [base[work], works[work]]},
            {
                "study": STUDIES[wave],
                "task": task,
            },
        )


def _graded(
    world: World, compared: Mapping[int, Mapping[int, str]], base: Sequence[str], works: Mapping[int, str]
) -> Rows:
    person = Person(code_name="g")
    usable = Usability(place="A", acceptance=Acceptance.AS_IS)
    form = _form(
        Judgment(
            comparison="0" * 64,
            grader=person,
            order=("1" * 64, "2" * 64),
            ranks=(1, 2),
            reason="Because of what it says.",
            usability=(usable,),
            guess=BlindGuess.A,
            exposure=1,
            active_s=1,
            made_at=MOMENT,
        )
    )
    grades = world.grades
    names = ("work", "wave", "grader", "halves", "first", "guess", "accepted", "exposure", "active_s")
    columns = (getattr(grades, name).tolist() for name in names)
    for at, (work, wave, grader, halves, first, guess, accepted, exposure, active) in enumerate(
        zip(*columns, strict=True)
    ):
        comparison, name = compared[wave][work], f"grader-{grader}"
        said = Acceptance.AS_IS if accepted else Acceptance.AFTER_EDITS
        # A right guess names the expert's place, which is B where the model stands first.
        named = ("B" if first else "A") if guess > 0 else ("A" if first else "B")
        body = {
            **form,
            **_ordered(first, base[work], works[work], halves),
            "comparison": comparison,
            "grader": {**form["grader"], "code_name": name},
            "usability": [{**form["usability"][0], "place": "A" if first else "B", "acceptance": said.value}],
            "guess": named if guess else BlindGuess.CANNOT_TELL.value,
            "exposure": exposure,
            "active_s": active,
        }
        found_by = {"comparison": comparison, "grader": f"person:{name}", "failed": False, "replaces": None}
        yield at, body, {**found_by, "place": None}


def _judged(
    world: World, compared: Mapping[int, Mapping[int, str]], base: Sequence[str], works: Mapping[int, str]
) -> Rows:
    """Each work in both orders: of a judge whole rounds count."""
    form = _form(Judgment(comparison="0" * 64, grader=JUDGE, order=("1" * 64, "2" * 64), ranks=(1, 2), made_at=MOMENT))
    for first, verdicts in zip((True, False), world.works.verdicts.tolist(), strict=True):
        for work, (model, halves) in enumerate(zip(world.works.model.tolist(), verdicts, strict=True)):
            comparison = compared[int(WAVE_OF_MODEL[model])][work]
            body = {**form, **_ordered(first, base[work], works[work], halves), "comparison": comparison}
            place = sha256(canonical_json([comparison, JUDGE.key, body["order"], body["sweep"]]))
            columns = {"comparison": comparison, "grader": JUDGE.key, "failed": False, "replaces": None}
            yield (work, first), body, {**columns, "place": place}


def _ordered(first: bool, expert: str, own: str, halves: int) -> dict[str, Any]:
    ranks = RANKS[halves]
    return {"order": [own, expert], "ranks": ranks} if first else {"order": [expert, own], "ranks": ranks[::-1]}


def _rated(world: World, works: Mapping[int, str]) -> Rows:
    form = _form(
        SeverityRating(
            study=STUDIES[1],
            submission="0" * 64,
            grader=Person(code_name="r"),
            severity=Severity.BAD,
            reason="It is so.",
            made_at=MOMENT,
        )
    )
    rows = world.severities
    columns = (rows.work, rows.rater, rows.rating, rows.control)
    for at, (work, rater, rating, control) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        name = f"rater-{rater}"
        body = {
            **form,
            "submission": works[work],
            "grader": {**form["grader"], "code_name": name},
            "severity": SEVERITIES[rating].value,
            "control": control,
            "sampling_rate": CONTROLS if control else 1.0,
        }
        yield at, body, {"study": STUDIES[1], "submission": works[work], "grader": f"person:{name}"}


def _prepared(world: World, works: Mapping[int, str], experts: Sequence[str]) -> Rows:
    form = _form(Prepared(subject="0" * 64, version="planted", files=(PreparedFile(kind="text", ending="docx"),)))

    def row(subject: str, file: Mapping[str, Any]) -> tuple[object, dict[str, Any], dict[str, Any]]:
        body = {**form, "subject": subject, "files": [{**form["files"][0], **file}]}
        columns = {"subject": subject, "key": f"{subject}:planted", "words": 0, "tells": len(file["tells"])}
        return subject, body, columns

    def faults(broken: Flags) -> dict[str, int]:
        return {rule: 1 for rule, found in zip(RULES, broken.tolist(), strict=True) if found}

    mine, facts, hint = world.works, world.tasks, ["the maker is named"]
    for work, (task, tells) in enumerate(zip(mine.task.tolist(), mine.tells.tolist(), strict=True)):
        found, ending = faults(mine.broken[:, work]), ENDINGS[facts.ending[task]]
        yield row(works[work], {"ending": ending, "findings": found, "tells": hint if tells else []})
    for task, (expert, tells) in enumerate(zip(experts, facts.expert_tells.tolist(), strict=True)):
        found, ending = faults(facts.expert_broken[:, task]), ENDINGS[facts.ending[task]]
        yield row(expert, {"ending": ending, "findings": found, "tells": hint if tells else []})


def _picks(world: World, tasks: Sequence[Task], works: Mapping[int, str]) -> Rows:
    form = _form(
        Pick(task="t", author="a", judge=JUDGE, order=("0" * 64, "1" * 64), chosen="0" * 64, seed=1, made_at=MOMENT)
    )
    mine = world.works
    for work in np.flatnonzero(np.isin(mine.model, PICKED) & (mine.sample == 0)).tolist():
        task, author = tasks[mine.task[work]].id, MODELS[mine.model[work]]
        order = [works[work], works[work + 1]]
        body = {**form, "task": task, "author": author, "order": order, "chosen": order[0 if mine.picked[work] else 1]}
        yield work, body, {"task": task, "author": author}


def _studies(
    store: Store, world: World, tasks: Sequence[Task], authors: Sequence[Sequence[ModelRun]], works: Mapping[int, str]
) -> Study:
    """Both waves, frozen; the second is the one to report on. Its limit lets the waves be pooled whatever is seen."""
    keys = tuple(task.key for task in tasks)
    made: list[Study] = []
    for wave, name in enumerate(STUDIES):
        own = [model for model in range(len(MODELS)) if WAVE_OF_MODEL[model] == wave]
        design: dict[str, Any] = {"released": {MODELS[model]: RELEASED[model].isoformat() for model in own}}
        if made:
            again = np.unique(world.grades.work[world.grades.anchor]).tolist()
            design["extends"] = {
                "study": made[0].id,
                "key": made[0].key,
                "anchors": [works[work] for work in again],
                "drift_limit": 1.0,
            }
        runs = tuple(run for model in own for run in authors[model])
        made.append(Study(id=name, title="A planted study", seed=1, tasks=keys, authors=runs, design=design))
    store.add_all(made)
    return made[-1]


def _codes(world: World, graded: Mapping[int, str]) -> dict[str, dict[str, str]]:
    """What each coder made of which judgment's words."""
    by_coder = zip(CODERS, (world.grades.label, world.grades.second_label), strict=True)
    return {
        coder: {graded[at]: LABELS[label] for at, label in enumerate(labels.tolist()) if label >= 0}
        for coder, labels in by_coder
    }


def check(store: Store, *, every: int = 97) -> int:
    """Rows read back as values of their kind, under their own digests and with their own columns; how many."""
    seen = 0
    for kind in (Submission, Comparison, Judgment, SeverityRating, Prepared, Pick):
        shelf = shelf_of(kind)
        with store.reading() as connection:
            for row in connection.execute(shelf.table.select().where(shelf.table.c.seq % every == 1)).mappings():
                value = kind.model_validate_json(row["body"])
                assert shelf.row(value) == {name: cell for name, cell in row.items() if name != "seq"}, row
                seen += 1
    return seen
