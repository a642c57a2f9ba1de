"""The rubric judge: every submission held against its task's rubric, item by item or all items at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from guildhall.domain.judges import JudgePlan, RubricMark
from guildhall.domain.submissions import FREE, Submission
from guildhall.domain.values import Id
from guildhall.engine.calls import Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.grading.judges.asking import MOST_SWEEPS
from guildhall.grading.judges.desk import Faults, JudgeDesk
from guildhall.grading.judges.verdicts import AskingOutcome
from guildhall.judging.rubrics import Numbered, RubricView, read_items, rubric_judge, show
from guildhall.store.records import Store


@dataclass(frozen=True)
class RubricAsked:
    """One submission to be held against its rubric once; `replaces` names a mark with failed items before it."""

    submission: Submission
    sweep: int
    attempt: int = 0
    replaces: str | None = None

    @property
    def sample(self) -> int:
        return self.attempt * MOST_SWEEPS + self.sweep


def missing_marks(
    store: Store, submissions: Iterable[Submission], plan: JudgePlan, *, whole: bool, sweeps: int, again: bool
) -> Iterator[RubricAsked]:
    """What is still to be marked and, with `again`, what has failed items. Submissions come with a rubric."""
    grader = rubric_judge(plan, whole=whole)
    kept: dict[tuple[str, int], list[RubricMark]] = {}
    for mark in store.each(RubricMark, grader=grader.key):
        kept.setdefault((mark.submission, mark.sweep), []).append(mark)
    for submission in submissions:
        for sweep in range(1, sweeps + 1):
            before = kept.get((submission.key, sweep), [])
            if not before:
                yield RubricAsked(submission, sweep)
            elif again and before[-1].failed:
                yield RubricAsked(submission, sweep, attempt=len(before), replaces=before[-1].key)


def ask_rubric(
    plan: JudgePlan, wanted: Iterable[RubricAsked], *, study: Id, whole: bool, desk: JudgeDesk, terms: Terms
) -> AskingOutcome:
    """Mark every wanted submission and keep each mark. An item without a readable verdict is a counted failure."""
    total = AskingOutcome()
    for asked in wanted:
        faults = Faults()
        put = faults.unless(partial(_questions, plan, asked, desk, whole=whole))
        if put is None:
            total += AskingOutcome(faults=1, why_fault=faults.why)
            continue
        shown, groups = put
        calls = [shown.call(plan, group, sample=asked.sample) for group in groups]
        answers = run_calls(calls, workspace=desk.workspace, terms=terms)
        replies = [answers.of(call) for call in calls]
        if answers.faults and not answers.left:
            total += AskingOutcome(faults=1, why_fault=next(iter(answers.faults.values())))
            continue
        if not all(replies):
            return total + AskingOutcome(left=1, why_left=answers.why_left)
        mark = _mark(plan, asked, shown, list(zip(groups, _present(replies), strict=True)), study=study, whole=whole)
        desk.keep([mark])
        total += AskingOutcome(verdicts=len(mark.items) - mark.failed, failures=mark.failed)
    return total


def _questions(
    plan: JudgePlan, asked: RubricAsked, desk: JudgeDesk, *, whole: bool
) -> tuple[RubricView, list[Numbered]]:
    task = desk.task_of(asked.submission)
    work, fences = desk.prepared(asked.submission.key), desk.fences(plan, task, asked.submission.key)
    shown = show(plan, task, desk.references(task), work, read_blob=desk.read_blob, fences=fences)
    items: Numbered = list(enumerate(task.rubric.items if task.rubric else (), 1))
    return shown, [items] if whole else [[one] for one in items]


def _mark(
    plan: JudgePlan,
    asked: RubricAsked,
    shown: RubricView,
    answered: Sequence[tuple[Numbered, Reply]],
    *,
    study: Id,
    whole: bool,
) -> RubricMark:
    verdicts = [one for group, reply in answered for one in read_items(reply, group, shown_text=shown.text)]
    return RubricMark(
        study=study,
        task=asked.submission.task,
        submission=asked.submission.key,
        grader=rubric_judge(plan, whole=whole),
        items=tuple(verdicts),
        whole=whole,
        sweep=asked.sweep,
        omissions=shown.omissions,
        usage=sum((reply.usage for _, reply in answered), start=FREE),
        replaces=asked.replaces,
        made_at=max(reply.made_at for _, reply in answered),
    )


def _present(replies: Sequence[Reply | None]) -> list[Reply]:
    return [reply for reply in replies if reply is not None]
