"""What people do to tasks under review: each act checks the rules, keeps one value, and writes one line of the log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import ValidationError
from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.halls import Member, Role
from guildhall.domain.reviews import (
    QUESTIONS,
    Anchor,
    Box,
    Comment,
    Decision,
    DecisionKind,
    Draft,
    Review,
    ReviewOutcome,
    Stage,
)
from guildhall.domain.tasks import ReviewState, Task
from guildhall.domain.values import Digest, Id, Value
from guildhall.errors import InputError, ReviewRefused, UnknownName
from guildhall.store.audit import record
from guildhall.store.records import Store
from guildhall.store.reviewing import review_holds
from guildhall.taskbank.review.eligibility import (
    WRITERS,
    People,
    conflict_of,
    may_decide,
    unmet_requirements,
    why_not_review,
)
from guildhall.taskbank.review.histories import TaskHistory, history_of
from guildhall.taskbank.review.standing import Standing, accepted_task, standing_of

HOLD_S = 72 * 3600.0


class Hold(Value):
    task: Id
    draft: Id
    stage: Stage
    holder: Id
    since: float
    expires_at: float


class Holds:
    """The holds of one store. `now` is seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def take(self, wanted: Hold, *, now: float) -> Hold:
        """Hold a task, or learn who holds it: of two simultaneous takers the first wins."""
        with self.store.transaction() as connection:
            stale = (review_holds.c.expires_at <= now) | (review_holds.c.draft != wanted.draft)
            connection.execute(delete(review_holds).where(review_holds.c.task == wanted.task, stale))
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(review_holds).on_conflict_do_nothing(index_elements=["task"])
            connection.execute(insert.values(**wanted.model_dump(mode="json")))
            row = connection.execute(select(review_holds).where(review_holds.c.task == wanted.task)).mappings().one()
        return Hold.model_validate(dict(row))

    def drop(self, task: Id) -> None:
        with self.store.transaction() as connection:
            connection.execute(delete(review_holds).where(review_holds.c.task == task))

    def of(self, task: Id, *, now: float) -> Hold | None:
        return self.all(now=now).get(task)

    def all(self, *, now: float) -> dict[Id, Hold]:
        """Holds that have not run out, by task."""
        with self.store.reading() as connection:
            rows = connection.execute(select(review_holds).where(review_holds.c.expires_at > now)).mappings().all()
        return {row["task"]: Hold.model_validate(dict(row)) for row in rows}


PARTS: dict[str, Box] = {
    "upper third": Box(left=0, top=0, right=1, bottom=0.34),
    "middle": Box(left=0, top=0.33, right=1, bottom=0.67),
    "lower third": Box(left=0, top=0.66, right=1, bottom=1),
    "left half": Box(left=0, top=0, right=0.5, bottom=1),
    "right half": Box(left=0.5, top=0, right=1, bottom=1),
}
"""Parts of a page by name, for forms without a pointer."""


def anchor_at(file: str | None, *, page: int | None = None, box: str | None = None) -> Anchor | None:
    """An anchor, or None for a comment on the whole. `box` is a part's name, or `left,top,right,bottom` in shares."""
    if file is None:
        if page is not None or box is not None:
            raise InputError("a page belongs to a file: name the file too, as reference/NAME or expert/NAME")
        return None
    try:
        return Anchor(file=file, page=page, box=_box(box))
    except ValidationError as error:
        raise InputError(f"{error.errors()[0]['msg']}; correct the place of the comment") from error


def _box(text: str | None) -> Box | None:
    if not text:
        return None
    if text in PARTS:
        return PARTS[text]
    try:
        left, top, right, bottom = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{text!r} is no part of a page; give left,top,right,bottom such as 0,0.5,1,1") from error
    return Box(left=left, top=top, right=right, bottom=bottom)


def _check_answers(review: Review) -> None:
    """Every question of the stage is answered, and a pass answers none with no."""
    asked = QUESTIONS[review.stage]
    if missing := [f"{words} ({name})" for name, words in asked.items() if name not in review.answers]:
        raise InputError(f"the review still lacks: {'; '.join(missing)}")
    if strange := sorted(set(review.answers) - set(asked)):
        raise UnknownName("question of this stage", strange[0], known=sorted(asked))
    no = [words for name, words in asked.items() if not review.answers[name]]
    if no and review.outcome is ReviewOutcome.PASS:
        raise InputError(f"you said no to: {'; '.join(no)}; a pass says yes to it, else ask for changes")


V = TypeVar("V", bound=Value)


