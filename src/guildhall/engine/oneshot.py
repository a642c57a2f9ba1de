"""Run one-shot calls: each asked once, recorded before and after, resumed without repeating any."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from guildhall.domain.submissions import FREE, StopReason, Usage
from guildhall.domain.values import canonical_json, sha256, well_formed
from guildhall.engine.attempts import BOOK, CallBook
from guildhall.engine.calls import Call, Reply
from guildhall.engine.faults import in_words, storage_failed
from guildhall.engine.journal import TAKEN_OVER, Journal, Note, keep_leases, open_journal, plain_errors
from guildhall.engine.models import ReadBlob, chat_of, config_of, open_model, parsed, stop_of, with_schema
from guildhall.engine.old_receipts import book_old_receipts
from guildhall.engine.purse import Purse
from guildhall.engine.terms import Terms
from guildhall.observe.redact import redact
from guildhall.observe.spans import Doing, span
from guildhall.store.ledger import LATE, Answered, Ledger, Spending
from guildhall.store.work import ItemEnd, Work, WorkState, this_worker
from guildhall.store.workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model

OnReply = Callable[[Call, Reply], None]

STOPPED, GIVEN_UP = f"{LATE} been stopped, and was not used", f"{LATE} given it up, and was not used"


@dataclass(frozen=True)
class Answers:
    """What a run of calls came to.

    `replies` holds one reply for each call that has one, by call key, failures included. `left` are the keys of
    calls that were not made because a limit of the run was reached, or because another process is at them. `faults` are
    those that a fault of ours kept from being asked or heard, with its words; the next run takes them up again.
    """

    replies: dict[str, Reply]
    left: tuple[str, ...] = ()
    why_left: str | None = None
    faults: Mapping[str, str] = field(default_factory=dict)

    def of(self, call: Call) -> Reply | None:
        return self.replies.get(call.key)


def run_calls(
    calls: Iterable[Call],
    *,
    workspace: Workspace,
    terms: Terms,
    reuse: bool = True,
    retry_failed: bool = False,
    on_reply: OnReply | None = None,
) -> Answers:
    """Ask every call once and keep each reply as soon as it is there.

    Killed and started again, it goes on where it stopped: answered calls are not asked again, and what they
    cost still counts against the limits. With `reuse`, a call that another run already asked is answered from
    there, free and without time; without it the run asks afresh. Failed calls are reported as they failed, and asked
    again only with `retry_failed`. `on_reply` hears of each reply once it is safe on disk.
    """
    wanted = {item_key(call, terms.run, reuse): call for call in calls}
    terms.require_prices((call.model, "base_url" in call.settings) for call in wanted.values())
    asking = _Asking(Work(workspace.store), terms, workspace.blobs.read, on_reply or _unheard)
    asking.open_models(wanted.values())
    work = asking.work
    work.plan(wanted, kind="call", run=terms.run)
    if retry_failed:
        work.reopen(list(wanted))
    known = known_replies(work, wanted, terms.run)
    for key, reply in known.items():
        if on_reply is not None:
            on_reply(wanted[key], reply)
    open_keys = [key for key in wanted if key not in known]
    claimed = work.claim(open_keys, worker=this_worker())
    book_old_receipts(workspace, now=terms.now())
    with plain_errors():
        anyio.run(asking.ask_all, {key: wanted[key] for key in open_keys if key in claimed})
    busy = [key for key in open_keys if key not in claimed] + asking.taken_over
    why = asking.why_left or (TAKEN_OVER if busy else None)
    found = {wanted[key].key: reply for key, reply in (known | asking.replies).items()}
    faults = {wanted[key].key: words for key, words in asking.faults.items()}
    return Answers(found, left=tuple(wanted[key].key for key in (*asking.left, *busy)), why_left=why, faults=faults)


@dataclass
class _Asking:
    """What the tasks of one run share while they ask."""

    work: Work
    terms: Terms
    read_blob: ReadBlob
    on_reply: OnReply
    replies: dict[str, Reply] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    taken_over: list[str] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)
    why_left: str | None = None
    models: dict[bytes, tuple[Model, GenerateConfig]] = field(default_factory=dict)

    def open_models(self, calls: Iterable[Call]) -> None:
        """Open each model once, before anything is asked: a wrong name or setting costs nothing."""
        for call in calls:
            if (key := _model_key(call)) not in self.models:
                config = config_of(call.settings, pace=self.terms.pace, limits=self.terms.limits)
                self.models[key] = open_model(call.model, call.settings, config), config

    async def ask_all(self, calls: dict[str, Call]) -> None:
        """Every model has its own queue and its own askers, so that a slow one holds up no other."""
        queues: dict[str, deque[tuple[str, Call]]] = defaultdict(deque)
        for key, call in calls.items():
            queues[call.model].append((key, call))
        purse = Purse(self.terms.limits, recount=self._recount, clock=self.terms.now)
        try:
            async with (
                keep_leases(self.work),
                open_journal(self.work.store) as journal,
                anyio.create_task_group() as group,
            ):
                for queue in queues.values():
                    for _ in range(min(len(queue), self.terms.pace.waiting_at_most)):
                        group.start_soon(self._ask_from, queue, journal, purse)
        finally:
            ended = {*self.replies, *self.taken_over, *self.faults}
            self.left = [key for key in calls if key not in ended]
            self.work.release(self.left, worker=this_worker())

    def _recount(self) -> Spending:
        return Ledger(self.work.store).spent(run=self.terms.run)

    async def _ask_from(self, queue: deque[tuple[str, Call]], journal: Journal, purse: Purse) -> None:
        while queue:
            self.why_left = purse.start() or self.why_left
            if self.why_left is not None:
                return
            key, call = queue.popleft()
            if (chat := await self._written(key, call, journal)) is None:
                purse.end(FREE)
                continue
            reply, kept = await self._ask(key, call, chat, journal)
            purse.end(reply.usage)
            if kept:
                self.replies[key] = reply
                self.on_reply(call, reply)
            else:
                self.taken_over.append(key)

    async def _written(self, key: str, call: Call, journal: Journal) -> list[ChatMessage] | None:
        """The question with its files; None where they cannot be fetched, which is no failure of whom we ask."""
        try:
            return await anyio.to_thread.run_sync(chat_of, call.messages, self.read_blob)
        except Exception as error:
            if not storage_failed(error):
                raise
            self.faults[key] = in_words(error)
            await journal.write(Note(outcome=ItemEnd(key, self.terms.now(), error=self.faults[key])))
            return None

    async def _ask(self, key: str, call: Call, chat: list[ChatMessage], journal: Journal) -> tuple[Reply, bool]:
        """One call from the ledger's first line to its last, and whether its reply is the one that stands."""
        asked = _Asked(journal)
        book = CallBook(journal, self.terms, key, "base_url" in call.settings, asked.hold)
        token = BOOK.set(book)
        try:
            with span(Doing.CALL, model=call.model) as facts:
                reply = await self._reply(call, chat, book, asked)
                facts["stop"] = reply.stop.value
        except BaseException:
            await asked.drop(STOPPED)
            raise
        finally:
            BOOK.reset(token)
        outcome = ItemEnd(key, self.terms.now(), result=reply.model_dump_json(), error=reply.error)
        note = Note() if asked.answer is not None else book.given_up(call.model, reply.error or "")
        answered = note.answered if asked.answer is None else replace(asked.answer, error=reply.error)
        with anyio.CancelScope(shield=True):
            kept = await journal.write(replace(note, answered=answered, outcome=outcome))
        return reply, kept

    async def _reply(self, call: Call, chat: list[ChatMessage], book: CallBook, asked: _Asked) -> Reply:
        model, config = self.models[_model_key(call)]
        try:
            output = await model.generate(chat, config=with_schema(config, call))
        except Exception as error:  # noqa: BLE001 - whatever a provider raises is the outcome of this call
            await asked.drop(GIVEN_UP)
            words = redact(f"{type(error).__name__}: {error}")[:2000]
            failed = StopReason.PROVIDER_FAILED
            return Reply(call=call.key, stop=failed, error=words, usage=Usage(calls=1), made_at=self.terms.date())
        stop = stop_of(output)
        return Reply(
            call=call.key,
            text=well_formed(output.completion),
            data=parsed(output.completion) if call.answer_schema is not None else None,
            stop=stop,
            error=redact(output.error or "an answer without content") if stop is StopReason.PROVIDER_FAILED else None,
            usage=(FREE if asked.answer is None else asked.answer.usage) + book.unknown_cost,
            seconds=output.time,
            served_by=output.model or None,
            made_at=self.terms.date(),
        )


