"""Running a Boswell Test: essays by each model, marks by every model of every essay, follow-up questions.

Every call is a work item of the engine, keyed by its content and recorded before and after, so a killed run goes
on where it stopped. An answer another run already paid for is used again, untimed and free; a retry never is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from guildhall.domain.authors import ModelRun
from guildhall.domain.peer import Essay, Mark
from guildhall.engine.calls import Call, Message, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import ModelError
from guildhall.peer.domains import Domain
from guildhall.peer.marking import can_be_marked, essay_of, mark_of, read_replies, worth_asking_again
from guildhall.peer.plan import PeerModel, PeerPlan
from guildhall.peer.prompts import essay_prompt, follow_up_prompt, marking_prompt, marking_schema
from guildhall.peer.record import RunRecord
from guildhall.store.workspace import Workspace

K = TypeVar("K")
_RETRY = 1000
"""A retry asks under another sample number, so that no cache can answer it."""
OnReply = Callable[[Call, Reply], None]


@dataclass(frozen=True)
class Running:
    """One run under way: the plan, where it is kept, and on which terms models are asked."""

    plan: PeerPlan
    domain: Domain
    workspace: Workspace
    terms: Terms
    started_at: datetime
    reuse: bool = True
    retry_failed: bool = False
    on_reply: OnReply | None = field(default=None)

    def run(self) -> RunRecord:
        """Everything the plan asks for, kept in the workspace; raises `ModelError` when a limit left calls unasked."""
        essays = self._essays()
        marks = self._marks([essay for essay in essays if can_be_marked(essay)])
        self.workspace.store.add_all([*essays, *marks])
        return RunRecord(
            run=self.terms.run,
            domain=self.domain.id,
            title=self.domain.title,
            started_at=self.started_at,
            essays=tuple(essays),
            marks=tuple(marks),
            domain_digest=self.plan.domain_digest,
            rounds=self.plan.rounds,
        )

    def _essays(self) -> list[Essay]:
        prompt = essay_prompt(self.domain)
        authors: dict[str, ModelRun] = {}
        calls: dict[str, Call] = {}
        for model in self.plan.models:
            for sample in range(1, self.plan.samples + 1):
                author = model.author(self.plan.prompts, sample=sample)
                authors[author.key] = author
                calls[author.key] = Call.ask(
                    model.model, prompt, settings=model.settings, sample=sample, purpose="essay"
                )
        return [
            essay_of(replies, run=self.terms.run, domain=self.domain.id, author=authors[key])
            for key, replies in self._with_retries(calls).items()
        ]

    def _marks(self, essays: list[Essay]) -> list[Mark]:
        wanted: dict[tuple[str, str, int], tuple[Essay, ModelRun, Call]] = {}
        for essay in essays:
            for model in self.plan.models:
                for number in range(1, self.plan.rounds + 1):
                    grader = model.author(self.plan.prompts)
                    call = self._marking_call(essay, model, number)
                    wanted[essay.key, model.name, number] = (essay, grader, call)
        tries = self._with_retries({key: call for key, (_, _, call) in wanted.items()})
        answers = {key: [replies[-1]] for key, replies in tries.items()}
        for _ in range(self.plan.follow_ups):
            unread = {k: replies for k, replies in answers.items() if worth_asking_again(read_replies(replies)[1])}
            asked = self._ask({key: self._follow_up(wanted[key][2], replies) for key, replies in unread.items()})
            answers |= {key: [*unread[key], reply] for key, reply in asked.items()}
        return [
            mark_of(replies, essay=wanted[key][0], grader=wanted[key][1], round_number=key[2])
            for key, replies in answers.items()
        ]

    def _marking_call(self, essay: Essay, model: PeerModel, number: int) -> Call:
        composites = self.plan.composites
        instructions, data = marking_prompt(self.domain, essay.text, composites=composites)
        schema = marking_schema(composites=composites) if model.asks_structure else None
        return Call.ask(
            model.model,
            data,
            system=instructions,
            settings=model.settings,
            answer_schema=schema,
            sample=number,
            purpose="mark",
        )

    def _follow_up(self, first: Call, replies: list[Reply]) -> Call:
        question = Message.of("user", follow_up_prompt(composites=self.plan.composites))
        turns = [turn for reply in replies for turn in (Message.of("assistant", reply.text or "(no answer)"), question)]
        messages = (*first.messages, *turns)
        return Call(
            model=first.model, messages=messages, settings=first.settings, sample=first.sample, purpose="follow-up"
        )

    def _with_retries(self, calls: dict[K, Call]) -> dict[K, list[Reply]]:
        """Every call's tries: asked again, past any cache, while it fails or comes back empty."""
        tries: dict[K, list[Reply]] = {key: [reply] for key, reply in self._ask(calls).items()}
        for attempt in range(1, self.plan.retries + 1):
            again = {
                key: calls[key].but(sample=calls[key].sample + attempt * _RETRY)
                for key, replies in tries.items()
                if replies[-1].failed or not replies[-1].text.strip()
            }
            for key, reply in self._ask(again).items():
                tries[key].append(reply)
        return tries

    def _ask(self, calls: dict[K, Call]) -> dict[K, Reply]:
        if not calls:
            return {}
        answers = run_calls(
            _unique(calls.values()),
            workspace=self.workspace,
            terms=self.terms,
            reuse=self.reuse,
            retry_failed=self.retry_failed,
            on_reply=self.on_reply,
        )
        if answers.left:
            raise ModelError(f"{len(answers.left)} calls were not made: {answers.why_left}; run the same command again")
        return {key: answers.replies[call.key] for key, call in calls.items()}


def _unique(calls: Iterable[Call]) -> list[Call]:
    return list({call.key: call for call in calls}.values())
