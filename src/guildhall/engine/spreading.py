"""One-shot calls over several processes or machines, all of them within the limits of one run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from guildhall.engine.calls import Call, Reply
from guildhall.engine.executor import Executor, Needs
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.oneshot import Answers, OnReply, item_key, run_calls
from guildhall.engine.terms import Terms
from guildhall.store.work import LEASE_S, Work
from guildhall.store.workspace import Address, Workspace

T = TypeVar("T")

BATCH = 64
"""Calls in one batch: few enough that a lost node costs little, enough that dealing them costs nothing."""


@dataclass(frozen=True)
class CallBatch:
    """Calls for one process: everything it needs to know, ready to be pickled."""

    workspace: Address
    calls: tuple[Call, ...]
    terms: Terms
    reuse: bool = True


def spread_calls(
    calls: Sequence[Call],
    *,
    workspace: Workspace,
    terms: Terms,
    executor: Executor,
    reuse: bool = True,
    retry_failed: bool = False,
    on_reply: OnReply | None = None,
    size: int = BATCH,
) -> Answers:
    """Like `run_calls`, dealt to an executor in batches; all of them count against the same limits.

    `on_reply` hears of each reply here, batch by batch.
    """
    if retry_failed:
        Work(workspace.store).reopen([item_key(call, terms.run, reuse) for call in calls])
    by_key = {call.key: call for call in calls}
    replies: dict[str, Reply] = {}
    shared, needs = shared_terms(terms, places=executor.places)
    for _ in looks():
        waiting = [call for call in calls if call.key not in replies]
        left: list[str] = []
        faults: dict[str, str] = {}
        why = None
        dealt = [CallBatch(workspace.at, tuple(part), shared, reuse) for part in parts(waiting, size)]
        for ended in executor.map(answer_batch, dealt, needs=needs):
            answers = ended.result()
            replies |= answers.replies
            if on_reply is not None:
                for key, reply in answers.replies.items():
                    on_reply(by_key[key], reply)
            left += answers.left
            faults |= answers.faults
            why = answers.why_left or why
        if why != TAKEN_OVER:
            break
    return Answers(replies, left=tuple(left), why_left=why, faults=faults)


def answer_batch(batch: CallBatch) -> Answers:
    """One batch, wherever it was dealt to."""
    with Workspace.from_afar(batch.workspace) as workspace:
        return run_calls(batch.calls, workspace=workspace, terms=batch.terms, reuse=batch.reuse)


def shared_terms(terms: Terms, *, places: int) -> tuple[Terms, Needs]:
    """The terms of each batch, and how many batches may run at once, so that a provider feels one run, not many."""
    pace = terms.pace
    batches = min(places, pace.connections or pace.at_most)
    each = pace.but(
        connections=pace.connections and pace.connections // batches, at_most=max(1, pace.at_most // batches)
    )
    return replace(terms, pace=each), Needs(at_once=batches)


def parts(everything: Iterable[T], size: int) -> Iterator[list[T]]:
    """The same things in the same order, so many at a time."""
    stream = iter(everything)
    while part := list(islice(stream, size)):
        yield part


def looks(*, pause_s: float = 5.0, for_s: float = 1.2 * LEASE_S) -> Iterator[None]:
    """When to look again at items another worker seems to hold: until the lease of a dead one has surely run out."""
    end = time.monotonic() + for_s
    yield
    while time.monotonic() < end:
        time.sleep(pause_s)
        yield
