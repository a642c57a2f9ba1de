"""Asking models for marks: every call a work item of the engine, retried past any cache, followed up where unread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, Mark, NoGrade, Reading
from guildhall.domain.grades import COMPOSITES, NUMERIC
from guildhall.domain.submissions import FREE, StopReason, Usage
from guildhall.engine.calls import Call, FilePart, Message, Reply, TextPart
from guildhall.engine.executor import Executor
from guildhall.engine.oneshot import run_calls
from guildhall.engine.spreading import spread_calls
from guildhall.engine.terms import Terms
from guildhall.errors import ModelError
from guildhall.peer.plan import PeerModel, PeerPlan
from guildhall.peer.prompts import follow_up_prompt, marking_schema
from guildhall.peer.reader import read_grade
from guildhall.store.workspace import Workspace

FOLLOW_UP = "\n\n[asked again for the grade]\n\n"
"""Stands between a grader's answers where a follow-up question was put."""
_CUT_OFF = (StopReason.TRUNCATED, StopReason.TOKEN_LIMIT, StopReason.TIME_LIMIT)


def read_replies(replies: Sequence[Reply]) -> tuple[str, Reading]:
    """All a grader said, joined, and the reading of it: of the last answer that states a grade, else of the first."""
    said = ""
    readings: list[Reading] = []
    for reply in replies:
        said += FOLLOW_UP if readings else ""
        readings.append(_shifted(_read(reply), len(said)))
        said += reply.text
    stated = [reading for reading in readings if reading.grade is not None]
    return said, stated[-1] if stated else readings[0]


def _read(reply: Reply) -> Reading:
    if reply.failed:
        return Reading(rule="none", confidence=1.0, reason=NoGrade.CALL_FAILED)
    structured = reply.data.get("grade") if isinstance(reply.data, dict) else None
    if isinstance(structured, str) and (structured in NUMERIC or structured in COMPOSITES):
        start = reply.text.rfind(f'"{structured}"') + 1
        span = (start, start + len(structured)) if start else None
        return Reading(grade=structured, span=span, rule="structured", confidence=1.0)
    reading = read_grade(reply.text, cut_off=reply.stop in _CUT_OFF)
    if reading.grade is None and reply.stop is StopReason.REFUSED:
        return Reading(rule="none", confidence=1.0, reason=NoGrade.REFUSED)
    return reading


def _shifted(reading: Reading, by: int) -> Reading:
    return reading.but(span=(reading.span[0] + by, reading.span[1] + by)) if reading.span and by else reading


def worth_asking_again(reading: Reading) -> bool:
    """Whether a follow-up question may help: not after a refusal or a call that failed."""
    return reading.grade is None and reading.reason not in (NoGrade.REFUSED, NoGrade.CALL_FAILED)


def essay_of(replies: Sequence[Reply], *, run: str, domain: str, author: ModelRun) -> Essay:
    """An author's essay from the last try; the usage of every try is in it."""
    last = replies[-1]
    return Essay(
        run=run,
        domain=domain,
        author=author,
        text=last.text,
        stop=last.stop.value,
        seconds=last.seconds,
        cached=last.cached,
        usage=total_usage(replies),
        made_at=last.made_at,
    )


def mark_of(replies: Sequence[Reply], *, essay: Essay, grader: ModelRun, round_number: int) -> Mark:
    """A grader's mark from all its answers. Only the first, full answer is timed: a follow-up is a line."""
    said, reading = read_replies(replies)
    first = replies[0]
    return Mark(
        run=essay.run,
        domain=essay.domain,
        essay=essay.key,
        grader=grader,
        round=round_number,
        reply=said,
        reading=reading,
        attempts=len(replies),
        error=replies[-1].error,
        stop=first.stop.value,
        seconds=first.seconds,
        cached=first.cached,
        usage=total_usage(replies),
        made_at=replies[-1].made_at,
    )


def total_usage(replies: Sequence[Reply]) -> Usage:
    return sum((reply.usage for reply in replies), FREE)


def can_be_marked(essay: Essay) -> bool:
    """A refusal or an empty answer is recorded, but is no essay for others to mark."""
    return bool(essay.text.strip()) and essay.stop in (StopReason.FINISHED, *_CUT_OFF)


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
