"""Best of N: a judge picks one of an author's several tries; the pick, its reason and the losers are all kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from guildhall.domain.authors import ModelGrader, ModelRun
from guildhall.domain.picks import Pick
from guildhall.domain.submissions import OUR_FAULT, StopReason, Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import UnreadableVerdict
from guildhall.judging.picking import pick_call, read_pick
from guildhall.judging.preparing import Preparer
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
) -> Picking:
    """Ask the judge once for each author and task, and keep every pick. An unreadable answer is kept as a failure."""
    tries, skipped = group_tries(tasks, submissions, n=n, seed=seed)
    asked: list[tuple[Tries, Call]] = []
    for group in tries:
        shown = [preparer.submission(submission, group.task) for submission in group.order]
        references = preparer.references(group.task)
        asked.append((group, pick_call(judge, group.task, references, shown, read_blob=workspace.blobs.read)))
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
