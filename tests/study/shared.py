"""A study of which people grade a drawn share and a judge all: laid out by the package, judged as a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from guildhall.domain.authors import GraderKind, ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import StopReason, Submission
from guildhall.domain.tasks import Task
from guildhall.grading.judges.asking import orders
from guildhall.grading.opening import layout_of
from guildhall.grading.queue import Queue
from guildhall.store.workspace import Workspace
from guildhall.study.judges import graders_of
from guildhall.study.judging import queued
from guildhall.study.studies import OpenStudy

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
RANKS = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}
Verdicts = Callable[[str, str, int], float | None]
"""Model, task and number of the grading -> its score against the expert; None where none is given."""

FILE = """
[study]
id = "shared"
title = "A shared study"
seed = {seed}
rehearsal = {rehearsal}

{authors}
[[judges]]
name = "juror"
model = "mockllm/juror"

[grading]
sweeps = 1

[people]
share = {share}
graders_per_set = {k}
exposure_limit = 50
{plan}
"""


@dataclass(frozen=True)
class Shared:
    """The open study and its workspace."""

    study: OpenStudy
    workspace: Workspace


def shared_study(
    folder: Path,
    *,
    tasks: int = 40,
    models: tuple[str, ...] = ("alpha", "beta"),
    share: float = 0.25,
    k: int = 2,
    seed: int = 1,
    nothing: Callable[[str, str], bool] = lambda _model, _task: False,
    web: Callable[[int], bool] = lambda _number: False,
    plan: str = "",
    rehearsal: bool = False,
) -> Shared:
    """Tasks, work of every model and the frozen study; nobody has judged. `web`: tasks no program can grade."""
    workspace = Workspace.create(folder)
    workspace.store.add_all(
        Task(
            id=f"t-{number:03d}",
            sector="Information",
            occupation=("Editors", "Actuaries")[number % 2],
            brief="Search the web for the price." if web(number) else "Write a note.",
            expert_text=f"A careful note {number}.",
            expert_hours=2.0,
        )
        for number in range(tasks)
    )
    authors = "\n".join(
        f'[[authors]]\nname = "{name}"\nmodel = "scripted/{name}"\ntools = "none"\nsamples = 1\n' for name in models
    )
    path = folder / "study.toml"
    text = FILE.format(seed=seed, authors=authors, share=share, k=k, plan=plan, rehearsal=str(rehearsal).lower())
    path.write_text(text)
    study = OpenStudy.open(path, workspace)
    study.freeze()
    for item in study.items:
        left = {"stop": StopReason.NOTHING_DELIVERED} if nothing(item.author.name, item.task.id) else {}
        text = "" if left else f"{item.author.name} on {item.task.id}"
        workspace.store.add(Submission(task=item.task.id, author=item.author, text=text, **left))
    return Shared(study, workspace)


def people_judge(shared: Shared, said: Verdicts, *, graders: int = 6, kind: GraderKind = GraderKind.EXPERT) -> int:
    """Every drawn grading is given as `said`, by graders in turn; how many slots there were."""
    store = shared.workspace.store
    layout = layout_of(shared.workspace, shared.study.frozen())
    store.add_all(layout.comparisons)
    Queue(store).plan(layout.slots)
    shown = {one.key: one for one in layout.comparisons}
    made, given = [], dict[str, int]()
    for at, slot in enumerate(layout.slots):
        number = given[slot.comparison] = given.get(slot.comparison, -1) + 1
        score = said(_model(shared, shown[slot.comparison]), slot.task, number)
        if score is not None:
            who = Person(code_name=f"g-{at % graders}", grader_kind=kind)
            made.append(_judgment(shown[slot.comparison], slot.order, score, who))
    store.add_all(made)
    return len(layout.slots)


def judge_judges(shared: Shared, said: Verdicts) -> None:
    """The judge gives every verdict as `said`: number 0 with the expert first, number 1 with the model first."""
    [grader, *_] = next(one for one in graders_of(shared.study) if one.name == "juror").graders()
    made = []
    for comparison in queued(shared.study).comparisons:
        for number, order in enumerate(orders(comparison)):
            score = said(_model(shared, comparison), comparison.task, number)
            made.append(_judgment(comparison, tuple(order), score, grader))
    shared.workspace.store.add_all(made)


def _model(shared: Shared, comparison: Comparison) -> str:
    author = shared.workspace.store.get(Submission, comparison.submissions[1]).author
    assert isinstance(author, ModelRun)
    return author.name


def _judgment(comparison: Comparison, order: tuple[str, ...], score: float | None, who: object) -> Judgment:
    model = comparison.submissions[1]
    ranks = None if score is None else RANKS[score] if order[0] == model else RANKS[score][::-1]
    failure = {"failure": "unreadable"} if ranks is None else {}
    return Judgment(comparison=comparison.key, grader=who, order=order, ranks=ranks, made_at=MOMENT, **failure)