@dataclass
class _Asked:
    """One question on its way. Its answer is held until it is written down together with what became of it."""

    journal: Journal
    answer: Answered | None = None

    async def hold(self, answer: Answered) -> None:
        await self.drop(GIVEN_UP)
        self.answer = answer

    async def drop(self, why: str) -> None:
        """The answer that is held was paid for, and is not used."""
        held, self.answer = self.answer, None
        if held is not None:
            with anyio.CancelScope(shield=True):
                await self.journal.write(Note(answered=replace(held, error=why)))


def _unheard(_call: Call, _reply: Reply) -> None:
    """For callers who only want the answers at the end."""


def item_key(call: Call, run: str, reuse: bool) -> str:
    """Under what a call is kept: runs share it, unless this one asks afresh."""
    return call.key if reuse else sha256(canonical_json([run, call.key]))


def _model_key(call: Call) -> bytes:
    return canonical_json([call.model, call.settings])


def known_replies(work: Work, keys: Iterable[str], run: str) -> dict[str, Reply]:
    """The kept replies of these items; one that another run paid for is free for this one."""
    known: dict[str, Reply] = {}
    for key, item in work.items(keys).items():
        if item.state in (WorkState.DONE, WorkState.FAILED) and item.result is not None:
            reply = Reply.model_validate_json(item.result)
            known[key] = reply if item.run == run else reply.reused()
    return known
