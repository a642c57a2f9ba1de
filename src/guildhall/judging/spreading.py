"""Making work ready over several processes or machines: scrubbing, rendering and reading, each submission once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guildhall.documents.looking import documents
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.engine.executor import Executor, Needs
from guildhall.engine.spreading import parts
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Address, Workspace

BATCH = 16
"""Submissions in one batch: they share one LibreOffice, which is slow to start, and a lost node costs little."""

Work = tuple[Submission, Task]


@dataclass(frozen=True)
class PreparingBatch:
    """References and submissions for one process: everything it needs to know, ready to be pickled."""

    workspace: Address
    tasks: tuple[Task, ...] = ()
    works: tuple[Work, ...] = ()


def prepare_all(
    works: Sequence[Work], *, workspace: Workspace, executor: Executor, heard: Callable[[int], None] | None = None
) -> int:
    """Prepare every submission and its task's references; how many parts of them cannot be shown.

    What was prepared before is found, not made again. `heard` is told how many are ready, batch by batch.
    """
    at, needs = workspace.at, Needs(offices=1)
    # References first and by themselves: submissions to one task would otherwise have several workers make them.
    references = [
        PreparingBatch(at, tasks=tuple(part)) for part in parts({task.key: task for _, task in works}.values(), BATCH)
    ]
    for prepared in executor.map(prepare_batch, references, needs=needs):
        prepared.result()
    ready = omissions = 0
    submissions = [PreparingBatch(at, works=tuple(part)) for part in parts(works, BATCH)]
    for ended in executor.map(prepare_batch, submissions, needs=needs):
        omissions += ended.result()
        ready += len(ended.argument.works)
        if heard is not None:
            heard(ready)
    return omissions


def prepare_batch(batch: PreparingBatch) -> int:
    """One batch, wherever it was dealt to; how many parts of its submissions cannot be shown."""
    omissions = 0
    with (
        Workspace.at_address(batch.workspace.elsewhere()) as workspace,
        documents(workspace.path / "cache", workers=1) as looking,
    ):
        preparer = Preparer(workspace, looking)
        for task in batch.tasks:
            preparer.references(task)
        for submission, task in batch.works:
            omissions += sum(len(file.omitted) for file in preparer.submission(submission, task).files)
    return omissions
