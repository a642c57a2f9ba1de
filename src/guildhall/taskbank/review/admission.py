"""Which tasks may enter a study: those whose review is complete, and those that never went through ours."""

from __future__ import annotations

from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import ReviewState, Task
from guildhall.errors import InputError
from guildhall.store.records import Store
from guildhall.taskbank.review.histories import history_of
from guildhall.taskbank.review.standing import standing_of

FINISHED = frozenset({ReviewState.ACCEPTED, ReviewState.UNREVIEWED})
"""A public task comes as it is, unreviewed by us; one that says of itself that it is a draft is one."""


def why_not_in_a_study(store: Store, task: Task) -> str | None:
    """Why a task may not be used yet, or None."""
    if task.review not in FINISHED:
        return f"its review is not complete: it is {task.review}"
    if not store.count(Draft, task=task.id):
        return None
    standing = standing_of(history_of(store, task.id))
    return None if standing.state is ReviewState.ACCEPTED else f"its review is not complete: it is {standing.state}"


def require_reviewed(store: Store, task: Task) -> None:
    """Refuse a task whose review is not complete."""
    if why := why_not_in_a_study(store, task):
        raise InputError(f"task {task.id!r} may not enter a study: {why}; finish it with `guildhall review`")
