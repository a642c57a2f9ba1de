"""The Boswell Test's values: an essay by one author, a mark by one grader with the evidence it was read from, a run.

Files, tables and reports are made of a run as one value: who wrote, who marked whom, how it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import ModelRun
from guildhall.domain.grades import NO_GRADE, numeric
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Digest, Id, Value

IMPORTED = "imported"
"""The condition of a model that another system ran: its `model` is the name that system used."""


class NoGrade(StrEnum):
    """Why a reply states no grade."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    PART_GRADES = "only part grades"
    PLACEHOLDER = "placeholder"
    NOTHING_STATED = "nothing stated"
    CALL_FAILED = "call failed"


class Reading(Value):
    """A grade as read from prose: the letter (or composite), where it stood, by which rule, how surely."""

    grade: str | None = None
    span: tuple[int, int] | None = None
    rule: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    reason: NoGrade | None = None
    inferred: bool = False

    @model_validator(mode="after")
    def _grade_or_reason(self) -> Self:
        if (self.grade is None) == (self.reason is None):
            raise ValueError("a reading carries either a grade or the reason why there is none")
        return self


class Recorded(Value):
    """What another system wrote down for a mark: kept beside our own reading, on its own scale."""

    grade: str
    numeric: float


class Essay(Value):
    """One author's essay. `stop` and `seconds` are the provider's; a cached one has neither time nor cost.

    Where models mark deliverables, `submission` names the one this stands for and `domain` is its task.
    """

    run: Id
    domain: Id
    author: ModelRun
    text: str
    stop: str = "finished"
    seconds: Annotated[float, Field(ge=0)] | None = None
    cached: bool = False
    usage: Usage | None = None
    submission: Digest | None = None
    made_at: AwareDatetime | None = None

    @property
    def key(self) -> Digest:
        return self.content_digest()


class Mark(Value):
    """One grader's mark of one essay: the whole reply is kept beside what was read from it.

    `attempts` counts the times the grader was asked, follow-up questions included; `reply` holds all it said.
    """

    run: Id
    domain: Id
    essay: Digest
    grader: ModelRun
    round: Annotated[int, Field(ge=1)] = 1
    reply: str
    reading: Reading
    recorded: Recorded | None = None
    attempts: Annotated[int, Field(ge=0)] = 1
    error: str | None = None
    stop: str = "finished"
    seconds: Annotated[float, Field(ge=0)] | None = None
    cached: bool = False
    usage: Usage | None = None
    replaces: Digest | None = None
    made_at: AwareDatetime | None = None

    @property
    def key(self) -> Digest:
        return self.content_digest()


class HumanResult(Value):
    """How people judged a model's deliverables against the baseline of their study, by kind of grader."""

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


def label(author: ModelRun) -> str:
    """The name a model goes by in tables."""
    return author.model if author.condition == IMPORTED else author.name


def value_of(mark: Mark) -> float | None:
    """The number of the grade that was read; None where there is none. A suggestion is no grade."""
    if mark.reading.grade is None or mark.reading.inferred:
        return None
    return numeric(mark.reading.grade)


def grade_of(mark: Mark) -> str:
    """The grade that was read, in letters; N/A where there is none."""
    return NO_GRADE if value_of(mark) is None else str(mark.reading.grade)


def safe_name(name: str) -> str:
    """A model's name as a file name: nothing that could leave the folder or hide in it."""
    harmless = re.sub(r"[/\\\x00-\x1f]", "-", name).strip()
    return re.sub(r"^\.+", "-", harmless)[:150] or "-"


def essay_name(essay: Essay) -> str:
    """What an essay's files are called in its run's folder."""
    name = safe_name(label(essay.author))
    if essay.submission is not None:
        name = f"{name}.{safe_name(essay.domain)}"
    return name if essay.author.sample == 1 else f"{name}.sample-{essay.author.sample}"


def mark_path(essay: Essay, mark: Mark) -> PurePosixPath:
    """Where a run's folder keeps a mark."""
    grader = safe_name(label(mark.grader))
    file = grader if mark.round == 1 else f"{grader}.round-{mark.round}"
    return PurePosixPath("grades") / essay_name(essay) / f"{file}.json"
