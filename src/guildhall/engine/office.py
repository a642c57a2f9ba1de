"""The office of one eval: its desks by job, and the way finished work takes into the store."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from guildhall.engine.agents import AgentEnd, AgentJob, Stage
from guildhall.engine.desk import Desk
from guildhall.engine.journal import TAKEN_OVER, Journal, Note
from guildhall.engine.purse import Purse
from guildhall.engine.scripted import seconds_by_script
from guildhall.engine.terms import Terms
from guildhall.store.work import Outcome

OFFICE: ContextVar[Office | None] = ContextVar("guildhall_office", default=None)

OnEnd = Callable[[AgentJob, AgentEnd], None]


@dataclass
class Office:
    """What the samples of one eval share."""

    terms: Terms
    stage: Stage
    journal: Journal
    purse: Purse
    jobs: dict[str, AgentJob]
    receipts: Path
    on_end: OnEnd
    desks: dict[str, Desk] = field(default_factory=dict)
    finished: dict[str, AgentEnd] = field(default_factory=dict)
    why_left: str | None = None
    failure: BaseException | None = None

    def open_desk(self, key: str) -> Desk:
        self.desks[key] = Desk(self.jobs[key], self.terms, self.journal, self.purse, self.receipts)
        return self.desks[key]

    async def sample_ended(self, key: str, seconds: float | None) -> None:
        """Keep what a job made and close its item, in one transaction; a job the run could not afford stays open."""
        desk = self.desks.pop(key, None)
        if desk is not None and desk.left_open is not None:
            desk.left_open.close()
        if desk is None or desk.left:
            return
        try:
            told = seconds_by_script(desk.job.model, desk.usage)
            end = desk.end(seconds=seconds if told is None else told)
            made = self.stage.keep(desk.job, end, desk.collected)
            outcome = Outcome(key, self.terms.now(), result=made.result, error=made.error)
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
