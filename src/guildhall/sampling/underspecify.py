"""Under-specified variants of tasks: drafted by a person or a model, used only once a reviewer has confirmed them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from pydantic import JsonValue

from guildhall.domain.tasks import Task
from guildhall.domain.variants import LEFT_OUT, BriefVariant, count_tokens
from guildhall.engine.calls import Call
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace


def variant_by_hand(
    task: Task, brief: str, *, made_by: str, confirmed_by: str | None = None, left_out: Sequence[str] = LEFT_OUT
) -> BriefVariant:
    """A variant somebody wrote. It must be shorter than the original."""
    if count_tokens(brief) >= count_tokens(task.brief):
        raise InputError(f"the variant of {task.id!r} is not shorter than its brief; leave context out, add nothing")
    return BriefVariant.of(
        task.id,
        task.brief,
        brief.strip(),
        task_version=task.version,
        left_out=tuple(left_out),
        made_by=made_by,
        confirmed_by=confirmed_by,
    )


def draft_variants(
    tasks: Sequence[Task],
    *,
    model: str,
    settings: dict[str, JsonValue] | None = None,
    workspace: Workspace,
    terms: Terms,
) -> tuple[list[BriefVariant], dict[str, str]]:
    """Variants a model drafted, unconfirmed, and the tasks for which it gave none, with the reason."""
    prompt = files("guildhall.sampling").joinpath("prompts", "underspecify-1.md").read_text(encoding="utf-8")
    calls = {
        task.id: Call.ask(model, task.brief, system=prompt, settings=settings or {}, purpose="underspecify")
        for task in tasks
    }
    answers = run_calls(calls.values(), workspace=workspace, terms=terms)
    drafts, faults = [], {}
    for task in tasks:
        reply = answers.of(calls[task.id])
        if reply is None or reply.failed or not reply.text.strip():
            faults[task.id] = (reply.error if reply else answers.why_left) or "an empty answer"
            continue
        try:
            drafts.append(variant_by_hand(task, reply.text, made_by=model))
        except InputError as fault:
            faults[task.id] = str(fault)
    return drafts, faults
