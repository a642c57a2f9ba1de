"""Judgments as rows: one for each model against the baseline in each judgment, with all one may break down by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from guildhall.domain.authors import Expert, ModelRun, Person
from guildhall.domain.judgments import BlindGuess, Comparison, Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.store.records import Store

HOURS = ((2.0, "0-2 h"), (4.0, "2-4 h"), (8.0, "4-8 h"), (float("inf"), "8 h and more"))
AUTOMATIC = "automatic: "
"""Before the name of a judge that is a program: each is a kind of its own, pooled with nobody."""
BREAKDOWNS = {
    "sector": "By sector",
    "occupation": "By occupation",
    "file_type": "By type of deliverable",
    "hours": "By time an expert takes",
    "references": "With and without reference files",
    "specification": "By how well the brief is specified",
    "condition": "By prompt condition",
}


@dataclass(frozen=True)
class Row:
    """One model against the baseline in one judgment."""

    task: str
    model: str
    sample: str
    grader: str
    grader_kind: str
    score: float
    model_place: int
    """0 when the model's work stood at A."""
    guess: int | None
    """1 the grader named the person rightly, -1 wrongly, 0 gave no answer that names one side, None was not asked."""
    active_s: float | None
    exposure: int | None
    confidence: float | None
    """What the author stated about its own work."""
    columns: dict[str, str] = field(default_factory=dict)


@dataclass
class Judged:
    """All rows of a study against one baseline, and the counts of what gave none."""

    rows: list[Row] = field(default_factory=list)
    judgments: int = 0
    failures: int = 0
    surplus: int = 0
    omissions: int = 0
    comparisons: int = 0
    tasks: set[str] = field(default_factory=set)
    submissions: set[str] = field(default_factory=set)


def judged_rows(store: Store, study: str, *, baseline: str = "expert") -> Judged:
    """Rows from the current judgments of a study; a judgment that was replaced is left out."""
    found = Judged()
    tasks = {task.id: task for task in store.each(Task)}
    for comparison in store.each(Comparison, study=study):
        found.comparisons += 1
        made = {key: store.get(Submission, key) for key in comparison.submissions}
        base = next((key for key, one in made.items() if _name(one) == baseline), None)
        if base is None:
            continue
        found.tasks.add(comparison.task)
        found.submissions.update(comparison.submissions)
        for judgment in _current(store.find(Judgment, comparison=comparison.key)):
            found.rows += _rows(judgment, made, base, tasks[comparison.task], found)
    return found


def _current(judgments: list[Judgment]) -> list[Judgment]:
    replaced = {judgment.replaces for judgment in judgments if judgment.replaces}
    return [judgment for judgment in judgments if judgment.key not in replaced]


def _rows(judgment: Judgment, made: dict[str, Submission], base: str, task: Task, found: Judged) -> Iterator[Row]:
    found.judgments += 1
    found.omissions += sum(judgment.omissions.values())
    if judgment.ranks is None:
        found.failures += 1
        return
    if not judgment.planned:
        found.surplus += 1
        return
    for key, submission in made.items():
        outcome = judgment.outcome(key, base) if key != base else None
        if outcome is not None and isinstance(submission.author, ModelRun):
            yield _row(judgment, submission, base, task, outcome.score)


def _row(judgment: Judgment, submission: Submission, base: str, task: Task, score: float) -> Row:
    author, grader = submission.author, judgment.grader
    return Row(
        task=task.id,
        model=_name(submission),
        sample=str(author.sample) if isinstance(author, ModelRun) else "1",
        grader=grader.key,
        grader_kind=str(grader.grader_kind) if isinstance(grader, Person) else f"{AUTOMATIC}{grader.name}",
        score=score,
        model_place=judgment.order.index(submission.key),
        guess=_guess(judgment, base),
        active_s=judgment.active_s,
        exposure=judgment.exposure,
        confidence=submission.confidence,
        columns=_columns(task, submission),
    )


def _name(submission: Submission) -> str:
    author = submission.author
    return "expert" if isinstance(author, Expert) else author.name


def _guess(judgment: Judgment, base: str) -> int | None:
    if judgment.guess is None or len(judgment.order) != 2:
        return None
    if judgment.guess not in {BlindGuess.A, BlindGuess.B}:
        return 0
    named = judgment.order["AB".index(judgment.guess)]
    return 1 if named == base else -1


def _columns(task: Task, submission: Submission) -> dict[str, str]:
    """What a row may be broken down by; an unknown value is absent, never a class of its own."""
    types = sorted({PurePosixPath(file.name).suffix.lower().lstrip(".") for file in submission.files} - {""})
    known = {
        "sector": task.sector,
        "occupation": task.occupation,
        "file_type": "+".join(types) if types else "text only",
        "references": "with reference files" if task.reference_files else "without",
        "hours": _hours(task.expert_hours),
        "specification": str(task.ratings.specification) if task.ratings.specification else None,
        "condition": submission.author.condition if isinstance(submission.author, ModelRun) else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def _hours(hours: float | None) -> str | None:
    return None if hours is None else next(label for limit, label in HOURS if hours < limit)
