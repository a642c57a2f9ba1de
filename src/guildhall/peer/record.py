"""A Boswell run as one value: who wrote, who marked whom, how it was read. Files, tables and reports are made of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated

from pydantic import AwareDatetime, Field

from guildhall.analysis.marks import MarkRow
from guildhall.domain.authors import ModelRun
from guildhall.domain.peer import Essay, Mark
from guildhall.domain.values import Digest, Id, Value
from guildhall.peer.scale import numeric

IMPORTED = "imported"
"""The condition of a model that another system ran: its `model` is the name that system used."""


class HumanResult(Value):
    """How people judged a model's deliverables against other work of the same study, by kind of grader."""

    model: str
    kind: str
    wins: int = 0
    ties: int = 0
    losses: int = 0


class RunRecord(Value):
    """One run in one domain: essays, marks, and when and from what they were made."""

    run: Id
    domain: Id
    title: str
    started_at: AwareDatetime
    essays: tuple[Essay, ...]
    marks: tuple[Mark, ...]
    domain_digest: Digest | None = None
    origin: str = "guildhall"
    rounds: Annotated[int, Field(ge=1)] = 1
    human: tuple[HumanResult, ...] = ()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The names of all authors and graders, in the order in which they first appear."""
        names = [label(essay.author) for essay in self.essays] + [label(mark.grader) for mark in self.marks]
        return tuple(dict.fromkeys(names))

    @cached_property
    def essay_by_key(self) -> dict[Digest, Essay]:
        return {essay.key: essay for essay in self.essays}

    def author_of(self, mark: Mark) -> str:
        return label(self.essay_by_key[mark.essay].author)

    def cells(self) -> Iterator[tuple[Mark, str, str]]:
        """Each mark with its author's and its grader's name."""
        for mark in self.marks:
            yield mark, self.author_of(mark), label(mark.grader)

    def mark_rows(self) -> list[MarkRow]:
        """The marks as numbers, as read by us; None where no grade could be read."""
        return [
            MarkRow(author, grader, self._essay_name(mark), value_of(mark), mark.round)
            for mark, author, grader in self.cells()
        ]

    def _essay_name(self, mark: Mark) -> str:
        essay = self.essay_by_key[mark.essay]
        return f"{essay.domain}/{essay.author.sample}"


def label(author: ModelRun) -> str:
    """The name a model goes by in tables."""
    return author.model if author.condition == IMPORTED else author.name


def value_of(mark: Mark) -> float | None:
    """The number of the grade that was read; None where there is none. A suggestion is no grade."""
    if mark.reading.grade is None or mark.reading.inferred:
        return None
    return numeric(mark.reading.grade)
