"""The desk of one job while its agent works, and the office of one eval: its desks, and the way into the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from guildhall.domain.submissions import FREE, StopReason, Usage
from guildhall.domain.values import well_formed
from guildhall.engine.agents import AgentEnd, AgentJob, AgentStage, Collected
from guildhall.engine.attempts import CallBook
from guildhall.engine.journal import TAKEN_OVER, Journal, Note
from guildhall.engine.purse import Purse
from guildhall.engine.scripted import seconds_by_script
from guildhall.engine.terms import Terms
from guildhall.observe.redact import redact
from guildhall.store.ledger import Answered
from guildhall.store.work import ItemEnd

if TYPE_CHECKING:
    from guildhall.engine.inspect_private import RunningSample

DESK: ContextVar[Desk | None] = ContextVar("guildhall_desk", default=None)
"""The desk of the sample that is running; absent outside our own evals, where our hooks do nothing."""
OFFICE: ContextVar[Office | None] = ContextVar("guildhall_office", default=None)

OnEnd = Callable[[AgentJob, AgentEnd], None]


class RunLimitReached(Exception):
    """The run may spend no more: the item goes back as it was, to be done another time."""


@dataclass
class Desk:
    """One job at work. Every model call passes here twice: before it may be sent and when it is answered."""

    job: AgentJob
    terms: Terms
    journal: Journal
    purse: Purse
    usage: Usage = FREE
    tools_used: Counter[str] = field(default_factory=Counter)
    text: str | None = None
    named: tuple[str, ...] | None = None
    stop: StopReason = StopReason.FINISHED
    error: str | None = None
    collected: Collected | None = None
    sample: RunningSample | None = None
    left: bool = False
    ended: bool = False
    """Whether its work came to an end and was collected, or failed with a reason; what was stopped half-way did not."""
    _paying: bool = False

    def __post_init__(self) -> None:
        elsewhere = "base_url" in self.job.settings
        self.book = CallBook(self.journal, self.terms, self.job.key, elsewhere, self._call_answered)

    def submit(self, text: str, files: list[str]) -> None:
        self.text, self.named = text, tuple(well_formed(str(name)) for name in files)

    def fail(self, stop: StopReason, words: str) -> None:
        """The job came to no end of its own: nothing of it is kept but why, and what it cost."""
        if self.error is None:
            self.stop, self.error = stop, words
        self.collected, self.ended = None, True

    def want_call(self) -> None:
        """Ask for the money of one call; whoever tries it again has it already."""
        if self._paying:
            return
        if (why := self.purse.start()) is not None:
            raise RunLimitReached(why)
        self._paying = True

    async def _call_answered(self, answered: Answered) -> None:
        self.usage = self.usage + answered.usage
        self._paid(answered.usage)
        await self.journal.write(Note(answered=answered))

    def call_was_cached(self) -> None:
        """A cached answer costs neither time nor money, and nothing was sent for it."""
        self.usage = self.usage + Usage(cached_calls=1, cost_usd=0.0)
        self._paid(FREE)

    async def call_failed(self, words: str) -> None:
        """A call that raised; what it cost, if anything, nobody knows."""
        self._paid(Usage(calls=1))
        await self.journal.write(self.book.given_up(self.job.model, words))

    def _paid(self, usage: Usage) -> None:
        if self._paying:
            self._paying = False
            self.purse.end(usage)

    @property
    def turns(self) -> int:
        return self.usage.calls + self.usage.cached_calls

    def end(self, *, seconds: float | None) -> AgentEnd:
        return AgentEnd(
            stop=self.stop,
            text=well_formed(self.text or ""),
            named=self.named,
            usage=self.usage + self.book.unknown_cost,
            seconds=seconds,
            tools_used=dict(self.tools_used),
            made_at=self.terms.date(),
            log=None if self.sample is None else self.sample.log,
            error=self.error,
        )


@dataclass
class Office:
    """What the samples of one eval share."""

    terms: Terms
    stage: AgentStage
    journal: Journal
    purse: Purse
    jobs: dict[str, AgentJob]
    on_end: OnEnd
    desks: dict[str, Desk] = field(default_factory=dict)
    finished: dict[str, AgentEnd] = field(default_factory=dict)
    why_left: str | None = None
    failure: BaseException | None = None

    def open_desk(self, key: str) -> Desk:
        self.desks[key] = Desk(self.jobs[key], self.terms, self.journal, self.purse)
        return self.desks[key]

    def never_began(self, key: str, words: str) -> None:
        """Its place could not be made ready: the job failed before anybody worked on it."""
        if key in self.jobs and key not in self.desks and key not in self.finished:
            self.open_desk(key).fail(StopReason.SANDBOX_FAILED, redact(words)[:2000])

    async def sample_ended(self, key: str, seconds: float | None) -> None:
        """Keep what a job made, or why it failed, and close its item, in one transaction.

        A job that was stopped half-way or that the run could not afford stays open.
        """
        desk = self.desks.pop(key, None)
        if desk is not None and desk.sample is not None and desk.sample.left_open is not None:
            desk.sample.left_open.close()
        if desk is None or desk.left or not desk.ended:
            return
        try:
            told = seconds_by_script(desk.job.model, desk.usage)
            end = desk.end(seconds=seconds if told is None else told)
            made = self.stage.keep(desk.job, end, desk.collected)
            outcome = ItemEnd(key, self.terms.now(), result=made.result, error=made.error)
            kept = await self.journal.write(Note(outcome=outcome, values=made.values))
        except Exception as failure:  # noqa: BLE001 - Inspect swallows what hooks raise; the run reports it at its end
            self.failure = self.failure or failure
            return
        if not kept:
            self.why_left = self.why_left or TAKEN_OVER
            return
        self.finished[key] = end
        self.on_end(desk.job, end)

    def leave(self, desk: Desk, why: str) -> None:
        """The run may spend no more: this job goes back as it was."""
        desk.left = True
        self.why_left = why
