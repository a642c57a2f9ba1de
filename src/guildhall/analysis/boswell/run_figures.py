"""Everything that is said of a run, computed once: tables, quotients in both modes, uncertainty, the leniency model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

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
from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.domain.boswell import Essay, Mark, RunRecord, label
from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import mean


@dataclass(frozen=True)
class Effort:
    """One model's part. Seconds are those of uncached calls; the cost is unknown where one price is."""

    model: str
    essays: int
    marks: int
    cached: int
    tokens: int
    cost_usd: float | None
    essay_s: float | None
    marks_timed: int
    mark_s: Estimate
    marking_s: float


def efforts(run: RunRecord) -> Iterator[Effort]:
    """Every model's part in a run, in the order in which models first appear."""
    for model in run.models:
        essays = [essay for essay in run.essays if label(essay.author) == model]
        marks = [mark for mark in run.marks if label(mark.grader) == model]
        done: list[Essay | Mark] = [*essays, *marks]
        costs = [one.usage.cost_usd if one.usage else None for one in done]
        timed = [mark for mark in marks if mark.seconds is not None and not mark.cached]
        yield Effort(
            model=model,
            essays=len(essays),
            marks=len(marks),
            cached=sum(one.cached for one in done),
            tokens=sum(one.usage.input_tokens + one.usage.output_tokens for one in done if one.usage),
            cost_usd=None if None in costs else fsum(cost for cost in costs if cost is not None),
            essay_s=mean([essay.seconds for essay in essays if essay.seconds is not None and not essay.cached]),
            marks_timed=len(timed),
            mark_s=_seconds_a_mark(model, timed),
            marking_s=fsum(mark.seconds or 0.0 for mark in timed),
        )


def _seconds_a_mark(model: str, timed: Sequence[Mark]) -> Estimate:
    estimand = f"mean seconds {model} takes for a mark"
    if not timed:
        why = "no uncached mark was timed"
        return Estimate(value=None, estimand=estimand, unit="essay", method="none", why_no_interval=why)
    _, essay = np.unique([mark.essay for mark in timed], return_inverse=True)
    value, spread = mean_of_cluster_means(np.array([mark.seconds for mark in timed], dtype=float), essay)
    return t_estimate(
        value,
        spread,
        estimand=estimand,
        method="mean over essays, t over essays",
        unit="essay",
        n_judgments=len(timed),
    )


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
