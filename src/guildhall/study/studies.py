"""An open study: its file, the tasks it means, its items of sampling, and its frozen form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from sqlalchemy import select

from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.design import TaskChoice
from guildhall.domain.gradings import SERVICE
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id
from guildhall.domain.variants import BriefVariant
from guildhall.engine.executor import Executor
from guildhall.engine.rooms import ask_room
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, MissingTool, RoomNotStarted, UnknownName
from guildhall.sampling.authors import HERE
from guildhall.sampling.elicitation import require_told
from guildhall.sampling.outside import bring
from guildhall.sampling.plan import SampleItem, carried_on, plan_samples
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.work import Work
from guildhall.store.workspace import Workspace
from guildhall.study.extending import extension_of, wave_before
from guildhall.study.file import StudyFile, read_study
from guildhall.study.freezing import Judges, design_of_file, judges_of
from guildhall.taskbank.listing import latest_tasks, newer_wordings, newest_tasks
from guildhall.taskbank.review.admission import require_reviewed, why_not_in_a_study

BEFORE_ANY_JUDGMENT = "changed before the first judgment"


@dataclass(frozen=True)
class OpenStudy:
    """A study file together with the workspace it is about."""

    file: StudyFile
    folder: Path
    workspace: Workspace
    executor: Executor | None = None
    """Where its work runs; on this machine, as its file says, when absent."""
    changed: bool = False
    """Whether it may go on in a new form, with the newest wordings of its tasks."""

    @classmethod
    def open(
        cls, path: Path, workspace: Workspace, *, executor: Executor | None = None, changed: bool = False
    ) -> OpenStudy:
        return cls(read_study(path), path.parent, workspace, executor, changed)

    @property
    def id(self) -> str:
        return self.file.study.id

    @property
    def terms(self) -> Terms:
        """Everything the study spends is booked on its id."""
        return self.file.sampling.terms(self.id, self.file.prices)

    @property
    def kept(self) -> Study | None:
        """The form in which the study was kept last; None before it began."""
        return self.workspace.store.newest(Study, id=self.id)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks the study means, in a fixed order and in the wordings it pinned when it began.

        A later wave has those of the wave it extends. A study that has not begun, or goes on in a new form, chooses
        among the newest versions; one whose `[tasks]` were edited chooses anew and keeps the wordings it has.
        """
        earlier = wave_before(self.file, self.folder, self.workspace.store)
        form = earlier or self._form
        if form is None:
            return chosen_tasks(self.workspace, self.file.tasks)
        if earlier is None and form.design.tasks != self.file.tasks:
            return chosen_tasks(self.workspace, self.file.tasks, pins=form.pins)
        return self.workspace.store.get_all(Task, form.tasks)

    @property
    def newer(self) -> list[TaskKey]:
        """The newest versions of tasks that have a newer one than this study pinned; none before it began."""
        kept = self.kept
        return [] if kept is None else newer_wordings(self.workspace.store, kept)

    @cached_property
    def room(self) -> RoomSettings | None:
        """The room its authors work in: the one it began with, else the one that is here.

        None where nobody works in one, where none can be opened, and for a study that began before rooms counted.
        """
        if not any(author.works_in_a_room for author in self.file.sampled):
            return None
        if self._form is not None:
            return next((author.room for author in self._form.authors if author.room is not None), None)
        try:
            return ask_room(self.file.sampling.place())
        except (RoomNotStarted, MissingTool):
            return None

    @property
    def _form(self) -> Study | None:
        """The kept form that it goes on with; None for a new one."""
        return None if self.changed else self.kept

    @cached_property
    def _planned(self) -> list[tuple[SampleItem, SampleItem]]:
        """Each item with its room, and as it was before rooms counted."""
        variants = confirmed_variants(self.workspace)
        plan = partial(plan_samples, self.tasks, self.file.sampled, variants=variants, folder=self.folder)
        before = plan()
        return list(zip(before if self.room is None else plan(room=self.room), before, strict=True))

    @cached_property
    def items(self) -> list[SampleItem]:
        now, before = [one for one, _ in self._planned], [one for _, one in self._planned]
        return carried_on(now, before, work=Work(self.workspace.store), authors=self._frozen_authors)

    @cached_property
    def outside(self) -> list[ModelRun]:
        """Authors whose work was made elsewhere, as the study began with them; else what their sources hold now.

        A source is brought into the workspace before it is asked: again and again it adds nothing.
        """
        plans = [author for author in self.file.authors if author.source is not None]
        names = {author.name for author in plans}
        if self._form is not None and names <= {author.name for author in self._form.authors}:
            return [author for author in self._form.authors if author.name in names]
        for author in plans:
            if author.source is not None and author.source != HERE:
                files = self.folder / author.files if author.files else None
                name, model, place = author.name, author.model or "unknown", self.folder / author.source
                bring(place, self.tasks, author=name, model=model, files=files, workspace=self.workspace)
        offer = finished_runs(self.workspace, self.tasks)
        found = {run.key: run for _, run in offer if run.name in names}
        if lacking := names - {run.name for run in found.values()}:
            raise InputError(f"the workspace holds no work of {min(lacking)!r} on the tasks of study {self.id!r}")
        return [found[key] for key in sorted(found)]

    @cached_property
    def _frozen_authors(self) -> set[str]:
        return {author.key for author in self._form.authors} if self._form is not None else set()

    @cached_property
    def judges(self) -> Judges:
        """The judges of its file, as the study or the wave before it began with them."""
        begun = wave_before(self.file, self.folder, self.workspace.store) or self.kept
        return judges_of(self.file, self.folder, self.workspace.blobs, begun=begun)

    @cached_property
    def _as_it_stands(self) -> Study:
        """The study as its file says it now, in the form of today."""
        taking_part = {item.author.key for item in self.items} | self._frozen_authors
        runs = [item.author for now, before in self._planned for item in (before, now)]
        authors = {run.key: run for run in runs if run.key in taking_part} | {run.key: run for run in self.outside}
        stands = Study(
            id=self.id,
            title=self.file.study.title,
            seed=self.file.study.seed,
            tasks=tuple(task.key for task in self.tasks),
            authors=tuple(authors.values()),
            design=design_of_file(
                self.file,
                self.judges,
                extension_of(self.file, self.folder, self.workspace),
                outside=[run.name for run in self.outside],
            ),
        )
        return stands.drawn()

    def frozen(self) -> Study:
        """The form kept last, in the format it was kept in, where the file still says the same; else the new form."""
        kept = self.kept
        return kept if kept is not None and self._as_it_stands.same_as(kept) else self._as_it_stands

    def require_told(self) -> None:
        """Refuse a prompt that tells its author of what the room lacks."""
        if self.room is not None:
            for author in self.file.sampled:
                require_told(author.condition, author.tools, self.room)

    def freeze(self, *, why: str | None = None) -> Study:
        """Keep the study's form before work begins. Another form must be wanted, and names the one it replaces.

        Once there are judgments it takes a reason: what was planned is then changed by somebody who may know results.
        """
        store, study, kept = self.workspace.store, self.frozen(), self.kept
        if kept is None or kept.key == study.key:
            store.add(study)
            return study
        if not self.changed:
            raise InputError(
                f"study {self.id!r} began in another form ({kept.key}); give this one its own id, "
                'or pass --changed --why "..." to go on with the new form and keep both'
            )
        if why is None and has_judgments(store, self.id):
            raise InputError(
                f"study {self.id!r} has judgments under the form {kept.key}; "
                'say why it is changed with --why "...": every report prints it'
            )
        if kept.design.hall.simulated_graders and study.design.people and not study.design.people.simulated_graders:
            raise InputError(
                f"study {self.id!r} was laid out for simulated graders, and the orders of its sides follow from its "
                "seed: people could compute them; give this one its own id"
            )
        form = study.but(design=study.design.but(replaces=kept.key, why=why or BEFORE_ANY_JUDGMENT))
        store.add(form)
        return form


