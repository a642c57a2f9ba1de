"""Does the digital share measure what economists mean by cognitive work? It is held against the task-content scores."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from guildhall.domain.occupations import ContentCorrelation, DigitalShare, TaskContent, Validation
from guildhall.occupations.contents import SCORES, content_scores, of_occupation, read_contents
from guildhall.occupations.selection import Official

FEWEST = 4
"""Fisher's interval divides by the root of n - 3."""


def validate(
    data: Path, official: Official, digital: Mapping[str, DigitalShare], *, labelled_by: str, threshold: float
) -> Validation:
    """Every occupation with a digital share and scores, and how each score goes with the share."""
    scores = content_scores(read_contents(data))
    occupations = []
    without = 0
    for one in official.paid.kept:
        share = digital[one.code].share
        mine = of_occupation(sorted({task.onet for task in official.tasks[one.code]}), scores)
        if share is None or all(value is None for value in mine.values()):
            without += 1
            continue
        occupations.append(
            TaskContent(code=one.code, title=one.title, digital_share=share, is_digital=share >= threshold, scores=mine)
        )
    return Validation(
        labeller=labelled_by,
        threshold=threshold,
        occupations=tuple(occupations),
        correlations=tuple(_correlation(name, occupations) for name in SCORES),
        without_scores=without,
    )


def _correlation(name: str, occupations: Sequence[TaskContent]) -> ContentCorrelation:
    pairs = [(one.digital_share, value) for one in occupations if (value := one.scores[name]) is not None]
    sides = {
        digital: [value for one in occupations if one.is_digital is digital and (value := one.scores[name]) is not None]
        for digital in (True, False)
    }
    pearson = _pearson(pairs)
    return ContentCorrelation(
        score=name,
        occupations=len(pairs),
        pearson=pearson,
        interval=None if pearson is None else fisher_interval(pearson, len(pairs)),
        mean_digital=statistics.fmean(sides[True]) if sides[True] else None,
        mean_other=statistics.fmean(sides[False]) if sides[False] else None,
    )


def _pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    try:
        return statistics.correlation(*zip(*pairs, strict=True)) if len(pairs) > 1 else None
    except statistics.StatisticsError:  # one of the two does not vary
        return None


def fisher_interval(correlation: float, count: int) -> tuple[float, float] | None:
    """The 95 % interval by Fisher's transformation; absent for fewer than four pairs and for a perfect correlation."""
    if count < FEWEST or abs(correlation) >= 1:
        return None
    centre, half = math.atanh(correlation), statistics.NormalDist().inv_cdf(0.975) / math.sqrt(count - 3)
    return math.tanh(centre - half), math.tanh(centre + half)