class ReviewDesk:
    """Reviews in one store. `people` is the roster by code name; `now` is handed to every act in seconds since 1970."""

    def __init__(self, store: Store, people: People) -> None:
        self.store, self.people, self.holds = store, people, Holds(store)

    def submit(
        self,
        task: Task,
        author: Member,
        *,
        now: float,
        note: str = "",
        third_party: tuple[str, ...] = (),
        permission: tuple[str, ...] = (),
    ) -> Draft:
        """Keep a task as the next version of its draft. The author must meet the requirements for contributing."""
        if author.role not in WRITERS:
            raise ReviewRefused(author.code_name, task.id, "is neither author nor reviewer", fix="ask the manager")
        if unmet := unmet_requirements(author):
            why = f"does not yet meet the requirements ({', '.join(unmet)})"
            raise ReviewRefused(
                author.code_name, task.id, why, fix="the manager records checks with `guildhall review vet`"
            )
        with self.store.transaction():
            version = self._next_version(task, author, now=now)
            draft = _made(
                Draft,
                task=task.but(version=version, review=ReviewState.DRAFT),
                author=author.code_name,
                note=note,
                third_party=third_party,
                permission=permission,
                made_at=_moment(now),
            )
            self._keep(draft, author, f"draft submitted: version {version}", draft.task.id, now=now)
        return draft

    def _next_version(self, task: Task, author: Member, *, now: float) -> int:
        earlier = self.store.find(Draft, task=task.id)
        if not earlier:
            if self.store.count(Task, id=task.id):
                raise InputError(f"{task.id!r} is in the bank already and did not come by review; choose another id")
            return 1
        history = history_of(self.store, task.id)
        if history.author != author.code_name:
            raise ReviewRefused(author.code_name, task.id, "is not the author", fix="only the author revises a draft")
        state = standing_of(history).state
        if state in {ReviewState.ACCEPTED, ReviewState.REJECTED}:
            raise InputError(f"{task.id!r} is {state}; what was decided is not revised, so submit a new task")
        if hold := self.holds.of(task.id, now=now):
            raise InputError(f"{hold.holder} is reviewing {task.id!r} just now; revise it when the review is in")
        return history.newest.task.version + 1

    def take(self, task: Id, reviewer: Member, *, now: float) -> Hold:
        """Take the next review of a task, for three days."""
        with self.store.transaction():
            history = history_of(self.store, task)
            stage = self._open_stage(history, reviewer)
            mine = self._held(history, stage, reviewer, now=now)
            self._log(reviewer, f"review taken: {stage}", task, now=now)
        return mine

    def _open_stage(self, history: TaskHistory, reviewer: Member) -> Stage:
        standing = standing_of(history)
        if standing.state is not ReviewState.IN_REVIEW or standing.stage is None:
            raise InputError(f"{history.task!r} waits for no review: {_why_none(standing)}")
        if refusal := why_not_review(reviewer, history, standing.stage, self.people):
            raise ReviewRefused(reviewer.code_name, history.task, str(refusal), fix="somebody else must review it")
        return standing.stage

    def _held(self, history: TaskHistory, stage: Stage, reviewer: Member, *, now: float) -> Hold:
        wanted = Hold(
            task=history.task,
            draft=history.newest.key,
            stage=stage,
            holder=reviewer.code_name,
            since=now,
            expires_at=now + HOLD_S,
        )
        mine = self.holds.take(wanted, now=now)
        if mine.holder != reviewer.code_name:
            raise InputError(f"{mine.holder} is reviewing {history.task!r} already; take another task")
        return mine

    def give_back(self, task: Id, member: Member, *, now: float) -> None:
        """Free a task: by its holder, or by a manager."""
        hold = self.holds.of(task, now=now)
        if hold is None or (hold.holder != member.code_name and member.role is not Role.MANAGER):
            raise InputError(f"{task!r} is not held by {member.code_name}; nothing to give back")
        with self.store.transaction():
            self.holds.drop(task)
            self._log(member, f"review given back ({hold.holder})", task, now=now)

    def review(self, task: Id, reviewer: Member, *, now: float, **answers: Any) -> Review:
        """Keep a review of the newest version at the stage it waits for; `answers` are the fields of `Review`."""
        with self.store.transaction():
            history = history_of(self.store, task)
            stage = self._open_stage(history, reviewer)
            hold = self._held(history, stage, reviewer, now=now)
            review = _made(
                Review,
                task=task,
                draft=history.newest.key,
                stage=stage,
                reviewer=reviewer.code_name,
                taken_at=_moment(hold.since),
                made_at=_moment(now),
                **answers,
            )
            _check_answers(review)
            self._keep(review, reviewer, f"reviewed: {stage}, {review.outcome}", task, now=now)
            self.holds.drop(task)
        return review

    def comment(self, task: Id, by: Member, words: str, *, now: float, anchor: Anchor | None = None) -> Comment:
        """Keep a remark on the newest version, by a reviewer or the team."""
        history = history_of(self.store, task)
        if tie := conflict_of(by, history, self.people):
            raise ReviewRefused(by.code_name, task, str(tie), fix="answer the comments of others instead")
        if by.role not in {Role.REVIEWER, Role.MANAGER}:
            raise ReviewRefused(by.code_name, task, "is not a reviewer", fix="reviewers and managers comment")
        if anchor is not None:
            _require_file(history, anchor)
        made = _made(
            Comment,
            task=task,
            draft=history.newest.key,
            by=by.code_name,
            words=words,
            anchor=anchor,
            made_at=_moment(now),
        )
        self._keep(made, by, "comment", task, now=now)
        return made

    def answer(
        self, task: Id, comment: Digest, by: Member, words: str, *, now: float, resolves: bool = False
    ) -> Comment:
        """Answer a comment, or settle it: its author answers; who made it, a lead or the team settles it."""
        history = history_of(self.store, task)
        thread = next((one for one in history.threads() if one.comment.key == comment), None)
        if thread is None:
            raise UnknownName("comment", comment[:12], fix=f"`guildhall review show {task}` lists them")
        settles = by.code_name == thread.comment.by or may_decide(by, history, self.people)
        if resolves and not settles:
            raise ReviewRefused(
                by.code_name, task, "did not make this comment", fix="who made it, or a lead, settles it"
            )
        if not settles and by.code_name != history.author:
            raise ReviewRefused(by.code_name, task, "has no part in this comment", fix="make a comment of your own")
        made = _made(
            Comment,
            task=task,
            draft=history.newest.key,
            by=by.code_name,
            words=words,
            answers=comment,
            resolves=resolves,
            made_at=_moment(now),
        )
        self._keep(made, by, "comment resolved" if resolves else "comment answered", task, now=now)
        return made

    def decide(self, task: Id, kind: DecisionKind, by: Member, *, now: float, words: str = "") -> Decision:
        """Accept, reject or audit. Only a complete review is accepted: its task enters the bank with its ratings."""
        with self.store.transaction():
            history = history_of(self.store, task)
            if not may_decide(by, history, self.people):
                why = str(conflict_of(by, history, self.people) or "is neither lead reviewer nor manager")
                raise ReviewRefused(by.code_name, task, why, fix="ask a lead reviewer or a manager")
            _require_open_for(kind, history)
            if kind is not DecisionKind.ACCEPTED and not words.strip():
                raise InputError("say why: a rejection and an audit come with their reasons")
            decision = _made(
                Decision,
                task=task,
                draft=history.newest.key,
                kind=kind,
                by=by.code_name,
                words=words,
                made_at=_moment(now),
            )
            self._keep(decision, by, str(kind), task, now=now)
            if kind is DecisionKind.ACCEPTED:
                self.store.add(accepted_task(history))
            self.holds.drop(task)
        return decision

    def _keep(self, value: Value, by: Member, action: str, task: Id, *, now: float) -> None:
        with self.store.transaction():
            self.store.add(value)
            self._log(by, action, task, now=now)

    def _log(self, by: Member, action: str, task: Id, *, now: float) -> None:
        record(self.store, at=now, actor=by.code_name, action=action, subject=task, facts={})


