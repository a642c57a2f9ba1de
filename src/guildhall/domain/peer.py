"""The Boswell Test's values: an essay by one author, a mark by one grader with the evidence it was read from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Digest, Id, Value


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
