"""Where a task stands in its review, what it still needs, and whether it is done: pure rules over its history.

A stage is passed when its last review is a pass; the final loop's pass must be of the newest version. A request for
changes sends the task to its author, and the revision back to the stage that asked. A failed audit starts the stages
anew. A task is complete with three passed stages by three reviewers, three reviews, and no comment left open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean

from guildhall.domain.reviews import STAGES, DecisionKind, Review, ReviewOutcome, Stage
from guildhall.domain.tasks import Ratings, ReviewState, Specification, Task
from guildhall.domain.values import Id, Value, sha256
from guildhall.taskbank.review.histories import TaskHistory

LEAST_REVIEWS = 3


class Lane(StrEnum):
    """The board's columns, left to right."""

    WRITING = "Being written"
    SCREENING = "Screening"
    GENERALIST = "Generalist review"
    OCCUPATION = "Occupation expert"
    FINAL = "Final loop"
    CHANGES = "Changes requested"
    READY = "Ready to accept"
    ACCEPTED = "Accepted"
    REJECTED = "Rejected"


_LANE_OF_STAGE = {Stage.GENERALIST: Lane.GENERALIST, Stage.OCCUPATION: Lane.OCCUPATION, Stage.FINAL: Lane.FINAL}


@dataclass(frozen=True)
class Standing:
    """How a task stands. `stage` is the review it waits for; `since` is when its present wait began."""

    state: ReviewState
    lane: Lane
    stage: Stage | None
    missing: tuple[str, ...]
    since: datetime

    @property
    def complete(self) -> bool:
        """Whether nothing stands in the way of accepting it."""
        return self.state is ReviewState.IN_REVIEW and not self.missing


def standing_of(history: TaskHistory) -> Standing:
    """Where the newest version stands."""
    newest = history.newest
    moved = [review.made_at for review in history.reviews if review.draft == newest.key]
    moved += [decision.made_at for decision in history.decisions if decision.draft == newest.key]
    since = max(moved, default=newest.made_at)
    decided = _decision(history)
    if decided is not None:
        lane = Lane.ACCEPTED if decided is ReviewState.ACCEPTED else Lane.REJECTED
        return Standing(decided, lane, None, (), since)
    stage = next_stage(history)
    missing = _missing(history, stage)
    if _back_with_the_author(history):
        return Standing(
            ReviewState.CHANGES_REQUESTED, Lane.CHANGES, stage, ("a revision by the author", *missing), since
        )
    lane = _LANE_OF_STAGE[stage] if stage else Lane.READY
    if not any(screening.draft == newest.key for screening in history.screenings):
        lane = Lane.SCREENING  # a name on the board only: reviewers need not wait for advice
    return Standing(ReviewState.IN_REVIEW, lane, stage, missing, since)


def next_stage(history: TaskHistory) -> Stage | None:
    """The first stage that is not passed."""
    counted = _counted(history)
    for stage in STAGES:
        last = next((review for review in reversed(counted) if review.stage is stage), None)
        if last is None or last.outcome is not ReviewOutcome.PASS:
            return stage
        if stage is Stage.FINAL and last.draft != history.newest.key:
            return stage
    return None


def _counted(history: TaskHistory) -> list[Review]:
    """Reviews since the last failed audit, if any."""
    failed = [one.made_at for one in history.decisions if one.kind is DecisionKind.AUDIT_FAILED]
    return [review for review in history.reviews if not failed or review.made_at > failed[-1]]


def _decision(history: TaskHistory) -> ReviewState | None:
    verdicts = [one for one in history.decisions if one.draft == history.newest.key]
    last = next((one.kind for one in reversed(verdicts) if one.kind is not DecisionKind.AUDIT_HELD), None)
    if last is DecisionKind.ACCEPTED:
        return ReviewState.ACCEPTED
    return ReviewState.REJECTED if last is DecisionKind.REJECTED else None


def _back_with_the_author(history: TaskHistory) -> bool:
    key = history.newest.key
    if any(one.kind is DecisionKind.AUDIT_FAILED for one in history.decisions if one.draft == key):
        return True
    asked = [review.outcome for review in history.reviews if review.draft == key]
    return bool(asked) and asked[-1] is ReviewOutcome.CHANGES


def _missing(history: TaskHistory, stage: Stage | None) -> tuple[str, ...]:
    wanted = []
    if stage is not None:
        waiting = STAGES[STAGES.index(stage) :]
        wanted.append("a pass by " + ", ".join(f"the {one}" for one in waiting))
    counted = _counted(history)
    if (lacking := LEAST_REVIEWS - len(counted)) > 0:
        wanted.append(f"{lacking} more review{'' if lacking == 1 else 's'} of at least {LEAST_REVIEWS}")
    if still := len(history.open_threads()):
        wanted.append(f"{still} open comment{'' if still == 1 else 's'} to be resolved")
    return tuple(wanted)


def accepted_task(history: TaskHistory) -> Task:
    """The newest version as it enters the bank, rated by its reviewers.

    Each reviewer counts once, by their last review. Hours are the mean of the author's figure and the reviewers'; the
    label of the brief is the one most reviewers gave, and absent when two are equally frequent.
    """
    last: dict[Id, Review] = {review.reviewer: review for review in history.reviews}
    reviews = list(last.values())
    task = history.newest.task
    hours = [task.expert_hours, *(review.hours for review in reviews)]
    known = [figure for figure in hours if figure is not None]
    return task.but(
        review=ReviewState.ACCEPTED,
        expert_hours=fmean(known) if known else None,
        ratings=Ratings(
            difficulty=fmean(review.difficulty for review in reviews),
            representativeness=fmean(review.representativeness for review in reviews),
            quality=fmean(review.quality for review in reviews),
            specification=_majority([review.specification for review in reviews if review.specification]),
        ),
    )


def _majority(labels: Sequence[Specification]) -> Specification | None:
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def drawn_for_audit(draft: Id, *, share: float, seed: int) -> bool:
    """Whether the team looks at an accepted task again. Each is drawn by itself, so later tasks change no draw."""
    return int(sha256(f"audit:{seed}:{draft}".encode())[:13], 16) / 16**13 < share


class ReviewFigures(Value):
    """Means over tasks; absent where there is nothing to take them of."""

    tasks: int
    accepted: int
    rejected: int
    open: int
    acceptance_rate: float | None
    """Accepted of those decided."""
    reviews_per_task: float | None
    fewest_reviews_of_accepted: int | None
    versions_per_task: float | None
    time_rating: float | None
    """How well stated hours fit, 1 to 5, over reviews."""


def review_figures(histories: Sequence[TaskHistory]) -> ReviewFigures:
    states = [standing_of(history).state for history in histories]
    counts = Counter(states)
    accepted, rejected = counts[ReviewState.ACCEPTED], counts[ReviewState.REJECTED]
    reviewed = [len(one.reviews) for one, state in zip(histories, states, strict=True) if state is ReviewState.ACCEPTED]
    times = [review.time for history in histories for review in history.reviews]
    return ReviewFigures(
        tasks=len(histories),
        accepted=accepted,
        rejected=rejected,
        open=len(histories) - accepted - rejected,
        acceptance_rate=accepted / (accepted + rejected) if accepted + rejected else None,
        reviews_per_task=fmean(len(history.reviews) for history in histories) if histories else None,
        fewest_reviews_of_accepted=min(reviewed, default=None),
        versions_per_task=fmean(len(history.drafts) for history in histories) if histories else None,
        time_rating=fmean(times) if times else None,
    )
