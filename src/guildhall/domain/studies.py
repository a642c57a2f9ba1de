"""A study: which tasks, which authors, by which design. Once work begins it is frozen, and known by its digest."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from guildhall.domain.authors import ModelRun
from guildhall.domain.design import EXPERT, Design, Extension, Plan
from guildhall.domain.draws import Planned, draw_pairs
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Id, Line, Value
from guildhall.errors import InputError, UnknownName


class Study(Value):
    """A study as it was when work began. A changed study is another one, with another digest.

    `tasks` are task keys with their version. `authors` holds one entry for each sample that is to be made.
    `design` is everything else that was fixed before the first judgment.
    """

    id: Id
    title: Line
    seed: int
    tasks: Annotated[tuple[TaskKey, ...], Field(min_length=1)]
    authors: tuple[ModelRun, ...] = ()
    design: Design = Design()

    @model_validator(mode="after")
    def _names_its_authors(self) -> Self:
        if self.design.format is None or self.extends is not None or not self.authors:
            return self
        plan, known = self.design.plan, {EXPERT, *(author.name for author in self.authors)}
        named = {self.design.baseline, *(name for pair in (plan.comparisons if plan else ()) for name in pair)}
        if strangers := named - known:
            raise ValueError(f"{min(strangers)!r} is neither `expert` nor an author of the study")
        return self

    def same_as(self, kept: Study) -> bool:
        """Whether this is the study that was kept, as far as a form of that time says it."""
        facts = ("id", "title", "seed", "tasks", "authors")
        return all(getattr(self, name) == getattr(kept, name) for name in facts) and self.design.same_as(kept.design)

    def drawn(self) -> Self:
        """The same study with the draw of what people grade, where they grade a share of it."""
        if (share := self.design.hall.share) is None:
            return self
        if not self.authors:
            raise InputError(f"study {self.id!r}: a share is drawn of what named authors are to make; name them")
        names = {(one.name, one.sample) for one in self.authors if one.name != self.baseline}
        planned = [Planned(task.id, *name) for task in self.tasks for name in names]
        draw = draw_pairs(planned, share=share, about=["draw", self.id, self.seed])
        return self.but(design=self.design.but(draw=draw))

    @property
    def key(self) -> str:
        return f"{self.id}:{self.content_digest()[:16]}"

    @property
    def pins(self) -> dict[Id, TaskKey]:
        """Task id -> the one wording of it that counts in this study; a key without a version pins nothing."""
        return {key.id: key for key in reversed(self.tasks) if key.is_whole}

    def pinned(self, task: Id) -> TaskKey:
        """The wording of a task that counts in this study."""
        found = self.pins.get(task)
        if found is None:
            raise UnknownName("task", task, fix=f"study {self.id!r} holds no wording of it")
        return found

    @property
    def heading(self) -> str:
        """The title as pages and files show it: what is a rehearsal says so first."""
        return f"Rehearsal: {self.title}" if self.design.rehearsal else self.title

    @property
    def baseline(self) -> str:
        """Whom all others are compared with: the expert, or the author of this name."""
        return self.design.baseline

    @property
    def extends(self) -> Extension | None:
        """What this study is a later wave of; None for a study of its own."""
        return self.design.extends

    @property
    def plan(self) -> Plan:
        """How the study is analysed: as planned, or as studies were that kept no plan."""
        return self.design.plan or Plan.of_old_form(self)