def _made(kind: type[V], /, **fields: Any) -> V:
    """A value of what somebody filled in; a fault is theirs to correct, and is said so."""
    try:
        return kind(**fields)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise InputError(f"{where or kind.__name__.lower()}: {fault['msg']}; correct it and send it again") from error


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC)


def _why_none(standing: Standing) -> str:
    return f"it is {standing.state}" + (f", and needs {'; '.join(standing.missing)}" if standing.missing else "")


def _require_file(history: TaskHistory, anchor: Anchor) -> None:
    task = history.newest.task
    known = [f"reference/{file.name}" for file in task.reference_files]
    known += [f"expert/{file.name}" for file in task.expert_files]
    if anchor.file not in known:
        raise UnknownName("file of this draft", anchor.file, known=known)


def _require_open_for(kind: DecisionKind, history: TaskHistory) -> None:
    standing = standing_of(history)
    if kind is DecisionKind.ACCEPTED and not standing.complete:
        raise InputError(f"{history.task!r} cannot be accepted: {_why_none(standing)}")
    if kind is DecisionKind.REJECTED and standing.state in {ReviewState.ACCEPTED, ReviewState.REJECTED}:
        raise InputError(f"{history.task!r} is {standing.state} already")
    if kind in {DecisionKind.AUDIT_HELD, DecisionKind.AUDIT_FAILED} and standing.state is not ReviewState.ACCEPTED:
        raise InputError(f"{history.task!r} is {standing.state}; only accepted tasks are audited")
