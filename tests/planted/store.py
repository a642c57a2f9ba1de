"""`planted_store`: from one seed a small workspace that holds everything a study may hold, and its ledger.

Studies are laid out by the package itself, so that a planted store has the shape of a real one; who said what is drawn
here and put on the shelves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from guildhall.domain.authors import Expert, GraderKind, ModelRun
from guildhall.domain.halls import Member, Role
from guildhall.domain.judges import Gradability
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import StopReason, Submission, Usage
from guildhall.domain.tasks import Task
from guildhall.grading.design import expert_submission
from guildhall.grading.gold import gold_comparison
from guildhall.grading.opening import layout_of
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.store.secret import KEY_FILE
from guildhall.store.workspace import Workspace
from guildhall.study.judges import graders_of
from guildhall.study.judging import queued
from guildhall.study.studies import OpenStudy
from tests.planted.graders import judge_by_people, judge_by_programs, judge_gold
from tests.planted.ledger import CONSTANTS, Planted, PlantedStudy

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = ("alpha", "beta", "gamma")
PEOPLE = {
    **{f"expert-{number}": GraderKind.EXPERT for number in range(4)},
    **{f"student-{number}": GraderKind.STUDENT for number in range(2)},
    "simulated-0": GraderKind.SIMULATED,
}
NOTHING: tuple[dict[str, object], ...] = (
    {"stop": StopReason.NOTHING_DELIVERED, "text": "The note is in note.docx."},
    {"stop": StopReason.REFUSED, "text": "I cannot help with that."},
    {"stop": StopReason.TIME_LIMIT},
    {"stop": StopReason.FINISHED, "text": " \n"},
)
OCCUPATIONS = ("Editors", "Actuaries")
SECTORS = ("Information", "Finance")


@dataclass(frozen=True)
class Shape:
    """What varies from store to store; everything else is in each of them."""

    tasks: int
    models: int = 3
    samples: int = 2
    baseline: str = "expert"
    set_size: int = 2
    judges_set_size: int = 2
    people: bool = True
    sweeps: int = 2
    wave: bool = False
    revised: bool = False
    """Some tasks get a second wording in the bank after the study was frozen."""
    nothing: float = 0.0
    """The share of tries that left nothing to judge."""

    @classmethod
    def drawn(cls, rng: Random) -> Shape:
        models, size = rng.choice((2, 3, 3)), rng.choice((2, 2, 3, 4))
        return cls(
            tasks=rng.choice((5, 6, 7, 8, 9, 10, 12)) if rng.random() < 0.95 else 24,
            models=models,
            samples=rng.choice((1, 2)),
            baseline=rng.choice(("expert", "expert", "alpha")),
            set_size=size,
            judges_set_size=rng.choice((2, size)),
            people=rng.random() < 0.85,
            sweeps=rng.choice((1, 2)),
            wave=rng.random() < 0.4,
            revised=rng.random() < 0.5,
            nothing=rng.choice((0.0, 0.05, 0.3)),
        )


def planted_store(seed: int, folder: Path, *, shape: Shape | None = None) -> Planted:
    """A workspace under `folder` and the ledger of everything in it: the same seed and shape, the same judgments."""
    rng = Random(f"planted {seed}")
    shape = shape or Shape.drawn(rng)
    planted = Planted(seed, folder)
    planted.workspace.mkdir(parents=True)
    # The orders of sides are drawn under the workspace's secret: the same store each time has the same one.
    (planted.workspace / KEY_FILE).write_bytes(f"planted {seed}".encode().ljust(32))
    with Workspace.create(planted.workspace) as workspace, workspace.store.transaction():
        tasks = _tasks(workspace, shape, rng)
        _people(workspace)
        _plant_first(workspace, planted, shape, tasks, rng)
        if shape.wave and shape.people:
            _plant_wave(workspace, planted, shape, tasks, rng)
        _ungradable(workspace, planted, tasks, rng)
        if shape.revised:
            _revise(workspace, tasks, rng)
    return planted


def _tasks(workspace: Workspace, shape: Shape, rng: Random) -> list[Task]:
    """Two occupations; one task has no expert's work, one asks for the internet, one is not in English."""
    tasks = [
        Task(
            id=f"t-{number:02d}",
            sector=SECTORS[number % 2],
            occupation=OCCUPATIONS[number % 2],
            brief="Search the web for the price." if number == 1 else f"Write note {number}.",
            expert_text=None if number == 2 else f"A careful note {number}.",
            expert_hours=float(rng.randint(1, 9)),
            hourly_wage_usd=40.0,
            languages=("de",) if number == 3 else ("en",),
        )
        for number in range(shape.tasks)
    ]
    workspace.store.add_all(tasks)
    return tasks


