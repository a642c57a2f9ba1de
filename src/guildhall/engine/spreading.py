"""One-shot calls over several processes: for scripted or local models whose own work fills a core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guildhall.engine.calls import Call, Reply
from guildhall.engine.executor import Executor
from guildhall.engine.oneshot import Answers, run_calls
from guildhall.engine.terms import Terms
from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class CallBatch:
    """Calls for one process: everything it needs to know, ready to be pickled."""

    workspace: Path
    calls: tuple[Call, ...]
    terms: Terms
    reuse: bool = True


def spread_calls(
    calls: Sequence[Call],
    *,
    workspace: Workspace,
    terms: Terms,
    executor: Executor,
    batches: int,
    reuse: bool = True,
) -> Answers:
    """Like `run_calls`, dealt to an executor in so many batches; all of them count against the same limits."""
    dealt = [CallBatch(workspace.path, tuple(calls[start::batches]), terms, reuse) for start in range(batches)]
    replies: dict[str, Reply] = {}
    left: list[str] = []
    why = None
    for ended in executor.map(answer_batch, [batch for batch in dealt if batch.calls]):
        answers = ended.result()
        replies |= answers.replies
        left += answers.left
        why = answers.why_left or why
    return Answers(replies, left=tuple(left), why_left=why)


def answer_batch(batch: CallBatch) -> Answers:
    """One batch, in a process of its own."""
    with Workspace.open(batch.workspace) as workspace:
        return run_calls(batch.calls, workspace=workspace, terms=batch.terms, reuse=batch.reuse)
