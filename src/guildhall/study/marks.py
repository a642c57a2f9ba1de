"""Rubric marks as figures: each author's mean score, how much repeats differ, and the expert's own as ceiling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.domain.authors import Expert
from guildhall.domain.estimates import Estimate
from guildhall.domain.judges import RubricMark
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Value


class RubricScore(Value):
    """One author under one rubric judge. A mark with an unreadable item has no score; it is counted.

    `repeat_noise` is the mean distance between two marks of one submission; `quotations_found` the share of quotations
    that really stand in the work.
    """

    judge: str
    author: str
    score: Estimate
    raw_points: float | None
    repeat_noise: float | None
    quotations_found: float | None
    marks: int
    without_score: int


def rubric_scores(marks: Iterable[tuple[RubricMark, Submission]]) -> list[RubricScore]:
    """A row for every judge and author; the expert's row is the ceiling the others are read against."""
    grouped: dict[tuple[str, str], list[RubricMark]] = defaultdict(list)
    for mark, submission in marks:
        author = submission.author
        name = "expert" if isinstance(author, Expert) else author.name
        grouped[f"{mark.grader.name} ({'whole' if mark.whole else 'item by item'})", name].append(mark)
    return [_score(judge, author, found) for (judge, author), found in sorted(grouped.items())]


def _score(judge: str, author: str, marks: list[RubricMark]) -> RubricScore:
    scored = [(mark, score) for mark in marks if (score := mark.score) is not None]
    quoted = [item.found for mark in marks for item in mark.items if item.found is not None]
    raw = [points for mark in marks if (points := mark.raw_points) is not None]
    return RubricScore(
        judge=judge,
        author=author,
        score=_mean([score for _, score in scored], [mark.task for mark, _ in scored]),
        raw_points=float(np.mean(raw)) if raw else None,
        repeat_noise=_noise(scored),
        quotations_found=float(np.mean(quoted)) if quoted else None,
        marks=len(marks),
        without_score=len(marks) - len(scored),
    )


def _mean(scores: list[float], tasks: list[str]) -> Estimate:
    what = "mean over tasks of the share of rubric points"
    if not scores:
        return Estimate(value=None, estimand=what, method="none", why_no_interval="no mark has a score")
    value, error, n = mean_of_cluster_means(np.array(scores), np.unique(np.array(tasks), return_inverse=True)[1])
    return t_estimate(value, error, n_clusters=n, estimand=what, method="t over tasks", n_samples=len(scores))


def _noise(scored: list[tuple[RubricMark, float]]) -> float | None:
    repeats: dict[str, list[float]] = defaultdict(list)
    for mark, score in scored:
        repeats[mark.submission].append(score)
    apart = [abs(one - other) for scores in repeats.values() for one, other in combinations(scores, 2)]
    return float(np.mean(apart)) if apart else None
