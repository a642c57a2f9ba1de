"""The comparing judge: pairs or larger sets, every order, several sweeps, each answer one stored verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Judgment
from guildhall.domain.values import Digest
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import UnreadableVerdict
from guildhall.grading.judges.asking import Asked
from guildhall.grading.judges.desk import Desk
from guildhall.judging.comparing import Question, judge_of, question
from guildhall.judging.verdicts import failure_of, read_verdict

BATCH = 256
"""Verdicts asked for together: enough to keep a provider busy, few enough that memory does not grow with a study."""

Heard = Callable[[int, int], None]


@dataclass(frozen=True)
class Judged:
    """What a run of asking came to: new verdicts, new failures, and what a limit of the run left unasked."""

    verdicts: int = 0
    failures: int = 0
    left: int = 0
    why_left: str | None = None

    def __add__(self, other: Judged) -> Judged:
        return Judged(
            self.verdicts + other.verdicts,
            self.failures + other.failures,
            self.left + other.left,
            self.why_left or other.why_left,
        )


def ask_judge(
    plan: JudgePlan, wanted: Iterable[Asked], *, desk: Desk, terms: Terms, heard: Heard | None = None
) -> Judged:
    """Ask for every wanted verdict and keep each. Killed and started again, nothing is lost and nothing paid twice.

    `heard` is told, after each batch, how many verdicts and failures there are so far. A limit that ends the run
    leaves the rest unasked.
    """
    total, stream = Judged(), iter(wanted)
    while batch := list(islice(stream, BATCH)):
        total += _ask_batch(plan, batch, desk, terms)
        if heard is not None:
            heard(total.verdicts, total.failures)
        if total.left:
            return total + Judged(left=sum(1 for _ in stream))
    return total


def _ask_batch(plan: JudgePlan, batch: list[Asked], desk: Desk, terms: Terms) -> Judged:
    asked = list(_calls(plan, batch, desk))
    answers = run_calls([call for _, _, call in asked], workspace=desk.workspace, terms=terms)
    made = []
    for one, put, call in asked:
        reply = answers.of(call)
        if reply is not None:
            made.append(judgment_from(reply, one, put, plan, judge_of(plan, places=len(one.order))))
    desk.workspace.store.add_all(made)
    failed = sum(judgment.ranks is None for judgment in made)
    return Judged(len(made) - failed, failed, left=len(asked) - len(made), why_left=answers.why_left)


def _calls(plan: JudgePlan, batch: list[Asked], desk: Desk) -> Iterator[tuple[Asked, Question, Call]]:
    """The sweeps of one order ask the same question, so it is built once for all of them."""
    built: dict[tuple[Digest, ...], Question] = {}
    for one in batch:
        if one.order not in built:
            built[one.order] = build_question(plan, one, desk)
        put = built[one.order]
        yield one, put, put.call(plan, places=len(one.order), sample=one.sample)


def build_question(plan: JudgePlan, asked: Asked, desk: Desk) -> Question:
    """What this judge is shown of a comparison, in the order asked for."""
    task = desk.task(asked.comparison.task)
    sides = [desk.prepared(submission) for submission in asked.order]
    return question(plan, task, desk.references(task), sides, read_blob=desk.read_blob)


def judgment_from(reply: Reply, asked: Asked, put: Question, plan: JudgePlan, grader: ModelGrader) -> Judgment:
    """The verdict of a reply, or its failure with the reason; one or the other is always kept."""
    places = len(asked.order)
    failure, reading = failure_of(reply), None
    if failure is None:
        try:
            reading = read_verdict(reply, places=places, by_schema=plan.answers_by_schema)
        except UnreadableVerdict as unreadable:
            failure = f"unreadable: {unreadable.why}; the reply ends {reply.text.strip()[-80:]!r}"
    return Judgment(
        comparison=asked.comparison.key,
        grader=grader,
        order=asked.order,
        ranks=reading.ranks if reading else None,
        failure=failure,
        reason=reading.reason if reading else "",
        criteria=reading.criteria if reading else {},
        sweep=asked.sweep,
        wall_s=reply.seconds,
        usage=reply.usage,
        omissions=put.omissions,
        replaces=asked.replaces,
        made_at=reply.made_at,
    )
