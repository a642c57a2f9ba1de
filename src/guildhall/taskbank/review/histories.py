"""All that happened to one task on its way into the bank, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from guildhall.domain.reviews import Comment, Decision, Draft, Review, Screening
from guildhall.domain.values import Digest, Id
from guildhall.errors import UnknownName
from guildhall.store.records import Store


@dataclass(frozen=True)
class Thread:
    """A comment, the answers to it, and whether it is settled."""

    comment: Comment
    answers: tuple[Comment, ...] = ()

    @property
    def resolved(self) -> bool:
        return any(answer.resolves for answer in self.answers)


@dataclass
class TaskHistory:
    """The values that concern one task; each list in order of time."""

    task: Id
    drafts: list[Draft] = field(default_factory=list)
    screenings: list[Screening] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    @property
    def newest(self) -> Draft:
        return self.drafts[-1]

    @property
    def author(self) -> Id:
        return self.drafts[0].author

    def draft(self, version: int) -> Draft:
        for draft in self.drafts:
            if draft.task.version == version:
                return draft
        raise UnknownName("version", f"{self.task}@{version}", known=[draft.key for draft in self.drafts])

    def threads(self) -> list[Thread]:
        answers: dict[Digest, list[Comment]] = {}
        for comment in self.comments:
            if comment.answers is not None:
                answers.setdefault(comment.answers, []).append(comment)
        return [Thread(one, tuple(answers.get(one.key, ()))) for one in self.comments if one.answers is None]

    def open_threads(self) -> list[Thread]:
        return [thread for thread in self.threads() if not thread.resolved]


@dataclass(frozen=True)
class Event:
    """One line of a task's history, in words."""

    at: datetime
    who: str
    what: str
    words: str = ""


def history_of(store: Store, task: Id) -> TaskHistory:
    """One task's history, or `UnknownName` when it did not come through authoring."""
    found = TaskHistory(
        task,
        store.find(Draft, task=task),
        store.find(Screening, task=task),
        store.find(Review, task=task),
        store.find(Comment, task=task),
        store.find(Decision, task=task),
    )
    if not found.drafts:
        raise UnknownName("draft", task, fix="`guildhall review list` shows the tasks under review")
    return _in_order(found)


def all_histories(store: Store) -> list[TaskHistory]:
    """Every task that came through authoring, in the order of their first drafts."""
    found: dict[Id, TaskHistory] = {}
    for draft in store.each(Draft):
        found.setdefault(draft.task.id, TaskHistory(draft.task.id)).drafts.append(draft)
    for kind, name in ((Screening, "screenings"), (Review, "reviews"), (Comment, "comments"), (Decision, "decisions")):
        for value in store.each(kind):
            if value.task in found:  # type: ignore[attr-defined]  # all four name their task
                getattr(found[value.task], name).append(value)  # type: ignore[attr-defined]
    return [_in_order(history) for history in found.values()]


def _in_order(history: TaskHistory) -> TaskHistory:
    history.drafts.sort(key=lambda draft: draft.task.version)
    for values in (history.screenings, history.reviews, history.comments, history.decisions):
        values.sort(key=lambda value: value.made_at)
    return history


def events(history: TaskHistory) -> list[Event]:
    """Everything that happened, oldest first."""
    return sorted(_told(history), key=lambda event: event.at)


def _told(history: TaskHistory) -> Iterable[Event]:
    for draft in history.drafts:
        yield Event(draft.made_at, draft.author, f"submitted version {draft.task.version}", draft.note)
    for screening in history.screenings:
        yield Event(screening.made_at, screening.screener, f"screened {_version(screening.draft)}", _advice(screening))
    for review in history.reviews:
        words = f"reviewed {_version(review.draft)} at the stage “{review.stage}”: {review.outcome}"
        yield Event(review.made_at, review.reviewer, words, review.words)
    for comment in history.comments:
        yield Event(comment.made_at, comment.by, _comment_words(comment), comment.words)
    for decision in history.decisions:
        yield Event(decision.made_at, decision.by, f"{decision.kind} ({_version(decision.draft)})", decision.words)


def version_of(draft: Id) -> int:
    """The version a draft's key names."""
    return int(draft.rpartition("@")[2])


def _version(draft: Id) -> str:
    return f"version {version_of(draft)}"


def _advice(screening: Screening) -> str:
    doubts: Sequence[str] = [f"{one.criterion}: {one.opinion}" for one in screening.advice if one.opinion != "fine"]
    return "; ".join(doubts) or "nothing to look at again"


def _comment_words(comment: Comment) -> str:
    if comment.answers is not None:
        return "resolved a comment" if comment.resolves else "answered a comment"
    if comment.anchor is None:
        return f"commented on {_version(comment.draft)}"
    page = f", page {comment.anchor.page}" if comment.anchor.page else ""
    return f"commented on {comment.anchor.file}{page} of {_version(comment.draft)}"
