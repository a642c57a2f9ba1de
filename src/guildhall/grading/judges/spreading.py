"""Automatic grading over several processes or machines: the same verdicts as from one, each asked for once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from guildhall.domain.tasks import Task
from guildhall.engine.executor import Executor
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.spreading import looks, parts, shared_terms
from guildhall.engine.terms import Terms
from guildhall.grading.judges.desk import JudgeDesk, Workbench
from guildhall.grading.judges.verdicts import AskingOutcome
from guildhall.judging.fences import PURPOSE
from guildhall.store.workspace import Address, Workspace

BATCH = 64
"""Verdicts in one batch: few enough that a lost node costs little."""

Ask = Callable[..., AskingOutcome]
"""Asks for what is wanted: `ask(wanted, desk=desk, terms=terms)`. It can be pickled."""


@dataclass(frozen=True)
class Bench:
    """Where a judge with tools works, in words that mean the same on every machine."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    at_once: int = 4


@dataclass(frozen=True)
class JudgingBatch:
    """Verdicts for one process: everything it needs to know, ready to be pickled."""

    workspace: Address
    tasks: tuple[Task, ...]
    ask: Ask
    wanted: tuple[Any, ...]
    terms: Terms
    bench: Bench
    fence_key: bytes = field(repr=False)
    """Another machine may not hold the workspace's secret, and asks the same bytes."""


@contextmanager
def open_desk(
    workspace: Workspace,
    tasks: Iterable[Task],
    bench: Bench,
    *,
    fence_key: bytes | None = None,
    require_hold: Callable[[], None] = lambda: None,
) -> Iterator[JudgeDesk]:
    """A desk with documents at hand; they are opened in confined processes."""
    from guildhall.documents.looking import documents
    from guildhall.judging.preparing import Preparer

    with documents(workspace.path / "cache") as looking:
        workbench = Workbench(looking.renderer.render, bench.sandbox, bench.at_once)
        preparer = Preparer(workspace, looking)
        yield JudgeDesk(workspace, preparer, tasks, workbench=workbench, fence_key=fence_key, require_hold=require_hold)


def spread_judging(
    ask: Ask,
    missing: Callable[[], Sequence[Any]],
    *,
    workspace: Workspace,
    tasks: Sequence[Task],
    terms: Terms,
    bench: Bench,
    executor: Executor,
) -> AskingOutcome:
    """Ask for all that is missing, dealt to an executor in batches; a provider feels one run, not many.

    `missing` is asked again where a dead worker may have held something back.
    """
    shared, needs = shared_terms(terms, places=executor.places)
    batch = JudgingBatch(workspace.at, tuple(tasks), ask, (), shared, bench, workspace.key_for(PURPOSE))
    total = AskingOutcome()
    for _ in looks():
        dealt = [replace(batch, wanted=tuple(part)) for part in parts(missing(), BATCH)]
        found = AskingOutcome()
        for ended in executor.map(judge_batch, dealt, needs=replace(needs, offices=1)):
            found += ended.result()
        total = replace(total, left=0, why_left=None, faults=0, why_fault=None) + found
        if found.why_left != TAKEN_OVER:
            break
    return total


def judge_batch(batch: JudgingBatch) -> AskingOutcome:
    """One batch, wherever it was dealt to."""
    with (
        Workspace.from_afar(batch.workspace) as workspace,
        open_desk(workspace, batch.tasks, batch.bench, fence_key=batch.fence_key) as desk,
    ):
        return batch.ask(batch.wanted, desk=desk, terms=batch.terms)
