"""Submissions: what one author made for one task, how it ended and what it cost."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from guildhall.domain.authors import Author, ModelRun
from guildhall.domain.tasks import FileRef, TaskKey
from guildhall.domain.values import Digest, Id, Value


class StopReason(StrEnum):
    """How an author's work ended; a failure is recorded and counted, never an exception."""

    FINISHED = "finished"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    TIME_LIMIT = "time limit"
    TOKEN_LIMIT = "token limit"  # noqa: S105 - a limit, not a secret
    TURN_LIMIT = "turn limit"
    COST_LIMIT = "cost limit"
    SANDBOX_FAILED = "sandbox failed"
    PROVIDER_FAILED = "provider failed"
    NOTHING_DELIVERED = "nothing delivered"
    STORAGE_FAILED = "storage failed"  # last: kept tables number these ends in their order


OUR_FAULT = frozenset({StopReason.PROVIDER_FAILED, StopReason.SANDBOX_FAILED, StopReason.STORAGE_FAILED})
"""Ends that say nothing about the author: such work is missing, is in no comparison, and can be tried again."""

NOTHING_TO_JUDGE = frozenset({StopReason.REFUSED, StopReason.NOTHING_DELIVERED})
"""Ends at which words without a file are no work: a refusal, and files that were promised and not delivered."""


_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_written_tokens",
    "reasoning_tokens",
    "calls",
    "cached_calls",
)


class Usage(Value):
    """Tokens as the provider counted them; dollars only where a dated price was known.

    `input_tokens` is everything the model read, including what the provider had cached or wrote to its cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_written_tokens: int = 0
    reasoning_tokens: int = 0
    calls: int = 0
    cached_calls: int = 0
    cost_usd: float | None = None
    price_date: str | None = None

    def __add__(self, other: Usage) -> Usage:
        """A sum whose price is unknown as soon as one part's is."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        known = self.cost_usd is not None and other.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
        dates = sorted(date for date in (self.price_date, other.price_date) if date)
        return Usage(**counts, cost_usd=cost, price_date=dates[0] if dates else None)


FREE = Usage(cost_usd=0.0)
"""Nothing spent: the neutral element of addition."""


class Problem(Value):
    """Something that went wrong while collecting deliverables, by rule and in words."""

    rule: str
    file: str | None = None
    words: str


class Submission(Value):
    """The deliverables one author made for one task."""

    task: Id
    task_version: int = 1
    author: Author
    text: str = ""
    files: tuple[FileRef, ...] = ()
    stop: StopReason = StopReason.FINISHED
    seconds: Annotated[float, Field(ge=0)] | None = None
    usage: Usage | None = None
    confidence: Annotated[float, Field(ge=0, le=100)] | None = None
    looked_at_pages: bool | None = None
    problems: tuple[Problem, ...] = ()
    log: str | None = None
    origin: str = "guildhall"
    replaces: Digest | None = None
    made_at: AwareDatetime | None = None

    @property
    def task_key(self) -> TaskKey:
        """The wording of the task it was made for."""
        return TaskKey.of(self.task, self.task_version)

    @property
    def blamed(self) -> bool:
        """Whether a model was said to have delivered nothing though it was never asked: a fault of ours, kept so before
        faults were told apart. A program of its own may call whom it likes, and is not among these.
        """
        author = self.author
        if self.origin != "guildhall" or not isinstance(author, ModelRun) or author.model.startswith("command/"):
            return False
        asked = self.usage is None or self.usage.calls + self.usage.cached_calls > 0
        empty = self.stop in {StopReason.NOTHING_DELIVERED, StopReason.FINISHED} and not (self.files or self.text)
        return empty and not asked

    @property
    def leaves_nothing(self) -> bool:
        """Whether there is nothing to judge: no file, and no word or one that stands in place of promised files.

        A text without a file is work; a refusal's words are not.
        """
        return not self.files and (self.stop in NOTHING_TO_JUDGE or not self.text.strip())

    @property
    def key(self) -> Digest:
        """The digest of its content: the same work is the same submission."""
        return self.content_digest()
