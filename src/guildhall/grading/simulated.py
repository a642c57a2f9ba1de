"""Simulated graders for demos and tests: they see a `BlindedView` and nothing else, and are named as simulated.

Such a grader reads what a hurried person would: are the files there, are they named as asked, can they be opened, how
much is in them. Noise of its own, drawn from its seed, makes it disagree with its colleagues now and then.
"""

from __future__ import annotations

from math import log2
from random import Random

from guildhall.domain.halls import Verdict
from guildhall.domain.judgments import BlindedSide, BlindedView, BlindGuess

NOISE = 0.6
TIE_BELOW = 0.15


def judge_simulated(view: BlindedView, *, rng: Random) -> Verdict:
    """A verdict on a pair of deliverables from their looks alone."""
    scores = [_looks(side) + rng.gauss(0, NOISE) for side in view.sides]
    gap = abs(max(scores) - min(scores))
    if gap < TIE_BELOW:
        ranks: tuple[int, ...] = (1,) * len(scores)
    else:
        ordered = sorted(scores, reverse=True)
        ranks = tuple(ordered.index(score) + 1 for score in scores)
    tied = len(set(ranks)) == 1
    return Verdict(
        ranks=ranks,
        tie_kind="both good" if tied else None,
        strength=None if tied else 1 + min(2, int(gap)),
        confidence=float(round(50 + 50 * min(1.0, gap / 2))),
        reason=_reason(view, ranks),
        guess=rng.choice([BlindGuess.A, BlindGuess.B, BlindGuess.CANNOT_TELL]) if len(scores) == 2 else None,
    )


def _looks(side: BlindedSide) -> float:
    """More of what was asked for, under the names that were asked for, with pages one can see."""
    whole = sum(1.0 + (0.5 if file.named_as_asked else 0.0) for file in side.files if file.digest or file.pages)
    pages = min(1.0, sum(len(file.pages) for file in side.files) / 6)
    content = log2(1 + sum(file.words for file in side.files) / 100) / 2
    return whole + pages + content - 0.5 * sum(bool(file.omitted) for file in side.files)


def _reason(view: BlindedView, ranks: tuple[int, ...]) -> str:
    told = [
        f"{side.place} holds {len(side.files)} files with {sum(len(file.pages) for file in side.files)} pages"
        for side in view.sides
    ]
    best = " and ".join(side.place for side, rank in zip(view.sides, ranks, strict=True) if rank == 1)
    return f"Simulated grader, judging by looks alone: {'; '.join(told)}. Preferred: {best}."
