"""Studies made up for tests: text-only work, judged as the test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from guildhall.domain.authors import ModelGrader, ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.grading.design import expert_submission
from guildhall.store.workspace import Workspace

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
SECTORS = ("Information", "Government")
RANKS = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}

Scores = Mapping[str, Sequence[Sequence[float]]]
"""Model -> for each task, its scores against the expert, one a grader."""


def task(number: int, **facts: Any) -> Task:
    base = {
        "id": f"t-{number}",
        "sector": SECTORS[number % 2],
        "occupation": "Editors",
        "brief": "Write a note.",
        "expert_text": "A careful note.",
        "expert_hours": 1 + number,
    }
    return Task.model_validate(base | facts)


def judged_study(
    workspace: Workspace,
    identity: str,
    scores: Scores,
    *,
    runs: Mapping[str, Mapping[str, Any]] | None = None,
    design: Mapping[str, Any] | None = None,
    tasks: Sequence[Task] = (),
    files: Mapping[str, tuple[FileRef, ...]] | None = None,
) -> Study:
    """A study whose judgments are the given scores; `runs` holds settings of models."""
    tasks = tasks or [task(number) for number in range(max(len(rows) for rows in scores.values()))]
    workspace.store.add_all(tasks)
    authors = {name: ModelRun(name=name, **{"model": f"made/{name}", **(runs or {}).get(name, {})}) for name in scores}
    for name, rows in scores.items():
        for one, given in zip(tasks, rows, strict=False):
            expert = expert_submission(one)
            assert expert is not None
            made = Submission(
                task=one.id, author=authors[name], text=f"Note by {name}.", files=(files or {}).get(name, ())
            )
            compared = Comparison(study=identity, task=one.id, submissions=(expert.key, made.key))
            workspace.store.add_all([expert, made, compared])
            workspace.store.add_all(_judgment(compared, n, score) for n, score in enumerate(given))
    study = Study(
        id=identity,
        title=f"The study {identity}",
        seed=1,
        tasks=tuple(one.key for one in tasks),
        authors=tuple(authors.values()),
        design=dict(design or {}),
    )
    workspace.store.add(study)
    return study


def _judgment(compared: Comparison, number: int, score: float) -> Judgment:
    expert, model = compared.submissions
    order = (model, expert) if number % 2 == 0 else (expert, model)
    ranks = RANKS[score] if order[0] == model else RANKS[score][::-1]
    grader = Person(code_name=f"g-{compared.study}-{compared.task}-{number}")
    return Judgment(comparison=compared.key, grader=grader, order=order, ranks=ranks, made_at=MOMENT)


def judged_by_program(workspace: Workspace, study: str, *, wins: int) -> None:
    """A judge, asked in both orders, gives the model the win in the first so many comparisons and in no other."""
    grader = ModelGrader(name="judge", model="scripted/judge", prompt_digest="0" * 64)
    for number, comparison in enumerate(workspace.store.find(Comparison, study=study)):
        ranks = (2, 1) if number < wins else (1, 2)
        said = {"comparison": comparison.key, "grader": grader, "made_at": MOMENT, "reason": "so"}
        for order, given in ((comparison.submissions, ranks), (comparison.submissions[::-1], ranks[::-1])):
            workspace.store.add(Judgment.model_validate(said | {"order": order, "ranks": given}))
