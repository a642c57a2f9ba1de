"""One author's submissions as the package of the public grading service."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import Submission
from guildhall.errors import UnknownName
from guildhall.sampling.package import Packed, pack
from guildhall.store.workspace import Workspace
from guildhall.taskbank.listing import latest_tasks


def pack_author(author: str, *, sample: int, out: Path, base: Path | None, workspace: Workspace) -> Packed:
    """Pack the given try of an author for every task; a replaced submission gives way to its successor."""
    found: dict[str, Submission] = {}
    known: set[str] = set()
    for submission in workspace.store.each(Submission):
        if not isinstance(submission.author, ModelRun):
            continue
        known.add(submission.author.name)
        if submission.author.name == author and submission.author.sample == sample:
            found[submission.task] = submission
    if not found:
        raise UnknownName(f"author with sample {sample}", author, known=sorted(known))
    tasks = list(latest_tasks(workspace.store).values())
    return pack(found, tasks=tasks, blobs=workspace.blobs, out=out, base=base)
