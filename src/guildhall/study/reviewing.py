"""Where review meets the other parts: files made visible for reviewers, folders submitted, tasks accepted."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from guildhall.documents.looking import Documents
from guildhall.domain.halls import Member
from guildhall.domain.judgments import BlindedSide, BlindedView
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.reviews import Decision, DecisionKind, Draft, Screening
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id
from guildhall.errors import InputError
from guildhall.grading.design import expert_name
from guildhall.grading.people import Roster
from guildhall.judging.preparing import Preparer, expert_subject, shown_file
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.taskbank.importing import read_source, with_digests
from guildhall.taskbank.review.desk import ReviewDesk
from guildhall.taskbank.review.histories import history_of
from guildhall.taskbank.review.screening import RULE, screen_by_rule


def make_ready(workspace: Workspace, draft: Draft, looking: Documents, *, made_at: datetime) -> Screening:
    """Prepare a draft's files and screen it by rule; what was made before is found, not made again."""
    preparer = Preparer(workspace, looking)
    prepared = (preparer.references(draft.task), preparer.expert_files(draft.task))
    key = f"{draft.key}:{RULE}"
    if workspace.store.has(Screening, key):
        return workspace.store.get(Screening, key)
    screening = screen_by_rule(draft, texts=_texts(workspace.blobs, prepared), made_at=made_at)
    workspace.store.add(screening)
    return screening


def is_ready(store: Store, task: Task) -> bool:
    return all(store.has(Prepared, key) for key in _keys(task))


def draft_texts(workspace: Workspace, draft: Draft) -> dict[str, str]:
    """The words of a draft's files by file name, as far as they could be read."""
    return _texts(workspace.blobs, _found(workspace.store, draft.task))


def draft_view(store: Store, task: Task) -> BlindedView:
    """A draft as its reviewers see it: references as `R`, the author's own files as side `A`, all under their names."""
    references, expert = _found(store, task)
    return BlindedView(
        brief=task.brief,
        reference_files=tuple(shown_file(file, file.public_name or "file") for file in references.files),
        sides=(
            BlindedSide(
                place="A",
                files=tuple(shown_file(file, file.public_name or "file") for file in expert.files),
                text=task.expert_text,
            ),
        ),
    )


def _keys(task: Task) -> tuple[str, str]:
    return f"{task.content_digest()}:{VERSION}", f"{expert_subject(task)}:{VERSION}"


def _found(store: Store, task: Task) -> tuple[Prepared, Prepared]:
    references, expert = (store.get(Prepared, key) for key in _keys(task))
    return references, expert


def _texts(blobs: Blobs, prepared: tuple[Prepared, ...]) -> dict[str, str]:
    return {
        file.public_name or "file": blobs.read(file.text).decode(errors="replace")
        for one in prepared
        for file in one.files
        if file.text
    }


def submit_folder(
    workspace: Workspace, desk: ReviewDesk, folder: Path, author: Member, *, now: float, **about: Any
) -> Draft:
    """Keep a task folder's files and submit it as the next version of its draft; `about` goes to the desk."""
    incoming = read_source(folder)
    if len(incoming.tasks) != 1:
        raise InputError(f"{folder} holds {len(incoming.tasks)} tasks; submit one task folder at a time")
    task = with_digests(incoming.tasks[0], incoming, workspace.blobs, lambda _name: None)
    return desk.submit(task, author, now=now, **about)


def accept(desk: ReviewDesk, roster: Roster, task: Id, by: Member, *, now: float, words: str = "") -> Decision:
    """Accept a task into the bank; its author is remembered as the maker of its expert work, and so never judges it."""
    author = desk.people.get(history_of(desk.store, task).author)
    with desk.store.transaction():
        decision = desk.decide(task, DecisionKind.ACCEPTED, by, now=now, words=words)
        if author is not None and expert_name(task) not in author.author_names:
            roster.change(author.but(author_names=(*author.author_names, expert_name(task))))
    return decision