def _people(workspace: Workspace) -> None:
    roster = Roster(workspace.store, pepper=b"planted")
    for name, kind in PEOPLE.items():
        member = Member(
            id=name, code_name=name, role=Role.GRADER, grader_kind=kind, occupations=OCCUPATIONS, quiz_passed=True
        )
        roster.invite(member, personal={})


def _plant_first(
    workspace: Workspace, planted: Planted, shape: Shape, tasks: Sequence[Task], rng: Random
) -> PlantedStudy:
    path = planted.folder / "study.toml"
    path.write_text(_study_file(shape))
    works = _work(workspace, planted, shape, OpenStudy.open(path, workspace), rng)
    gold = _gold(tasks, works)
    path.write_text(_study_file(shape) + gold)
    return _judged(workspace, planted, shape, path, rng, works)


def _plant_wave(
    workspace: Workspace, planted: Planted, shape: Shape, tasks: Sequence[Task], rng: Random
) -> PlantedStudy:
    """A later wave: one author more, and a share of the judged pairs judged again."""
    path = planted.folder / "wave.toml"
    limit = rng.choice((0.01, 1.0))
    path.write_text(
        f'[study]\nid = "wave"\ntitle = "A later wave"\nseed = {planted.seed}\n'
        f'[extends]\nfile = "study.toml"\nanchors = 0.4\ndrift_limit = {limit}\n'
        f'[[authors]]\nname = "delta"\nmodel = "scripted/delta"\ntools = "none"\nsamples = {shape.samples}\n'
    )
    works = _work(workspace, planted, shape, OpenStudy.open(path, workspace), rng)
    return _judged(workspace, planted, shape, path, rng, works)


def _study_file(shape: Shape) -> str:
    authors = "\n".join(
        f'[[authors]]\nname = "{name}"\nmodel = "scripted/{name}"\ntools = "none"\nsamples = {shape.samples}\n'
        for name in MODELS[: shape.models]
    )
    judges = "\n".join(f'[[judges]]\nname = "{name}"\nmodel = "mockllm/{name}"\n' for name in ("judge-a", "judge-b"))
    return f"""
[study]
id = "study"
title = "A planted study"
seed = 7
baseline = "{shape.baseline}"

{authors}
{judges}
[grading]
sweeps = {shape.sweeps}
set_size = {shape.judges_set_size}
baselines = {list(CONSTANTS)}

[people]
graders_per_set = 4
set_size = {shape.set_size}
exposure_limit = 2
"""


def _gold(tasks: Sequence[Task], works: Sequence[Submission]) -> str:
    """A training item and a check: the expert's work is known to be the better."""
    lines = []
    for number, training in ((0, "true"), (4, "false")):
        expert = expert_submission(tasks[number])
        worse = next(one for one in works if one.task == tasks[number].id)
        assert expert is not None
        lines.append(
            f'[[people.gold]]\ntask = "{tasks[number].id}"\nbetter = "{expert.key}"\nworse = "{worse.key}"\n'
            f'explanation = "It is careful."\ntraining = {training}\n'
        )
    return "\n" + "\n".join(lines)


def _work(workspace: Workspace, planted: Planted, shape: Shape, study: OpenStudy, rng: Random) -> list[Submission]:
    """Everybody's work: now and then a provider failed, or an earlier try was replaced, or nothing came of it."""
    made: list[Submission] = []
    for number, item in enumerate(study.items):
        facts = {
            "task": item.task.id,
            "author": item.author,
            "seconds": float(rng.randint(10, 900)),
            "usage": Usage(cost_usd=rng.randint(1, 90) / 100),
            "confidence": float(rng.randint(0, 100)),
        }
        if rng.random() < 0.04 and number:
            made.append(Submission(**facts, stop=StopReason.PROVIDER_FAILED))
            continue
        if shape.nothing and rng.random() < shape.nothing:
            made.append(Submission(**facts, **rng.choice(NOTHING)))
            continue
        text = f"{item.author.name} {item.author.sample} on {item.task.id}" + " again" * rng.randint(0, 9)
        if rng.random() < 0.05:
            made.append(Submission(**facts, text=f"{text}, a first try"))
            facts["replaces"] = made[-1].key
        made.append(Submission(**facts, text=text))
    workspace.store.add_all(made)
    planted.submissions |= {one.key: one for one in made}
    return made


