"""What became of the drafts of a bank, in a few figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from guildhall.domain.tasks import ReviewState
from guildhall.domain.values import Value
from guildhall.taskbank.review.histories import TaskHistory
from guildhall.taskbank.review.standing import standing_of


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
