"""What is made of tasks and tries: the best of N, picked by a judge, and under-specified briefs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random

from pydantic import JsonValue

from guildhall.domain.authors import ModelGrader, ModelRun
from guildhall.domain.picks import Pick
from guildhall.domain.submissions import OUR_FAULT, StopReason, Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import canonical_json, sha256
from guildhall.domain.variants import LEFT_OUT, BriefVariant, count_tokens
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, UnreadableVerdict
from guildhall.judging.fences import UNFENCED, Fences
from guildhall.judging.preparing import Preparer
from guildhall.judging.rubrics import pick_call, read_pick
from guildhall.judging.verdicts import reason_in
from guildhall.store.workspace import Workspace

N = 4


@dataclass(frozen=True)
class Tries:
    """One author's tries at one task, in the order the judge will see them."""

    task: Task
    author: str
    order: tuple[Submission, ...]
    seed: int


@dataclass(frozen=True)
class Picking:
    """What a round of picking came to; groups with fewer than two tries were `skipped`."""

    picks: tuple[Pick, ...]
    skipped: int
    left: int


def group_tries(
    tasks: Sequence[Task], submissions: Sequence[Submission], *, n: int = N, seed: int
) -> tuple[list[Tries], int]:
    """Each author's first `n` tries at each task, shuffled by seed; and how many groups had fewer than two.

    Tries that failed through no fault of the author, or that were replaced since, take no part.
    """
    by_key = {task.key: task for task in tasks}
    replaced = {submission.replaces for submission in submissions}
    grouped: dict[tuple[TaskKey, str], list[Submission]] = defaultdict(list)
    for submission in submissions:
        author = submission.author
        usable = submission.stop not in OUR_FAULT and submission.key not in replaced
        if isinstance(author, ModelRun) and usable and submission.task_key in by_key:
            grouped[submission.task_key, f"{author.name}:{author.settings_digest[:12]}"].append(submission)
    tries, skipped = [], 0
    for (task, author_name), group in sorted(grouped.items(), key=lambda one: (one[0][0].id, one[0])):
        first = sorted(group, key=_sample_number)[:n]
        if len(first) < 2:
            skipped += 1
            continue
        own_seed = int(sha256(canonical_json([seed, task.id, author_name]))[:8], 16)
        tries.append(Tries(by_key[task], author_name, tuple(Random(own_seed).sample(first, len(first))), own_seed))
    return tries, skipped


def pick_best(
    tasks: Sequence[Task],
    submissions: Sequence[Submission],
    *,
    judge: ModelGrader,
    workspace: Workspace,
    preparer: Preparer,
    terms: Terms,
    n: int = N,
    seed: int = 0,
    fence_key: bytes | None = None,
) -> Picking:
    """Ask the judge once for each author and task, and keep every pick. An unreadable answer is kept as a failure."""
    tries, skipped = group_tries(tasks, submissions, n=n, seed=seed)
    asked: list[tuple[Tries, Call]] = []
    for group in tries:
        shown = [preparer.submission(submission, group.task) for submission in group.order]
        references = preparer.references(group.task)
        keys = [submission.key for submission in group.order]
        fences = UNFENCED if fence_key is None else Fences.of(fence_key, group.task.key, *keys)
        read = workspace.blobs.read
        asked.append((group, pick_call(judge, group.task, references, shown, read_blob=read, fences=fences)))
    answers = run_calls([call for _, call in asked], workspace=workspace, terms=terms)
    picks = tuple(_pick(group, judge, reply) for group, call in asked if (reply := answers.of(call)) is not None)
    workspace.store.add_all(picks)
    return Picking(picks, skipped=skipped, left=len(asked) - len(picks))


def _pick(group: Tries, judge: ModelGrader, reply: Reply) -> Pick:
    chosen, failure = None, reply.error
    if failure is None and reply.stop is not StopReason.FINISHED:
        failure = reply.stop.value
    if failure is None:
        try:
            chosen = group.order[read_pick(reply.text, len(group.order))].key
        except UnreadableVerdict as unreadable:
            failure = str(unreadable)
    return Pick(
        task=group.task.id,
        author=group.author,
        judge=judge,
        order=tuple(submission.key for submission in group.order),
        chosen=chosen,
        reason=reason_in(reply.text),
        failure=failure,
        seed=group.seed,
        usage=reply.usage,
        made_at=reply.made_at,
    )


def _sample_number(submission: Submission) -> int:
    return submission.author.sample if isinstance(submission.author, ModelRun) else 0


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
