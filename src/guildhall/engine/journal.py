"""Durable notes at speed: many writers wait for one commit, and each goes on only when its note is on disk."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread

from guildhall.domain.values import Value
from guildhall.errors import HoldLost
from guildhall.store.ledger import Answered, Ledger, Sent
from guildhall.store.records import Store
from guildhall.store.work import LEASE_S, ItemEnd, Work, this_worker

logger = logging.getLogger(__name__)
TAKEN_OVER = "another process is at work on them"
"""Why items were left that are not this worker's, or not any more."""


@dataclass(frozen=True)
class Note:
    """What is to be written together: a call sent, answered or taken back, an item ended, values made."""

    sent: Sent | None = None
    answered: Answered | None = None
    void: str | None = None
    outcome: ItemEnd | None = None
    values: tuple[Value, ...] = ()


class Journal:
    """Groups the notes of concurrent tasks: while one commit runs, the next group gathers.

    `write` returns when the note is durable. The notes of a group share one transaction. An item that another worker
    has taken over, because this one was silent for too long, is not this one's to end: nothing it made is kept.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._work, self._ledger = store, Work(store), Ledger(store)
        self._waiting: list[tuple[Note, anyio.Event]] = []
        self._taken_over: set[str] = set()
        self._wake = anyio.Event()
        self._failure: Exception | None = None
        self._closing = self._ended = False

    @property
    def failure(self) -> Exception | None:
        """What ended the keeping of notes, if anything did."""
        return self._failure

    async def write(self, note: Note) -> bool:
        """Whether the item's end was kept; what was sent and answered is on the ledger in any case."""
        if self._failure is not None:
            raise self._failure
        if self._ended:  # a straggler of a run that was stopped: nobody else writes any more
            self._write_down([note])
            return note.outcome is None or note.outcome.item not in self._taken_over
        written = anyio.Event()
        self._waiting.append((note, written))
        self._wake.set()
        await written.wait()
        if self._failure is not None:
            raise self._failure
        return note.outcome is None or note.outcome.item not in self._taken_over

    async def run(self) -> None:
        """Commit group after group until closed; a cancelled run still writes down what has arrived."""
        with anyio.CancelScope(shield=True):
            while not self._closing or self._waiting:
                await self._wake.wait()
                self._wake = anyio.Event()
                group, self._waiting = self._waiting, []
                if group:
                    await self._commit(group)
            self._ended = True

    async def _commit(self, group: list[tuple[Note, anyio.Event]]) -> None:
        try:
            await anyio.to_thread.run_sync(self._write_down, [note for note, _ in group])
        except Exception as failure:  # noqa: BLE001 - handed to every writer that waits
            self._failure = failure
        for _, written in group:
            written.set()

    def _write_down(self, notes: list[Note]) -> None:
        """Once more, all of it, where the database went away: whether it had been written is not known, and seen."""
        self._store.outlast(lambda: self._write_once(notes))

    def _write_once(self, notes: list[Note]) -> None:
        with self._store.transaction():
            self._ledger.begin([note.sent for note in notes if note.sent])
            self._ledger.end([note.answered for note in notes if note.answered])
            self._ledger.void([note.void for note in notes if note.void])
            ending = [note.outcome.item for note in notes if note.outcome]
            taken_over = set(ending) - self._work.still_held(ending, worker=this_worker())
            if taken_over:
                taken_over -= self._work.ended_so([note.outcome for note in notes if note.outcome])
            kept = [note for note in notes if note.outcome is None or note.outcome.item not in taken_over]
            self._store.add_all(value for note in kept for value in note.values)
            self._work.finish([note.outcome for note in kept if note.outcome])
        if taken_over - self._taken_over:
            logger.warning("%s", HoldLost(f"{len(taken_over)} items"))
        self._taken_over |= taken_over

    def close(self) -> None:
        self._closing = True
        self._wake.set()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Let the one error that ended a group of tasks out by itself, so that callers can name what they catch."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from group


@asynccontextmanager
async def open_journal(store: Store) -> AsyncIterator[Journal]:
    """A journal that commits in the background for as long as the block runs."""
    journal = Journal(store)
    async with anyio.create_task_group() as group:
        group.start_soon(journal.run)
        try:
            yield journal
        finally:
            journal.close()


@asynccontextmanager
async def keep_leases(work: Work) -> AsyncIterator[None]:
    """Renew this process's leases for as long as the block runs, so that no other machine takes its items."""

    async def renew() -> None:
        while True:
            await anyio.sleep(LEASE_S / 3)
            await anyio.to_thread.run_sync(lambda: work.renew(worker=this_worker()))

    async with anyio.create_task_group() as group:
        group.start_soon(renew)
        try:
            yield
        finally:
            group.cancel_scope.cancel()