def newer_words(count: int) -> str:
    """What to tell of tasks whose newer versions a study does not use; nothing where there are none."""
    if not count:
        return ""
    return (
        f"Newer versions of {count} of its tasks exist. The study keeps the wordings it began with; "
        "`guildhall study run --changed --why REASON` goes on with the newer ones, as a new form."
    )


def wordings_of(path: Path | None, workspace: Workspace) -> list[Task]:
    """The tasks of a study file in the wordings of its study; without one, every task in its newest version."""
    return newest_tasks(workspace.store) if path is None else OpenStudy.open(path, workspace).tasks


def has_judgments(store: Store, study: Id) -> bool:
    """Whether anybody has judged anything of a study."""
    judged, compared = shelf_of(Judgment).table, shelf_of(Comparison).table
    found = select(judged.c.key).join(compared, judged.c.comparison == compared.c.key).where(compared.c.study == study)
    with store.glance() as connection:
        return connection.execute(found.limit(1)).first() is not None


def chosen_tasks(workspace: Workspace, wanted: TaskChoice, *, pins: Mapping[Id, TaskKey] | None = None) -> list[Task]:
    """The tasks a section means, in a fixed order: in the wordings of `pins`, else in their latest version.

    A task whose review is not complete is left out, and refused where the section names it.
    """
    store = workspace.store
    known = latest_tasks(store)
    known |= {task.id: task for task in store.get_all(Task, list((pins or {}).values()))}
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


def finished_runs(workspace: Workspace, tasks: Iterable[Task]) -> list[tuple[Submission, ModelRun]]:
    """Models' work on these wordings; what a program sent to the grading service is in no study."""
    found = [
        one
        for task in tasks
        for one in workspace.store.find(Submission, task=task.id)
        if one.task_key == task.key and one.origin != SERVICE
    ]
    return [(one, one.author) for one in found if isinstance(one.author, ModelRun)]


def confirmed_variants(workspace: Workspace) -> dict[TaskKey, BriefVariant]:
    """Under-specified briefs that a reviewer confirmed, by wording; the newest where there are several."""
    confirmed = [one for one in workspace.store.find(BriefVariant) if one.confirmed_by is not None]
    return {TaskKey.of(one.task, one.task_version): one for one in confirmed}
