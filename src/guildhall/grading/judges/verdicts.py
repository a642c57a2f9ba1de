"""The comparing judge: pairs or larger sets, every order, several sweeps, each answer one stored verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Judgment
from guildhall.domain.values import Digest
from guildhall.engine.answering import answer_with_tools
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import Answers, run_calls
from guildhall.engine.terms import Limits, Terms
from guildhall.errors import InputError, UnreadableVerdict
from guildhall.grading.judges.asking import Asked
from guildhall.grading.judges.desk import Faults, JudgeDesk
from guildhall.judging.comparing import Question, WorkedQuestion, judge_of, question, question_with_tools
from guildhall.judging.examples import shown_examples, traces_of
from guildhall.judging.pages import look_at_pages
from guildhall.judging.verdicts import failure_of, read_verdict

BATCH = 256
"""Verdicts asked for together: enough to keep a provider busy, few enough that memory does not grow with a study."""

MOST_TURNS = 60
LONGEST_SECONDS = 1800.0
"""How long a judge with tools may go on where the study sets no limit for an item."""

Answered = tuple[Asked, Mapping[str, int], Reply | None]
"""What was asked, what it left out of each side, and what came back."""
Heard = Callable[[int, int], None]


@dataclass(frozen=True)
class AskingOutcome:
    """What a run of asking came to: new verdicts, new failures, and what a limit of the run left unasked.

    `faults` could not be asked for, or heard, by a fault of ours: they are no failures of the judge, and are asked for
    again by the next run.
    """

    verdicts: int = 0
    failures: int = 0
    left: int = 0
    why_left: str | None = None
    faults: int = 0
    why_fault: str | None = None

    def __add__(self, other: AskingOutcome) -> AskingOutcome:
        return AskingOutcome(
            self.verdicts + other.verdicts,
            self.failures + other.failures,
            self.left + other.left,
            self.why_left or other.why_left,
            self.faults + other.faults,
            self.why_fault or other.why_fault,
        )


def ask_judge(
    plan: JudgePlan, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms, heard: Heard | None = None
) -> AskingOutcome:
    """Ask for every wanted verdict and keep each. Killed and started again, nothing is lost and nothing paid twice.

    `heard` is told, after each batch, how many verdicts and failures there are so far. A limit that ends the run
    leaves the rest unasked.
    """
    total, stream = AskingOutcome(), iter(wanted)
    while batch := list(islice(stream, BATCH)):
        total += _ask_batch(plan, batch, desk, terms)
        if heard is not None:
            heard(total.verdicts, total.failures)
        if total.left:
            return total + AskingOutcome(left=sum(1 for _ in stream))
    return total


def _ask_batch(plan: JudgePlan, batch: list[Asked], desk: JudgeDesk, terms: Terms) -> AskingOutcome:
    faults = Faults()
    heard, answers = (_worked_on if plan.tools else _called)(plan, batch, desk, terms, faults)
    made = [
        judgment_from(reply, asked, omissions, plan, judge_of(plan, places=len(asked.order)))
        for asked, omissions, reply in heard
        if reply is not None
    ]
    desk.keep(made)
    failed = sum(judgment.ranks is None for judgment in made)
    left = len(batch) - len(made) - faults.count
    return AskingOutcome(len(made) - failed, failed, left, answers.why_left, faults.count, faults.why)


def _called(
    plan: JudgePlan, batch: list[Asked], desk: JudgeDesk, terms: Terms, faults: Faults
) -> tuple[list[Answered], Answers]:
    """One call a verdict."""
    asked = list(_calls(plan, batch, desk, faults))
    answers = run_calls([call for _, _, call in asked], workspace=desk.workspace, terms=terms)
    return _answered([(one, put.omissions, call.key) for one, put, call in asked], answers, faults), answers


def _worked_on(
    plan: JudgePlan, batch: list[Asked], desk: JudgeDesk, terms: Terms, faults: Faults
) -> tuple[list[Answered], Answers]:
    """One sandbox a verdict."""
    bench = desk.workbench
    if bench is None:
        raise InputError(f"judge {plan.name!r} works with tools, and this desk has no sandbox for it")
    built = [(one, faults.unless(partial(build_worked_question, plan, one, desk))) for one in batch]
    asked = [(one, put) for one, put in built if put is not None]
    jobs = [put.job(plan, sample=one.sample, label=_label(plan, one)) for one, put in asked]
    answers = answer_with_tools(
        jobs,
        tools=(look_at_pages(bench.render),),
        workspace=desk.workspace,
        terms=replace(terms, limits=_bounded(terms.limits)),
        sandbox=bench.sandbox,
        at_once=bench.at_once,
    )
    keyed = [(one, put.omissions, job.key) for (one, put), job in zip(asked, jobs, strict=True)]
    return _answered(keyed, answers, faults), answers


def _answered(
    asked: Iterable[tuple[Asked, Mapping[str, int], Digest]], answers: Answers, faults: Faults
) -> list[Answered]:
    """What came back for each. Sides that are alike make one question of both orders: its cost is told once."""
    told: set[Digest] = set()
    heard: list[Answered] = []
    for one, omissions, key in asked:
        reply = answers.replies.get(key)
        if reply is None and key in answers.faults:
            faults.note(answers.faults[key])
        heard.append((one, omissions, reply.reused() if reply is not None and key in told else reply))
        told.add(key)
    return heard


def _bounded(limits: Limits) -> Limits:
    """A judge that goes round in circles must come to an end, whether or not the study says when."""
    return limits.but(item_turns=limits.item_turns or MOST_TURNS, item_seconds=limits.item_seconds or LONGEST_SECONDS)


def _label(plan: JudgePlan, asked: Asked) -> str:
    return f"{asked.comparison.task} judged by {plan.name}, sweep {asked.sweep}"


def _calls(
    plan: JudgePlan, batch: list[Asked], desk: JudgeDesk, faults: Faults
) -> Iterator[tuple[Asked, Question, Call]]:
    """The sweeps of one order ask the same question, so it is built once for all of them."""
    built: dict[tuple[Digest, ...], Question | None] = {}
    for one in batch:
        if one.order not in built:
            built[one.order] = faults.unless(partial(build_question, plan, one, desk))
        elif built[one.order] is None:
            faults.count += 1
        if (put := built[one.order]) is not None:
            yield one, put, put.call(plan, places=len(one.order), sample=one.sample)


def build_question(plan: JudgePlan, asked: Asked, desk: JudgeDesk) -> Question:
    """What this judge is shown of a comparison, in the order asked for."""
    task = desk.task_of(asked.comparison)
    sides = [desk.prepared(submission) for submission in asked.order]
    examples, fences = find_examples(plan, asked, desk), desk.fences(plan, task, asked.comparison.key)
    references = desk.references(task)
    return question(plan, task, references, sides, read_blob=desk.read_blob, examples=examples, fences=fences)


def build_worked_question(plan: JudgePlan, asked: Asked, desk: JudgeDesk) -> WorkedQuestion:
    """What a judge with tools finds in its folder, and is told, about a comparison in the order asked for."""
    task = desk.task_of(asked.comparison)
    sides = [desk.prepared(submission) for submission in asked.order]
    examples, fences = find_examples(plan, asked, desk), desk.fences(plan, task, asked.comparison.key)
    return question_with_tools(plan, task, desk.references(task), sides, examples=examples, fences=fences)


def find_examples(plan: JudgePlan, asked: Asked, desk: JudgeDesk) -> str:
    """How people judged the pairs nearest to this one, for a judge that is to be shown examples; else nothing."""
    if plan.examples is None:
        return ""
    if plan.examples.version is None:
        raise InputError(f"judge {plan.name!r} is to be shown examples from {plan.examples.file}, in no version named")
    made = {key: desk.prepared(key) for key in asked.comparison.submissions}
    traces: set[Digest] = set().union(*(traces_of(key, work) for key, work in made.items()))
    files = [file for work in made.values() for file in work.files]
    texts = [desk.read_blob(file.text).decode(errors="replace") for file in files if file.text]
    texts += [work.text for work in made.values()]
    found = desk.examples(plan.examples.version).nearest(
        desk.task_of(asked.comparison), texts, traces, plan.examples.count
    )
    return shown_examples(found, context_tokens=plan.context_tokens, count=plan.examples.count)


def judgment_from(
    reply: Reply, asked: Asked, omissions: Mapping[str, int], plan: JudgePlan, grader: ModelGrader
) -> Judgment:
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
        omissions=dict(omissions),
        replaces=asked.replaces,
        made_at=reply.made_at,
    )
