"""Asking models for marks: every call a work item of the engine, retried past any cache, followed up where unread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from guildhall.domain.boswell import Essay, Mark
from guildhall.engine.calls import Call, FilePart, Message, Reply, TextPart
from guildhall.engine.executor import Executor
from guildhall.engine.oneshot import run_calls
from guildhall.engine.spreading import spread_calls
from guildhall.engine.terms import Terms
from guildhall.errors import ModelError
from guildhall.peer.marking import mark_of, read_replies, worth_asking_again
from guildhall.peer.plan import PeerModel, PeerPlan
from guildhall.peer.prompts import follow_up_prompt, marking_schema
from guildhall.store.workspace import Workspace

K = TypeVar("K")
OnReply = Callable[[Call, Reply], None]
_RETRY = 1000
"""A retry asks under another sample number, so that no cache can answer it."""


@dataclass(frozen=True)
class MarkingRequest:
    """One piece of work as its graders are shown it: instructions, and the work itself as data."""

    essay: Essay
    instructions: str
    parts: tuple[TextPart | FilePart, ...]


@dataclass(frozen=True)
class Asking:
    """Puts the questions of one plan to its models. A killed run goes on where it stopped."""

    plan: PeerPlan
    workspace: Workspace
    terms: Terms
    reuse: bool = True
    retry_failed: bool = False
    on_reply: OnReply | None = None
    executor: Executor | None = None
    """Where the calls are made; None for this process."""

    def marks(self, requests: Sequence[MarkingRequest]) -> list[Mark]:
        """Every model's mark of every piece of work, in every round."""
        wanted: dict[tuple[int, str, int], tuple[MarkingRequest, PeerModel, Call]] = {
            (index, model.name, number): (request, model, self._marking_call(request, model, number))
            for index, request in enumerate(requests)
            for model in self.plan.models
            for number in range(1, self.plan.rounds + 1)
        }
        tries = self.with_retries({key: call for key, (_, _, call) in wanted.items()})
        answers = {key: [replies[-1]] for key, replies in tries.items()}
        for _ in range(self.plan.follow_ups):
            unread = {k: replies for k, replies in answers.items() if worth_asking_again(read_replies(replies)[1])}
            asked = self._ask({key: self._follow_up(wanted[key][2], replies) for key, replies in unread.items()})
            answers |= {key: [*unread[key], reply] for key, reply in asked.items()}
        return [
            mark_of(
                replies,
                essay=wanted[key][0].essay,
                grader=wanted[key][1].author(self.plan.prompts),
                round_number=key[2],
            )
            for key, replies in answers.items()
        ]

    def with_retries(self, calls: dict[K, Call]) -> dict[K, list[Reply]]:
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

    def _marking_call(self, request: MarkingRequest, model: PeerModel, number: int) -> Call:
        schema = marking_schema(composites=self.plan.composites) if model.asks_structure else None
        return Call.ask(
            model.model,
            *request.parts,
            system=request.instructions,
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

    def _ask(self, calls: dict[K, Call]) -> dict[K, Reply]:
        if not calls:
            return {}
        ask = run_calls if self.executor is None else partial(spread_calls, executor=self.executor)
        answers = ask(
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
