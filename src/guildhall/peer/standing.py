"""Beyond the quotient: marks corrected for who marked, self-preference, repeatability, what it takes to settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from guildhall.analysis.leniency import LeniencyFit, fit_leniency
from guildhall.analysis.marks import MarkTable, Repeated, mark_table, repeatability
from guildhall.analysis.ordinal import OrdinalFit, fit_ordinal
from guildhall.domain.estimates import Estimate
from guildhall.errors import NotEnoughData
from guildhall.peer.record import RunRecord


@dataclass(frozen=True)
class Standing:
    """What the leniency model says of a run, or why it says nothing."""

    fit: LeniencyFit | None
    why_none: str | None
    repeatability: tuple[Repeated, ...]
    ordinal: OrdinalFit | None = None
    """The same with letters taken as an order only; it tells whether ranks hang on the distances between them."""

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
    repeats: tuple[Repeated, ...] = ()
    try:
        table = mark_table(run.mark_rows())
        repeats = tuple(repeatability(table))
        return Standing(fit_leniency(table, families=families), None, repeats, _ordinal(table))
    except NotEnoughData as error:
        return Standing(None, str(error), repeats)


def _ordinal(table: MarkTable) -> OrdinalFit | None:
    try:
        return fit_ordinal(table)
    except NotEnoughData:
        return None
