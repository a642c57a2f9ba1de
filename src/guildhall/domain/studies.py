"""A study: which tasks, which authors, by which design. Once work begins it is frozen, and known by its digest."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from guildhall.domain.authors import ModelRun
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Digest, Id, Line, Value
from guildhall.errors import UnknownName


class Extension(Value):
    """A later wave of a study: new authors on the same tasks, and some old pairs judged again to see drift.

    `key` is the earlier study's frozen form; `anchors` are the submissions whose pairs with the expert are judged
    again. Past `drift_limit` the waves are not pooled.
    """

    study: Id
    key: str
    anchors: Annotated[tuple[Digest, ...], Field(min_length=1)]
    drift_limit: Annotated[float, Field(gt=0, le=1)]


class Study(Value):
    """A study as it was when work began. A changed study is another one, with another digest.

    `tasks` are task keys with their version. `authors` holds one entry for each sample that is to be made.
    `design` keeps every further section of the study file as it was read.
    """

    id: Id
    title: Line
    seed: int
    tasks: Annotated[tuple[TaskKey, ...], Field(min_length=1)]
    authors: tuple[ModelRun, ...] = ()
    design: dict[str, JsonValue] = {}

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
    def baseline(self) -> str:
        """Whom all others are compared with: the expert, or the author of this name."""
        return str(self.design.get("baseline", "expert"))

    @property
    def extends(self) -> Extension | None:
        """What this study is a later wave of; None for a study of its own."""
        written = self.design.get("extends")
        return None if written is None else Extension.model_validate(written)
