"""The desk of one job: what has been used, said and submitted while its agent works, and the limits it works under."""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from guildhall.domain.submissions import FREE, StopReason, Usage
from guildhall.engine.agents import AgentEnd, AgentJob, Collected
from guildhall.engine.journal import Journal, Note
from guildhall.engine.models import usage_of
from guildhall.engine.purse import Purse
from guildhall.engine.terms import Terms
from guildhall.engine.wire import ASKED, Asked
from guildhall.store.ledger import Answered, Sent

if TYPE_CHECKING:
    from inspect_ai.model import ModelUsage

DESK: ContextVar[Desk | None] = ContextVar("guildhall_desk", default=None)
"""The desk of the sample that is running; absent outside our own evals, where our hooks do nothing."""


class Closable(Protocol):
    def close(self) -> None: ...


class RunLimitReached(Exception):
    """The run may spend no more: the item goes back as it was, to be done another time."""


@dataclass
class Desk:
    """One job at work. Every model call passes here twice: before it is sent and when it is answered."""

    job: AgentJob
    terms: Terms
    journal: Journal
    purse: Purse
    receipts: Path
    usage: Usage = FREE
    tools_used: Counter[str] = field(default_factory=Counter)
    text: str | None = None
    named: tuple[str, ...] | None = None
    stop: StopReason = StopReason.FINISHED
    error: str | None = None
    collected: Collected | None = None
    log: str | None = None
    left: bool = False
    left_open: Closable | None = None
    _ticket: str | None = None

    def submit(self, text: str, files: list[str]) -> None:
        self.text, self.named = text, tuple(files)

    async def call_sent(self, model: str) -> None:
        """Write the call down before it leaves; a retry of the same call keeps its row."""
        if self._ticket is not None:
            return
        why = self.purse.start()
        if why is not None:
            raise RunLimitReached(why)
        self._ticket = uuid4().hex
        sent = Sent(self._ticket, self.job.key, self.terms.run, model, self.terms.now())
        await self.journal.write(Note(sent=sent))
        if self.terms.pace.relayed:
            ASKED.set(Asked(sent, self.terms, self._elsewhere, self.receipts))

    @property
    def _elsewhere(self) -> bool:
        return "base_url" in self.job.settings

    async def call_answered(self, model: str, counted: ModelUsage, seconds: float) -> None:
        usage = self.terms.priced(model, usage_of(counted), elsewhere=self._elsewhere)
        self.usage = self.usage + usage
        await self._close_call(usage, seconds=seconds)

    async def call_was_cached(self) -> None:
        """A cached answer costs neither time nor money: its row is taken back."""
        self.usage = self.usage + Usage(cached_calls=1, cost_usd=0.0)
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self.purse.end(FREE)
            await self.journal.write(Note(void=ticket))

    async def call_failed(self, words: str) -> None:
        """A call that raised is closed with what it raised; what it cost, if anything, nobody knows."""
        await self._close_call(Usage(calls=1), error=words)

    async def _close_call(self, usage: Usage, *, seconds: float | None = None, error: str | None = None) -> None:
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self.purse.end(usage)
            await self.journal.write(Note(answered=Answered(ticket, usage, self.terms.now(), seconds, error)))

    @property
    def turns(self) -> int:
        return self.usage.calls + self.usage.cached_calls

    def end(self, *, seconds: float | None) -> AgentEnd:
        return AgentEnd(
            stop=self.stop,
            text=self.text or "",
            named=self.named,
            usage=self.usage,
            seconds=seconds,
            tools_used=dict(self.tools_used),
            made_at=self.terms.date(),
            log=self.log,
            error=self.error,
        )
