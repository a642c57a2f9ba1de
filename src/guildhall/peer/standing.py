"""Beyond the quotient: marks corrected for who marked, self-preference, repeatability, what it takes to settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from guildhall.analysis.leniency import LeniencyFit, fit_leniency
from guildhall.analysis.marks import mark_table
from guildhall.domain.estimates import Estimate
from guildhall.errors import NotEnoughData
from guildhall.peer.record import RunRecord
from guildhall.peer.scale import mean


@dataclass(frozen=True)
class Repeatability:
    """How a grader repeats itself on the same essay in another round."""

    grader: str
    pairs: int
    same: float
    mean_gap: float


@dataclass(frozen=True)
class Standing:
    """What the leniency model says of a run, or why it says nothing."""

    fit: LeniencyFit | None
    why_none: str | None
    repeatability: tuple[Repeatability, ...]

    @property
    def qualities(self) -> list[tuple[str, Estimate]]:
        """Models by corrected quality, best first."""
        if self.fit is None:
            return []
        return sorted(self.fit.quality.items(), key=lambda item: item[1].value or 0.0, reverse=True)

    @property
    def to_settle(self) -> list[tuple[str, str, Estimate, int | None]]:
        """Neighbours in the ranking: their difference, and how many essays an author would settle it."""
        if self.fit is None:
            return []
        order = [name for name, _ in self.qualities]
        return [(a, b, self.fit.difference(a, b), self.fit.marks_to_settle(a, b)) for a, b in pairwise(order)]


def standing(run: RunRecord, *, families: Mapping[str, str] | None = None) -> Standing:
    """Fit the leniency model to a run's marks; where the marks do not allow it, say why."""
    repeats = repeatability(run)
    try:
        return Standing(fit_leniency(mark_table(run.mark_rows()), families=families), None, repeats)
    except NotEnoughData as error:
        return Standing(None, str(error), repeats)


def repeatability(run: RunRecord) -> tuple[Repeatability, ...]:
    """Per grader, over all pairs of rounds on one essay: how often the mark is the same, and the mean gap."""
    marks: dict[tuple[str, str], list[float]] = {}
    for row in run.mark_rows():
        if row.mark is not None:
            marks.setdefault((row.grader, f"{row.author}/{row.essay}"), []).append(row.mark)
    gaps: dict[str, list[float]] = {}
    for (grader, _), given in marks.items():
        gaps.setdefault(grader, []).extend(abs(a - b) for a, b in combinations(given, 2))
    return tuple(
        Repeatability(grader, len(found), sum(gap == 0 for gap in found) / len(found), mean(found) or 0.0)
        for grader, found in gaps.items()
        if found
    )
