"""An open study: its file, the tasks it means, its items of sampling, and its frozen form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.domain.variants import BriefVariant
from guildhall.engine.executor import Executor
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, UnknownName
from guildhall.sampling.plan import SampleItem, plan_samples
from guildhall.store.workspace import Workspace
from guildhall.study.extending import extension_of
from guildhall.study.file import StudyFile, TasksSection, read_study
from guildhall.taskbank.review.admission import require_reviewed, why_not_in_a_study


def booked_on(study: str) -> tuple[str, str]:
    """The names on which the ledger keeps what a study's sampling spends, and what its judging spends."""
    return study, f"{study}:judging"


@dataclass(frozen=True)
class OpenStudy:
    """A study file together with the workspace it is about."""

    file: StudyFile
    folder: Path
    workspace: Workspace
    executor: Executor | None = None
    """Where its work runs; on this machine, as its file says, when absent."""

    @classmethod
    def open(cls, path: Path, workspace: Workspace, *, executor: Executor | None = None) -> OpenStudy:
        return cls(read_study(path), path.parent, workspace, executor)

    @property
    def id(self) -> str:
        return self.file.study.id

    @property
    def terms(self) -> Terms:
        """Everything the study spends is booked on its id."""
        return self.file.sampling.terms(self.id, self.file.prices)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks the study means, in their latest version, in a fixed order."""
        return chosen_tasks(self.workspace, self.file.tasks)

    @cached_property
    def items(self) -> list[SampleItem]:
        variants = confirmed_variants(self.workspace)
        return plan_samples(self.tasks, self.file.authors, variants=variants, folder=self.folder)

    def frozen(self) -> Study:
        """The study as it stands, ready to be kept."""
        authors = {item.author.key: item.author for item in self.items}
        return Study(
            id=self.id,
            title=self.file.study.title,
            seed=self.file.study.seed,
            tasks=tuple(task.key for task in self.tasks),
            authors=tuple(authors.values()),
            design={**self.file.design(), **extension_of(self.file, self.folder, self.workspace.store)},
        )

    def freeze(self, *, changed: bool = False) -> Study:
        """Keep the study's form before work begins; another form under the same id must be wanted in words."""
        study = self.frozen()
        earlier = [kept for kept in self.workspace.store.find(Study, id=study.id) if kept.key != study.key]
        if earlier and not changed:
            raise InputError(
                f"study {study.id!r} began in another form ({earlier[-1].key}); give this one its own id, "
                "or pass --changed to go on with the new form and keep both"
            )
        self.workspace.store.add(study)
        return study


def chosen_tasks(workspace: Workspace, wanted: TasksSection) -> list[Task]:
    """The tasks a section means, in their latest version, in a fixed order.

    A task whose review is not complete is left out, and refused where the section names it.
    """
    known, store = latest_tasks(workspace), workspace.store
    if unknown := set(wanted.ids) - set(known):
        raise UnknownName("task", min(unknown), fix="import it with `guildhall tasks import`")
    for name in wanted.ids:
        require_reviewed(store, known[name])
    chosen = [
        task
        for name, task in sorted(known.items())
        if (not wanted.ids or name in wanted.ids)
        and (not wanted.sectors or task.sector in wanted.sectors)
        and (not wanted.occupations or task.occupation in wanted.occupations)
        and why_not_in_a_study(store, task) is None
    ]
    if not chosen:
        raise InputError("the study means no task of this workspace; import tasks or widen its [tasks] section")
    return chosen[: wanted.first]


def latest_tasks(workspace: Workspace) -> dict[str, Task]:
    """The latest version of every task, by id."""
    latest: dict[str, Task] = {}
    for task in workspace.store.each(Task):
        if task.id not in latest or task.version > latest[task.id].version:
            latest[task.id] = task
    return latest


def confirmed_variants(workspace: Workspace) -> dict[str, BriefVariant]:
    """Under-specified briefs that a reviewer confirmed, by task id; the newest where there are several."""
    return {variant.task: variant for variant in workspace.store.find(BriefVariant) if variant.confirmed_by is not None}
