"""Everything that is said of a run, computed once: tables, quotients in both modes, uncertainty, the leniency model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.boswell.grade_tables import Tables
from guildhall.analysis.boswell.quotient import Quotients, Reference, Scores, corrected_quotients, published_quotients
from guildhall.analysis.boswell.uncertainty import (
    INTERVALS_METHOD,
    LeniencyResult,
    Uncertainty,
    leniency_result,
    quotient_uncertainty,
)
from guildhall.domain.boswell import RunRecord
from guildhall.domain.estimates import Estimate


@dataclass(frozen=True)
class RunFigures:
    """A run and what follows from it. In published mode there are no intervals: that system had none."""

    run: RunRecord
    published_mode: bool
    tables: Tables
    quotients: Quotients
    other_mode: Quotients
    uncertainty: Uncertainty | None
    leniency: LeniencyResult | None
    seed: int

    def quotient(self, scores: Scores) -> Estimate:
        """A model's quotient with its interval, or the reason why it has none."""
        sure = self.uncertainty
        interval = None if sure is None else sure.interval[scores.model]
        why = None if interval else "the published formulas give none" if sure is None else sure.why_none[scores.model]
        return Estimate(
            value=scores.quotient,
            interval=interval,
            level=0.95 if sure is None else sure.level,
            estimand=f"Boswell Quotient of {scores.model}, {self.quotients.mode}",
            unit="essay",
            method="none" if sure is None else INTERVALS_METHOD,
            seed=None if sure is None else self.seed,
            why_no_interval=why,
        )


def run_figures(
    run: RunRecord,
    *,
    as_published: bool = False,
    reference: Reference | None = None,
    families: Mapping[str, str] | None = None,
    seed: int = 0,
    draws: int = 200,
) -> RunFigures:
    """All figures of a run; the same seed gives the same intervals."""
    corrected, published = corrected_quotients(run, reference=reference), published_quotients(run)
    if as_published:
        return RunFigures(run, True, Tables(run, published=True), published, corrected, None, None, seed)
    sure = quotient_uncertainty(run, corrected, rng=np.random.default_rng(seed), draws=draws)
    placed = leniency_result(run, families=families)
    return RunFigures(run, False, Tables(run), corrected, published, sure, placed, seed)
