"""How sure one may be of a quotient: bootstrap intervals, and the ranks that marks can tell apart.

Graders and essays are both resampled, since both are a sample of what might have been: graders for performance
and for the consensus, essays for how a grader orders them. Speed is taken as measured. Ranks are simultaneous: a
model is placed above another only where the whole table of differences allows it at the stated level. Beyond
the quotient: marks corrected for who marked, self-preference, repeatability, what it takes to settle neighbours.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.boswell.quotient import WEIGHTS, Quotients, mark_rows
from guildhall.analysis.leniency import LeniencyFit, fit_leniency
from guildhall.analysis.leniency_fits import OrdinalFit, fit_ordinal
from guildhall.analysis.marks import MarkTable, Repeated, kendall_tau_b, mark_table, repeatability
from guildhall.domain.boswell import RunRecord
from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import TOP
from guildhall.errors import NotEnoughData

Floats = NDArray[np.float64]
_WITHOUT_SPREAD = "the marks show no spread to measure error by"
INTERVALS_METHOD = "bootstrap over graders and essays, percentile"
RANKS_METHOD = "ranks simultaneous over all pairs"


@dataclass(frozen=True)
class Uncertainty:
    """Per model an interval of its quotient and one of its rank, or the reason why there is none."""

    level: float
    interval: dict[str, tuple[float, float] | None]
    rank_interval: dict[str, tuple[int, int] | None]
    why_none: dict[str, str]
    method: str = f"{INTERVALS_METHOD}; {RANKS_METHOD}"


def quotient_uncertainty(
    run: RunRecord, quotients: Quotients, *, rng: np.random.Generator, draws: int = 200, level: float = 0.95
) -> Uncertainty:
    """Intervals of corrected quotients; absent below four graders, where resampling them says nothing."""
    rows = mark_rows(run)
    models = [scores.model for scores in quotients.scores if scores.exact is not None]
    every = [scores.model for scores in quotients.scores]
    graders = {row.grader for row in rows if row.mark is not None}
    if len(graders) < 4:
        nothing: dict[str, None] = dict.fromkeys(every)
        why = f"{len(graders)} graders whose marks could be read; at least 4 are needed"
        return Uncertainty(level, dict(nothing), dict(nothing), dict.fromkeys(every, why))
    resampled = _draw_quotients(mark_table(rows), quotients, models, rng, draws)
    point = np.array([quotients.of(model).exact for model in models], dtype=float)
    tail = (1 - level) / 2
    bounds = np.nanquantile(resampled, [tail, 1 - tail], axis=0)
    intervals = {
        m: (float(low), float(high)) for m, low, high in zip(models, *bounds, strict=True) if high - low > 1e-9
    }
    ranks = dict(zip(models, _rank_intervals(point, resampled, level), strict=True))
    why_none = {model: _WITHOUT_SPREAD for model in every if model not in intervals}
    return Uncertainty(level, {m: intervals.get(m) for m in every}, {m: ranks.get(m) for m in every}, why_none)


def _draw_quotients(
    table: MarkTable, quotients: Quotients, models: list[str], rng: np.random.Generator, draws: int
) -> Floats:
    marks, essay_author = _mark_matrix(table)
    own_marks = quotients.reference is not None and quotients.reference.own_marks
    n_models, n_essays = marks.shape
    result = np.full((draws, len(models)), np.nan)
    index = {model: table.models.index(model) for model in models}
    for draw in range(draws):
        by = np.asarray(rng.integers(n_models, size=n_models), dtype=np.intp)
        of = np.asarray(rng.integers(n_essays, size=n_essays), dtype=np.intp)
        for column, model in enumerate(models):
            scores = quotients.of(model)
            found = {
                "performance": _performance(marks, essay_author, by, index[model], own_marks),
                "evaluation": _evaluation(marks, essay_author, by, of, index[model]),
                "efficiency": scores.efficiency,
            }
            kept = {name: value for name, value in found.items() if name in scores.present and value is not None}
            weight = sum(WEIGHTS[name] for name in kept)
            if weight:
                result[draw, column] = sum(WEIGHTS[name] * value for name, value in kept.items()) / weight
    return result


def _mark_matrix(table: MarkTable) -> tuple[Floats, NDArray[np.intp]]:
    """Marks as graders x essays (a mean over rounds; NaN where none was read), and each essay's author."""
    shape = (len(table.models), len(table.essays))
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (table.grader, table.essay), table.mark)
    np.add.at(count, (table.grader, table.essay), 1)
    author = np.full(shape[1], -1, dtype=np.intp)
    author[table.essay] = table.author
    with np.errstate(invalid="ignore"):
        return total / np.where(count, count, np.nan), author


def _performance(
    marks: Floats, essay_author: NDArray[np.intp], by: NDArray[np.intp], model: int, own_marks: bool
) -> float | None:
    graders = by if own_marks else by[by != model]
    received = marks[np.ix_(graders, essay_author == model)]
    received = received[~np.isnan(received)]
    return 100 * float(np.median(received)) / TOP if len(received) else None


def _evaluation(
    marks: Floats, essay_author: NDArray[np.intp], by: NDArray[np.intp], of: NDArray[np.intp], model: int
) -> float | None:
    essays = of[(essay_author[of] != model) & ~np.isnan(marks[model, of])]
    others = by[by != model]
    if len(essays) < 4 or not len(others):
        return None
    block = marks[np.ix_(others, essays)].copy()
    block[others[:, None] == essay_author[essays][None, :]] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an essay no drawn grader marked has no consensus
        consensus = np.nanmedian(block, axis=0)
    known = ~np.isnan(consensus)
    if known.sum() < 4:
        return None
    mine, theirs = marks[model, essays][known], consensus[known]
    tau, bias = kendall_tau_b(mine, theirs), float(np.median(mine - theirs))
    return 100 * (0.5 * max(0.0, tau) + 0.5 * max(0.0, 1 - abs(bias)))


def _rank_intervals(point: Floats, resampled: Floats, level: float) -> list[tuple[int, int]]:
    gap = point[:, None] - point[None, :]
    resampled = resampled[~np.isnan(resampled).all(axis=1)]
    drawn = resampled[:, :, None] - resampled[:, None, :]
    if not len(drawn) or np.isnan(drawn).all(axis=0).any():  # with few graders some draws hold none of two models
        return [(1, len(point))] * len(point)
    spread = np.nanstd(drawn, axis=0)
    scale = np.where(spread > 0, spread, np.inf)
    reach = np.nanquantile(np.nanmax(np.abs(drawn - gap) / scale, axis=(1, 2)), level) * spread
    above = gap > reach
    np.fill_diagonal(above, val=False)
    n = len(point)
    return [(1 + int(above[:, i].sum()), n - int(above[i].sum())) for i in range(n)]


@dataclass(frozen=True)
class LeniencyResult:
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


def leniency_result(run: RunRecord, *, families: Mapping[str, str] | None = None) -> LeniencyResult:
    """Fit the leniency model to a run's marks; where the marks do not allow it, say why."""
    repeats: tuple[Repeated, ...] = ()
    try:
        table = mark_table(mark_rows(run))
        repeats = tuple(repeatability(table))
        return LeniencyResult(fit_leniency(table, families=families), None, repeats, _ordinal(table))
    except NotEnoughData as error:
        return LeniencyResult(None, str(error), repeats)


def _ordinal(table: MarkTable) -> OrdinalFit | None:
    try:
        return fit_ordinal(table)
    except NotEnoughData:
        return None
