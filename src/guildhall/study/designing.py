"""A new study of work that is already there: what may be chosen, what the choice would take, and freezing it.

The command line reads a study file, which also says how models are sampled. Here a manager chooses among tasks and
finished work, sees what people would be asked for, and keeps the study; nothing is sampled and no model is called.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tomlkit

from guildhall.domain.authors import ModelRun
from guildhall.domain.design import FORMAT, Blinding, Design, PlanChoices, TaskChoice
from guildhall.domain.halls import HallDesign, Member
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, Line, Value
from guildhall.errors import InputError
from guildhall.grading.design import Layout, Staffing, expert_submission, staffing
from guildhall.grading.opening import layout_of, pool_of
from guildhall.sampling.authors import HERE
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.study.studies import chosen_tasks, finished_runs


class Wish(Value):
    """What a manager asks for: which tasks, whose work on them, and the rules of human grading."""

    id: Id
    title: Line
    seed: int = 1
    tasks: TaskChoice = TaskChoice()
    authors: tuple[Id, ...] = ()
    baseline: Id = "expert"
    blinding: Blinding = "two-person"
    people: HallDesign = HallDesign()


class OnOffer:
    """Tasks whose review is complete and the finished work on them."""

    def __init__(self, workspace: Workspace, wanted: TaskChoice) -> None:
        self.workspace, self.tasks = workspace, chosen_tasks(workspace, wanted)

    @cached_property
    def runs(self) -> list[tuple[Submission, ModelRun]]:
        """Models' work on these wordings."""
        return finished_runs(self.workspace, self.tasks)

    def authors(self) -> dict[str, int]:
        """Name -> on how many of the tasks there is work of theirs; `expert` is among them."""
        tasks: dict[str, set[str]] = defaultdict(set)
        for task in self.tasks:
            if task.expert_files or task.expert_text:
                tasks["expert"].add(task.id)
        for submission, author in self.runs:
            tasks[author.name].add(submission.task)
        return {name: len(tasks[name]) for name in sorted(tasks, key=lambda name: (name != "expert", name))}

    def works_on(self, task: Id) -> dict[str, str]:
        """Whose work on one task -> its key, which no page shows: it would lead from a code name to a model."""
        found: dict[str, str] = {}
        expert = next((expert_submission(one) for one in self.tasks if one.id == task), None)
        if expert:
            found["expert"] = expert.key
        for one, author in self.runs:
            if one.task == task:
                name = f"{author.name}, sample {author.sample}"
                again = sum(other == name or other.startswith(f"{name} (") for other in found)
                found[f"{name} ({again + 1})" if again else name] = one.key
        return found


def groups_of(tasks: Iterable[Task]) -> tuple[dict[str, int], dict[str, int]]:
    """Sector -> tasks, and occupation -> tasks."""
    every = list(tasks)
    sectors, occupations = (Counter(getattr(one, name) for one in every) for name in ("sector", "occupation"))
    return dict(sorted(sectors.items())), dict(sorted(occupations.items()))


@dataclass(frozen=True)
class Preview:
    """What a study would take, told before it is frozen."""

    study: Study
    layout: Layout
    staff: Staffing
    pool: dict[str, int]
    """Graders at hand, an occupation."""

    @property
    def judged_tasks(self) -> int:
        return len({slot.task for slot in self.layout.slots})


def wished_study(workspace: Workspace, wish: Wish) -> Study:
    """The study as it would be kept."""
    offer = OnOffer(workspace, wish.tasks)
    if unknown := {*wish.authors, wish.baseline} - {"expert", *(author.name for _, author in offer.runs)}:
        raise InputError(f"there is no finished work of {min(unknown)!r} on the chosen tasks")
    compared = {*wish.authors, wish.baseline}
    authors = {author.key: author for _, author in offer.runs if author.name in compared}
    # To the byte as a file's design would be: a study begun either way is the same study.
    said = {"tasks": wish.tasks, "baseline": wish.baseline, "blinding": wish.blinding, "people": wish.people}
    design = Design.model_validate({"format": FORMAT, "prices": {}, "released": {}, **said})
    return Study(
        id=wish.id,
        title=wish.title,
        seed=wish.seed,
        tasks=tuple(task.key for task in offer.tasks),
        authors=tuple(authors[key] for key in sorted(authors)),
        design=design.planned(PlanChoices(), authors=[author.name for author in authors.values()]),
    ).drawn()


def without_none(said: Any) -> Any:
    """TOML has no null: what is unknown is left out."""
    if isinstance(said, dict):
        return {name: without_none(part) for name, part in said.items() if part is not None}
    return [without_none(part) for part in said] if isinstance(said, list) else said


def file_of_study(store: Store, study: Study) -> str:
    """A study file of a study that was begun without one, such as in the browser: read again, it is that very study.

    Its authors' work is what the workspace holds. One whose work is made by its file, or that has judges, began from a
    file, which says more than was kept.
    """
    design = study.design
    made = {one.author.key for key in study.tasks for one in store.find(Submission, task=key.id) if one.task_key == key}
    if design.extends or design.judges or design.panel or not {author.key for author in study.authors} <= made:
        raise InputError(
            f"study {study.id!r} began from a file, which says how its work is made and judged; use that file"
        )
    about = {"id": study.id, "title": study.title, "seed": study.seed}
    about |= {name: said for name, said in (("baseline", design.baseline), ("blinding", design.blinding)) if said}
    sections: dict[str, Any] = {"study": about | ({"rehearsal": True} if design.rehearsal else {})}
    for name, part in (("tasks", design.tasks), ("people", design.people)):
        if part is not None:
            sections[name] = without_none(part.model_dump(mode="json", exclude_defaults=True))
    if design.plan is not None:
        chosen = PlanChoices.model_validate({name: getattr(design.plan, name) for name in PlanChoices.model_fields})
        sections["plan"] = without_none(chosen.model_dump(mode="json", exclude_defaults=True))
    if design.prices:
        sections["prices"] = {
            name: without_none(price.model_dump(mode="json")) for name, price in design.prices.items()
        }
    names = dict.fromkeys(author.name for author in study.authors)
    released = {name: {"released": day} for name, day in design.released.items()}
    authors = [{"name": name, "from": str(HERE), **released.get(name, {})} for name in names]
    return tomlkit.dumps({**{name: part for name, part in sections.items() if part}, "authors": authors})


def preview_of(workspace: Workspace, wish: Wish, members: Sequence[Member]) -> Preview:
    """Gradings, hours, money and graders, held against the roster; the same sums as `guildhall people open`."""
    study = wished_study(workspace, wish)
    layout, design = layout_of(workspace, study), study.design.hall
    pool = pool_of(members, {slot.occupation for slot in layout.slots}, design)
    return Preview(study, layout, staffing(layout, design, pool=pool), pool)


def why_not_freeze(preview: Preview) -> str | None:
    """Why the study makes no sense yet. A pool that falls short is no such reason: people can be invited."""
    if preview.layout.slots:
        return None
    without, tasks = len(preview.layout.without_expert), len(preview.study.tasks)
    lacking = f"on {without} of {tasks} tasks the baseline has no work, on the rest nobody else has"
    return f"there is nothing to compare: {lacking}"


def freeze_wish(workspace: Workspace, preview: Preview) -> Study:
    """Keep the study; its id must be new, since a frozen study does not change."""
    if why := why_not_freeze(preview):
        raise InputError(why)
    study = preview.study
    if workspace.store.count(Study, id=study.id):
        raise InputError(f"there is a study {study.id!r} already; give this one another id")
    workspace.store.add(study)
    return study
