"""A study: which tasks, which authors, by which design. Once work begins it is frozen, and known by its digest."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from guildhall.domain.authors import ModelRun
from guildhall.domain.values import Id, Line, Value


class Study(Value):
    """A study as it was when work began. A changed study is another one, with another digest.

    `tasks` are task keys with their version. `authors` holds one entry for each sample that is to be made.
    `design` keeps every further section of the study file as it was read.
    """

    id: Id
    title: Line
    seed: int
    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    authors: tuple[ModelRun, ...] = ()
    design: dict[str, JsonValue] = {}

    @property
    def key(self) -> str:
        return f"{self.id}:{self.content_digest()[:16]}"
