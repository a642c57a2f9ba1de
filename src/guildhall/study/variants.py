"""Adding an under-specified brief to a workspace, from a file or from a model."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.variants import BriefVariant
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, ModelError, UnknownName, UnreadableFile
from guildhall.sampling.underspecify import draft_variants, variant_by_hand
from guildhall.store.workspace import Workspace
from guildhall.taskbank.listing import latest_tasks


def add_variant(
    task_id: str, *, brief: Path | None, model: str | None, confirmed_by: str | None, workspace: Workspace
) -> BriefVariant:
    """Keep a variant written by hand, or a model's draft; a draft can be confirmed by giving its text as a file."""
    task = latest_tasks(workspace.store).get(task_id)
    if task is None:
        raise UnknownName("task", task_id, fix="import it with `guildhall tasks import`")
    if (brief is None) == (model is None):
        raise InputError("give the shorter brief with --brief FILE, or let a model draft it with --model MODEL")
    if brief is not None:
        try:
            text = brief.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(brief, f"cannot be read as text ({error})") from error
        variant = variant_by_hand(task, text, made_by=f"file {brief.name}", confirmed_by=confirmed_by)
    else:
        if confirmed_by is not None:
            raise InputError("a model's draft is confirmed after it was read: save it, then give it with --brief")
        drafts, faults = draft_variants([task], model=model or "", workspace=workspace, terms=Terms(run="underspecify"))
        if not drafts:
            raise ModelError(f"no variant of {task_id!r}: {faults[task_id]}")
        variant = drafts[0]
    workspace.store.add(variant)
    return variant
