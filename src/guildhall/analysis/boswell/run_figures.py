"""Everything that is said of a run, computed once: tables, quotients in both modes, uncertainty, the leniency model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.boswell.grade_tables import Tables
from guildhall.analysis.boswell.quotient import Quotients, Reference, Scores, corrected_quotients, published_quotients
from guildhall.analysis.boswell.uncertainty import LeniencyResult, Uncertainty, leniency_result, quotient_uncertainty
from guildhall.domain.boswell import RunRecord

_FELL_FAR = 3


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

    @property
    def explanations(self) -> list[str]:
        """Why models that led as published do not lead when corrected."""
        corrected, published = self.quotients, self.other_mode
        if self.published_mode:
            corrected, published = published, corrected
        ranks = {scores.model: scores for scores in corrected.scores}
        return [
            explain(before, ranks[before.model])
            for before in published.scores
            if before.model in ranks and _fell(before, ranks[before.model])
        ]


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


def _fell(before: Scores, after: Scores) -> bool:
    return before.rank <= _FELL_FAR < after.rank or (before.rank == 1 and after.rank > 1)


def explain(before: Scores, after: Scores) -> str:
    """In words, what moved a model between the two modes."""
    reasons = [words for words in (_speed(before, after), _marking(before, after), _marks(before, after)) if words]
    moved = (
        f"{before.model} is ranked {before.rank} as published ({_shown(before.quotient)}) and {after.rank} corrected"
    )
    return f"{moved} ({_shown(after.quotient)}): {'; '.join(reasons) or 'other models moved past it'}."


def _speed(before: Scores, after: Scores) -> str | None:
    if before.efficiency is None and after.efficiency is not None:
        return (
            "it was the slowest model at both tasks, so its published efficiency of zero was treated as missing and "
            f"its weight went to the other components; corrected, efficiency is {_shown(after.efficiency)} and counts"
        )
    return _changed("efficiency", "is measured against a stated time", before.efficiency, after.efficiency)


def _marking(before: Scores, after: Scores) -> str | None:
    why = "is agreement with the leave-one-out consensus, no longer only the absence of a median bias"
    return _changed("evaluation", why, before.evaluation, after.evaluation)


def _marks(before: Scores, after: Scores) -> str | None:
    why = "is the median from others, as the replies state it"
    return _changed("performance", why, before.performance, after.performance)


def _changed(name: str, why: str, before: float | None, after: float | None) -> str | None:
    if before == after or (before is not None and after is not None and abs(before - after) < 1):
        return None
    return f"{name} {why} ({_shown(before)} -> {_shown(after)})"


def _shown(value: float | None) -> str:
    return "absent" if value is None else f"{value:.2f}"
