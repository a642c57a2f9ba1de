"""A draft made ready for its reviewers: files scrubbed and shown as pages, and the first advice on it."""

from __future__ import annotations

from datetime import datetime

from guildhall.documents.looking import Documents
from guildhall.domain.judgments import BlindedSide, BlindedView
from guildhall.domain.prepared import Prepared
from guildhall.domain.reviews import Draft, Screening
from guildhall.domain.tasks import Task
from guildhall.judging.blinding import shown_file
from guildhall.judging.preparing import VERSION, Preparer, expert_subject
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.taskbank.review.screening import screen_by_rule


def make_ready(workspace: Workspace, draft: Draft, looking: Documents, *, made_at: datetime) -> Screening:
    """Prepare a draft's files and screen it by rule; what was made before is found, not made again."""
    preparer = Preparer(workspace, looking)
    prepared = (preparer.references(draft.task), preparer.expert_files(draft.task))
    key = f"{draft.key}:rule"
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