def _judged(
    workspace: Workspace, planted: Planted, shape: Shape, path: Path, rng: Random, works: Sequence[Submission]
) -> PlantedStudy:
    """The study frozen, laid out for people and for judges, and judged by everybody."""
    opened = OpenStudy.open(path, workspace)
    form = opened.freeze()
    keys = {one.name: frozenset(grader.key for grader in one.graders()) for one in graders_of(opened)}
    study = PlantedStudy(form, path, keys)
    planted.studies.append(study)
    layout, for_judges = layout_of(workspace, form), queued(opened).comparisons
    for task in form.tasks:
        if (expert := expert_submission(workspace.store.get(Task, task))) is not None:
            planted.submissions[expert.key] = expert
    stray = _of_an_earlier_form(study, planted, works)
    compared = [*layout.comparisons, *for_judges, *stray]
    study.comparisons |= {one.key: one for one in compared}
    workspace.store.add_all(compared)
    if shape.people:
        Queue(workspace.store).plan(layout.slots)
        judge_by_people(workspace, planted, study, layout.slots, stray, rng)
    judge_by_programs(planted, study, for_judges, plans=opened.judges.plans, sweeps=shape.sweeps, rng=rng)
    workspace.store.add_all(study.judgments)
    _play_gold(workspace, planted, study, rng)
    return study


def _of_an_earlier_form(study: PlantedStudy, planted: Planted, works: Sequence[Submission]) -> list[Comparison]:
    """Two sets that show no baseline's work, as a form of the study with another baseline would have laid them out, and
    sets with work that left nothing to judge, as older forms did."""
    stray = [
        Comparison(study=study.id, task=one.task, submissions=(base.key, one.key))
        for one in works
        if one.stop in {StopReason.NOTHING_DELIVERED, StopReason.REFUSED}
        for base in planted.submissions.values()
        if base.task == one.task and isinstance(base.author, Expert) and study.baseline == "expert"
    ][:2]
    for task in sorted(study.pins)[:2]:
        shown = [
            one.key
            for one in works
            if one.task == task and isinstance(one.author, ModelRun) and one.author.name != study.baseline and one.text
        ]
        if len(shown) > 1:
            stray.append(Comparison(study=study.id, task=task, submissions=tuple(shown[:2])))
    return stray


def _play_gold(workspace: Workspace, planted: Planted, study: PlantedStudy, rng: Random) -> None:
    gold = [gold_comparison(study.id, item) for item in study.form.design.hall.gold]
    workspace.store.add_all(gold)
    planted.gold |= {one.key: one for one in gold}
    planted.gold_judgments += (made := judge_gold(gold, rng))
    workspace.store.add_all(made)


def _ungradable(workspace: Workspace, planted: Planted, tasks: Sequence[Task], rng: Random) -> None:
    """By rule tasks 1 and 3; then people's words, of which the newest counts, in whatever order they were kept."""
    out = {tasks[1].id, tasks[3].id}
    words = []
    for task in rng.sample(list(tasks), 3):
        said = [rng.random() < 0.5 for _ in range(rng.choice((1, 2)))]
        words += [
            Gradability(
                task=task.id, gradable=gradable, reason="I tried.", by="p-0", made_at=MOMENT + timedelta(days=day)
            )
            for day, gradable in enumerate(said)
        ]
        (out.discard if said[-1] else out.add)(task.id)
    rng.shuffle(words)
    workspace.store.add_all(words)
    planted.ungradable = out


def _revise(workspace: Workspace, tasks: Sequence[Task], rng: Random) -> None:
    """A second wording of a few tasks, with another expert's text, another sector and other hours."""
    for task in rng.sample(list(tasks), 2):
        workspace.store.add(
            task.but(
                version=2, brief="Do it anew.", expert_text="Another note.", sector="Government", expert_hours=99.0
            )
        )
