"""What is to be sampled: every task by every author, as jobs whose key is everything that may change the outcome."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import canonical_json, sha256
from guildhall.domain.variants import BriefVariant
from guildhall.engine.agents import PROMPT_FILE, AgentJob, PlacedFile
from guildhall.errors import InputError
from guildhall.sampling.authors import AuthorPlan
from guildhall.sampling.collection import REFERENCES
from guildhall.sampling.elicitation import Prompt, Tools
from guildhall.store.work import Work


@dataclass(frozen=True)
class SampleItem:
    """One author's one try at one task.

    `known_as` is its key as made before rooms counted: work done under it is carried on, its environment unknown.
    """

    task: Task
    author: ModelRun
    job: AgentJob
    known_as: str

    @property
    def key(self) -> str:
        return self.job.key


def plan_samples(
    tasks: Sequence[Task],
    authors: Iterable[AuthorPlan],
    *,
    variants: Mapping[TaskKey, BriefVariant] | None = None,
    folder: Path | None = None,
    room: RoomSettings | None = None,
) -> list[SampleItem]:
    """All items, tasks outermost: an early end leaves whole tasks done rather than whole authors missing.

    `variants` are confirmed under-specified briefs by wording; an author that reads them is refused for tasks
    without one. `folder` is where prompt files are looked for. Without a `room` the items are
    those of a study that began before rooms counted.
    """
    told = [
        _Told(author, *(author.instructions(folder=folder, room=one) for one in (room, None))) for author in authors
    ]
    _require_different_names([one.author for one in told])
    items = []
    for task in tasks:
        for author, prompt, before in told:
            brief = _brief(task, author, variants or {})
            runs = zip(author.runs(prompt, room), author.runs(before), strict=True)
            items += [_item(task, author, run, prompt, brief, known_as=_key(task, brief, old)) for run, old in runs]
    return items


class _Told(NamedTuple):
    """An author with what it is told, and what it was told before rooms were asked."""

    author: AuthorPlan
    prompt: Prompt
    before: Prompt


def _require_different_names(authors: Sequence[AuthorPlan]) -> None:
    names = [author.name for author in authors]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two authors are called {name!r}; give each its own name")


def _brief(task: Task, author: AuthorPlan, variants: Mapping[TaskKey, BriefVariant]) -> str:
    if author.brief == "full":
        return task.brief
    variant = variants.get(task.key)
    if variant is None:
        raise InputError(
            f"task {task.id!r} has no confirmed under-specified brief, which author {author.name!r} is to read; "
            "make one with `guildhall sample underspecify`"
        )
    return variant.brief


def _key(task: Task, brief: str, run: ModelRun) -> str:
    """Everything that may change the work, as one digest; the room is part of the run."""
    placed = [[file.path, file.digest] for file in _placed(task)]
    return sha256(canonical_json(["sample", task.key, brief, placed, run.model_dump(mode="json")]))


def _item(task: Task, author: AuthorPlan, run: ModelRun, prompt: Prompt, brief: str, *, known_as: str) -> SampleItem:
    placed = tuple(_placed(task))
    tools = author.tools.names if not author.command else ()
    job = AgentJob(
        key=_key(task, brief, run),
        label=f"{task.id} by {run.name} #{run.sample}",
        model=run.model,
        prompt=_prompt(task, brief),
        system=prompt.text,
        settings=run.settings if not author.command else {},
        files=placed if author.command or tools else (),
        tools=tools,
        web_search=author.tools is Tools.CODE_AND_SEARCH,
        command=_filled(author.command) if author.command else None,
        metadata={"task": task.id, "task_version": task.version, "author": run.model_dump(mode="json")},
    )
    return SampleItem(task, run, job, known_as)


def _placed(task: Task) -> Iterable[PlacedFile]:
    for file in task.reference_files:
        if file.digest is None:
            raise InputError(f"{file.name} of task {task.id} was never fetched; import the task with its files")
        yield PlacedFile(REFERENCES + file.name, file.digest)


def _prompt(task: Task, brief: str) -> str:
    if not task.reference_files:
        return brief
    listed = "\n".join(f"- {REFERENCES}{file.name}" for file in task.reference_files)
    return f"{brief}\n\nReference files:\n\n{listed}"


def _filled(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command as it runs inside, in the work folder."""
    return tuple(word.replace("{prompt_file}", PROMPT_FILE).replace("{folder}", ".") for word in command)


def carried_on(
    planned: Sequence[SampleItem], before: Sequence[SampleItem], *, work: Work, authors: Collection[str] = ()
) -> list[SampleItem]:
    """For each item the one to go on with: as `planned` with its room, or as it was made `before` rooms counted.

    The latter where it was begun and the former was not; its environment stays unknown. `authors` are the keys a study
    was frozen with: of the two, only one whose author is among them is taken.
    """
    states = work.items([one.key for one in (*planned, *before)])

    def chosen(now: SampleItem, then: SampleItem) -> SampleItem:
        frozen = [one for one in (now, then) if one.author.key in authors]
        if len(frozen) == 1:
            return frozen[0]
        return then if then.key in states and now.key not in states else now

    return [chosen(now, then) for now, then in zip(planned, before, strict=True)]
