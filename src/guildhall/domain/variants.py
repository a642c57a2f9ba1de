"""Under-specified briefs: the same task with less context, kept beside the original and never instead of it."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from guildhall.domain.values import Digest, Id, Value

LEFT_OUT = ("where data sits", "how to approach", "format expectations")
"""What an under-specified brief may leave out; anything else would make it another task."""

TOKENIZER = "words-and-marks-1"
_TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Words and punctuation marks, each one token: the same on every machine, offline."""
    return len(_TOKEN.findall(text))


class BriefVariant(Value):
    """A shorter brief for a task. `confirmed_by` is the reviewer who found that the task can still be done.

    Graders see the original brief, and only differences paired by task are reported.
    """

    task: Id
    task_version: Annotated[int, Field(ge=1)] = 1
    brief: Annotated[str, Field(min_length=1)]
    left_out: Annotated[tuple[str, ...], Field(min_length=1)]
    made_by: str
    confirmed_by: str | None = None
    tokenizer: str = TOKENIZER
    token_ratio: Annotated[float, Field(gt=0, lt=1)]

    @model_validator(mode="after")
    def _leaves_out_only_context(self) -> Self:
        if unknown := set(self.left_out) - set(LEFT_OUT):
            raise ValueError(f"a variant leaves out only {', '.join(LEFT_OUT)}; not {', '.join(sorted(unknown))}")
        return self

    @classmethod
    def of(cls, task: str, original: str, brief: str, **fields: object) -> Self:
        """A variant with its token ratio computed."""
        ratio = count_tokens(brief) / max(1, count_tokens(original))
        return cls.model_validate({"task": task, "brief": brief, "token_ratio": ratio, **fields})

    @property
    def key(self) -> Digest:
        return self.content_digest()
