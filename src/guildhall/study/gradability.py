"""Which tasks of a workspace take no part in automatic grading, by rule and by hand."""

from __future__ import annotations

from datetime import UTC, datetime

from guildhall.domain.judges import Gradability
from guildhall.errors import InputError, UnknownName
from guildhall.grading.judges.gradability import ungradable
from guildhall.store.workspace import Workspace
from guildhall.taskbank.listing import latest_tasks


def ungradable_tasks(workspace: Workspace) -> dict[str, str]:
    """Task id -> why it is out."""
    return ungradable(workspace.store, latest_tasks(workspace.store).values())


def mark_task(workspace: Workspace, task: str, *, gradable: bool, reason: str | None, by: str) -> Gradability:
    """A person's word on one task; it counts before the rule's, and a later word before an earlier one."""
    if task not in latest_tasks(workspace.store):
        raise UnknownName("task", task, fix="see `guildhall tasks list`")
    if not reason:
        raise InputError('say why: `--reason "..."`')
    word = Gradability(task=task, gradable=gradable, reason=reason, by=by, made_at=datetime.now(UTC))
    workspace.store.add(word)
    return word
