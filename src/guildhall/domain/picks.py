"""Best of N: several submissions of one author to one task, of which a judge picked one."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import ModelGrader
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Digest, Id, Value


class Pick(Value):
    """Which of N submissions a judge chose, in the order it saw them; the losers stay on record.

    `chosen` is absent when there was no readable choice, and then `failure` says why.
    """

    task: Id
    author: Id
    judge: ModelGrader
    order: Annotated[tuple[Digest, ...], Field(min_length=2)]
    chosen: Digest | None = None
    reason: str = ""
    failure: str | None = None
    seed: int
    usage: Usage | None = None
    made_at: AwareDatetime

    @model_validator(mode="after")
    def _one_of_them_or_a_reason(self) -> Self:
        if (self.chosen is None) == (self.failure is None):
            raise ValueError("a pick carries either its choice or the reason why there is none")
        if self.chosen is not None and self.chosen not in self.order:
            raise ValueError("the chosen submission is one of those shown")
        return self

    @property
    def key(self) -> Digest:
        return self.content_digest()
