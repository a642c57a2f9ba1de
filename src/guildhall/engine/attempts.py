"""What leaves for a provider is in the ledger first, attempt by attempt, and its row tells what became of it.

Inspect asks through `ModelAPI.generate`, once for each attempt, and there every request of ours passes. One that the
provider refuses costs nothing, and its row is taken back. One that ends without an answer (its time ran out, the
connection broke, the run was stopped or killed) keeps an open row: sent, answer unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
import anyio.lowlevel

from guildhall.domain.submissions import FREE, Usage
from guildhall.engine.journal import Journal, Note
from guildhall.engine.terms import Terms
from guildhall.store.ledger import Answered, Sent

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelUsage

_WRAPPED = "_guildhall_keeps_the_ledger"
_GATEWAY_GAVE_UP = {408, 504, 524}
"""Refusals by somebody between us and the model, which may be answering all the same."""
_NEVER_CONNECTED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "ClientConnectorError"}
_DEEPEST = 8


@dataclass
class CallBook:
    """The model calls of one work item. `on_answer` is handed each answer and sees to it that it is written down."""

    journal: Journal
    terms: Terms
    item: str
    elsewhere: bool
    on_answer: Callable[[Answered], Awaitable[object]]
    unknown: int = field(default=0, init=False)
    """How many requests were sent whose answer, and so whose cost, nobody knows."""
    _refusals: int = field(default=0, init=False)
    _unknown_before: int = field(default=0, init=False)

    @property
    def unknown_cost(self) -> Usage:
        """What those add to a sum: nothing that could be counted, at a price that is unknown."""
        return Usage() if self.unknown else FREE

    async def sent(self, model: str) -> str:
        """Write a request down before it leaves; the number of its row."""
        ticket = uuid4().hex
        sent = Sent(ticket, self.item, self.terms.run, model, self.terms.now())
        with anyio.CancelScope(shield=True):
            await self.journal.write(Note(sent=sent))
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
        except BaseException:  # stopped before it left
            await self._take_back(ticket)
            raise
        return ticket

    async def refused(self, ticket: str) -> None:
        """The provider said no: it counts nothing, and the row goes."""
        self._refusals += 1
        await self._take_back(ticket)

    async def _take_back(self, ticket: str) -> None:
        with anyio.CancelScope(shield=True):
            await self.journal.write(Note(void=ticket))

    async def answered(self, ticket: str, model: str, counted: ModelUsage | None, seconds: float) -> None:
        self._begin_next_call()
        with anyio.CancelScope(shield=True):
            await self.on_answer(Answered(ticket, self._priced(model, counted), self.terms.now(), seconds))

    def _priced(self, model: str, counted: ModelUsage | None) -> Usage:
        """An answer that does not tell its usage has no price either: it is unknown, and not nothing."""
        usage = usage_of(counted)
        return usage if counted is None else self.terms.priced(model, usage, elsewhere=self.elsewhere)

    def given_up(self, model: str, words: str) -> Note:
        """The row of a call that was refused until it was given up; any other has left its row already, or none."""
        only_refused = self._refusals > 0 and self.unknown == self._unknown_before
        self._begin_next_call()
        if not only_refused:
            return Note()
        ticket, now = uuid4().hex, self.terms.now()
        sent = Sent(ticket, self.item, self.terms.run, model, now)
        return Note(sent=sent, answered=Answered(ticket, Usage(calls=1), now, error=words))

    def _begin_next_call(self) -> None:
        self._refusals, self._unknown_before = 0, self.unknown


BOOK: ContextVar[CallBook | None] = ContextVar("guildhall_call_book", default=None)
"""Where the calls of the item that is being worked on are written; absent outside our own runs."""


def booked(model: Model, name: str) -> Model:
    """The same model, whose every attempt is in the ledger. Inspect hands out one object for one name: wrapped once."""
    if getattr(model.api, _WRAPPED, False):
        return model
    generate = model.api.generate

    async def attempt(*arguments: Any, **named: Any) -> Any:
        if (book := BOOK.get()) is None:
            return await generate(*arguments, **named)
        _leave_retries_to_inspect(model.api)
        ticket, begun = await book.sent(name), book.terms.now()
        answer = await _sent_or_refused(book, ticket, lambda: generate(*arguments, **named))
        output, call = answer if isinstance(answer, tuple) else (answer, None)
        if isinstance(output, Exception):
            await _sort_out(book, ticket, output)
        else:
            took = getattr(call, "time", None) or book.terms.now() - begun
            await book.answered(ticket, name, output.usage, max(0.0, took))
        return answer

    setattr(model.api, _WRAPPED, True)
    setattr(model.api, "generate", attempt)  # noqa: B010 - a method of one instance, which mypy will not have assigned
    _book_probe(model.api, name)
    return model


def _leave_retries_to_inspect(api: Any) -> None:
    """A client that asks again by itself would send what no row tells of. Inspect may make a new one at any time."""
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0


async def _sent_or_refused(book: CallBook, ticket: str, ask: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await ask()
    except BaseException as error:
        await _sort_out(book, ticket, error)
        raise


async def _sort_out(book: CallBook, ticket: str, error: BaseException) -> None:
    """Take the row of a refused request back; leave that of one whose answer is unknown open."""
    if costs_nothing(error):
        await book.refused(ticket)
    else:
        book.unknown += 1


def costs_nothing(error: BaseException) -> bool:
    """Whether a provider refused in so many words, or was never reached; of anything else the outcome is unknown."""
    if type(error).__name__ == "APITimeoutError":
        return any(type(one).__name__ in _NEVER_CONNECTED for one in _causes(error))
    for one in _causes(error):
        if (status := _status(one)) is not None:
            return status not in _GATEWAY_GAVE_UP
        if type(one).__name__ in _NEVER_CONNECTED:
            return True
    return False


def _status(error: BaseException) -> int | None:
    """The HTTP status of a refusal, by the names under which providers' clients keep it."""
    for name in ("status_code", "status", "code"):
        if isinstance(value := getattr(error, name, None), int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(_DEEPEST):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


def usage_of(counted: ModelUsage | None) -> Usage:
    """One answered call in our terms: input counts everything read, cached or not."""
    if counted is None:
        return Usage(calls=1)
    cached, written = counted.input_tokens_cache_read or 0, counted.input_tokens_cache_write or 0
    return Usage(
        input_tokens=counted.input_tokens + cached + written,
        output_tokens=counted.output_tokens,
        cached_input_tokens=cached,
        cache_written_tokens=written,
        reasoning_tokens=counted.reasoning_tokens or 0,
        calls=1,
    )


def _book_probe(api: Any, name: str) -> None:
    """A question of Inspect's own, sent once before the first of ours, is in the ledger too; it tells no usage."""
    if (probe := getattr(api, "reasoning_summaries", None)) is None:
        return
    from guildhall.engine.inspect_private import may_probe, probe_outcome

    one_at_a_time = anyio.Lock()

    async def noted() -> Any:
        if (book := BOOK.get()) is None or not may_probe(api):
            return await probe()
        async with one_at_a_time:
            if not may_probe(api):
                return await probe()
            ticket = await book.sent(name)
            book.unknown += 1
            found = await probe()
            if (outcome := probe_outcome(api)) is False:
                book.unknown -= 1
                await book.refused(ticket)
            elif outcome:
                with anyio.CancelScope(shield=True):
                    answered = Answered(ticket, Usage(calls=1), book.terms.now())
                    await book.journal.write(Note(answered=answered))
            return found

    setattr(api, "reasoning_summaries", noted)  # noqa: B010 - as above
