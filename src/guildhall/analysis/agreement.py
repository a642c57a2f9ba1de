"""Agreement between graders: people with people, people with automatic graders, automatic graders with themselves.

Estimand: the mean over samples of A_s, the mean of 1 - |X - Y| over all pairs of ratings of a sample (all pairs of a
person's and an automatic rating for human-auto). Samples weigh equally. Samples that have no pair are left out and
counted.

The exact law of resampling each sample's ratings: the within-sample bootstrap without random numbers. Resampling k
ratings with replacement and then taking all pairs compares a rating with itself now and then, which shrinks
disagreement by (k - 1) / k. The corrected law multiplies each sample's disagreement by k / (k - 1); the literal one,
kept for comparison with published figures, does not, and its interval misses its own point estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import (
    IntervalFields,
    cluster_variance,
    interval_of,
    matched_df,
    no_interval,
    share_interval,
)
from guildhall.analysis.lattice import Law, Part, gathered, law_of_sum, resampled, ways_to_fall
from guildhall.analysis.ratings_table import Counts, RatingsTable, Types, types_from_counts
from guildhall.analysis.tables import Codes, Floats
from guildhall.domain.estimates import Estimate

DISTANCE = np.abs(np.arange(3)[:, None] - np.arange(3))
"""Between halves; a loss and a win are two half points apart."""


def pair_disagreement_law(types: Types, *, corrected: bool = True) -> Law | None:
    """The law of the mean disagreement over all pairs of a sample's ratings; samples with one rating are left out.

    `types.counts` has three columns. None where no sample's ratings differ.
    """
    sizes = types.counts.sum(axis=1)
    parts = []
    # Sets, not np.unique: without index arrays it imports numpy.ma, which costs more than all the rest here.
    for k in sorted(set(sizes[sizes >= 2].tolist())):
        ways, _ = ways_to_fall(k)
        # In half points, over unordered pairs: there are k (k - 1) / 2 of them, hence the denominators.
        steps = np.einsum("ni,ij,nj->n", ways, DISTANCE, ways) // 2
        masses = gathered(resampled(types.counts[sizes == k]), steps)
        parts.append(Part(masses, (k - 1) ** 2 if corrected else k * (k - 1), types.times[sizes == k]))
    return law_of_sum(parts, scale=1.0 / max(1, int(types.times[sizes >= 2].sum())))


def cross_disagreement_law(types: Types) -> Law | None:
    """The law of the mean disagreement between people and verdicts, both resampled within each sample.

    `types.counts` has six columns: people's three counts, then the verdicts'. No correction is needed: a rating is
    never compared with itself.
    """
    people, verdicts = types.counts[:, :3], types.counts[:, 3:]
    sizes = np.stack([people.sum(axis=1), verdicts.sum(axis=1)], axis=1)
    valid = (sizes > 0).all(axis=1)
    parts = []
    for k, j in sorted({(k, j) for k, j in sizes[valid].tolist()}):
        rows = (sizes == (k, j)).all(axis=1)
        steps = ways_to_fall(k)[0] @ DISTANCE @ ways_to_fall(j)[0].T
        likely = resampled(people[rows])[:, :, None] * resampled(verdicts[rows])[:, None, :]
        parts.append(Part(gathered(likely.reshape(len(likely), -1), steps.ravel()), 2 * k * j, types.times[rows]))
    return law_of_sum(parts, scale=1.0 / max(1, int(types.times[valid].sum())))


AgreementInterval = Literal["population", "fixed-samples", "as-published"]


class Agreement(NamedTuple):
    """Three agreements on the same samples."""

    human_human: Estimate
    human_auto: Estimate
    auto_auto: Estimate


def agreement(
    ratings: RatingsTable,
    *,
    interval: AgreementInterval = "population",
    level: float = 0.95,
    which: NDArray[np.bool_] | None = None,
) -> Agreement:
    """Agreement over all samples, or over those that `which` (a flag per sample) picks.

    Interval `population` (default): tasks, or samples where no task is named, are drawn from a population; a t
    interval over them. `fixed-samples`: for these very samples, the exact law of resampling each one's ratings.
    `as-published`: the same law without its correction, as section A.6.2 of the GDPval paper reads literally; for
    human-human it does not cover.
    """
    which = np.ones(ratings.n_samples, dtype=np.bool_) if which is None else which
    counts = ratings.counts(human=True), ratings.counts(human=False)
    return _agreement(ratings, counts, which, interval=interval, level=level)


def _agreement(
    ratings: RatingsTable,
    counts: tuple[Counts, Counts],
    which: NDArray[np.bool_],
    *,
    interval: AgreementInterval,
    level: float,
) -> Agreement:
    human, auto = (one[which] for one in counts)
    both = np.hstack([human, auto])
    measure = partial(_estimate, units=_units(ratings, which), interval=interval, level=level)
    return Agreement(
        measure("human-human", pair_agreement(human), human, pair_disagreement_law),
        measure("human-auto", cross_agreement(human, auto), both, cross_disagreement_law),
        measure("auto-auto", pair_agreement(auto), auto, pair_disagreement_law),
    )


def _estimate(
    name: str,
    values: Floats,
    counts: Counts,
    law: Callable[..., Law | None],
    *,
    units: tuple[Codes, str],
    interval: AgreementInterval,
    level: float,
) -> Estimate:
    """The mean of each sample's agreement, NaN where it has none, with the interval asked for."""
    valid = ~np.isnan(values)
    codes, unit = units
    n_ratings = int(counts[valid].sum())
    if interval == "population":
        made = population_interval(values[valid], codes[valid], level=level, unit=unit, n_ratings=n_ratings)
    else:
        literal = interval == "as-published" and law is pair_disagreement_law
        found = law(types_from_counts(counts[valid]), **({"corrected": False} if literal else {}))
        made = _law_interval(found, level=level, as_published=interval == "as-published")
    return Estimate(
        value=float(values[valid].mean()) if valid.any() else None,
        estimand=f"{name} agreement: mean over samples of 1 - |X - Y| over all pairs of ratings",
        level=level,
        unit=unit if interval == "population" else "rating",
        n_tasks=len(set(codes[valid].tolist())) if unit == "task" else None,
        n_samples=int(valid.sum()),
        n_judgments=n_ratings,
        n_excluded=int((~valid).sum()),
        **(made if valid.any() else no_interval(f"no sample has a pair of {name} ratings")),
    )


def agreement_by_model(
    ratings: RatingsTable, *, interval: AgreementInterval = "population", level: float = 0.95
) -> dict[str, Agreement]:
    """The same for each model's samples; ratings are counted once, however many models there are."""
    counts = ratings.counts(human=True), ratings.counts(human=False)
    return {
        name: _agreement(ratings, counts, ratings.model == code, interval=interval, level=level)
        for code, name in enumerate(ratings.models)
        if np.any(ratings.model == code)
    }


def mean_over_models(by_model: dict[str, Agreement]) -> dict[str, float | None]:
    """Models weighing equally instead of samples; the models are these, so there is no interval."""
    found: dict[str, float | None] = {}
    for name in Agreement._fields:
        values = [getattr(one, name).value for one in by_model.values() if getattr(one, name).value is not None]
        found[name] = float(np.mean(values)) if values else None
    return found


def pair_agreement(counts: Counts) -> Floats:
    """A_s over all pairs within each row of counts; NaN where a sample has fewer than two ratings."""
    k = counts.sum(axis=1)
    apart = np.einsum("ni,ij,nj->n", counts, DISTANCE, counts) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = 1.0 - apart / (k * (k - 1.0))
    values[k < 2] = math.nan
    return values


def cross_agreement(human: Counts, auto: Counts) -> Floats:
    """A_s over all pairs of a person's and an automatic rating; NaN where one side is missing."""
    pairs = human.sum(axis=1) * auto.sum(axis=1)
    apart = np.einsum("ni,ij,nj->n", human, DISTANCE, auto) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = 1.0 - apart / pairs
    values[pairs == 0] = math.nan
    return values


def population_interval(values: Floats, units: Codes, *, level: float, unit: str, n_ratings: int) -> IntervalFields:
    """A mean over samples whose clusters (tasks, or the samples themselves) are drawn from a population."""
    if not len(values):
        return no_interval("nothing to average")
    mean = float(values.mean())
    contributions = sums_by_unit((values - mean) / len(values), units)
    return share_interval(
        mean,
        cluster_variance(contributions),
        n_clusters=len(contributions),
        n_judgments=n_ratings,
        level=level,
        df=matched_df(contributions),
        unit=unit,
    )


def sums_by_unit(values: Floats, units: Codes) -> Floats:
    """Sums of `values` over each unit that occurs."""
    _, place = np.unique(units, return_inverse=True)
    return np.asarray(np.bincount(place, values), dtype=np.float64)


def _units(ratings: RatingsTable, which: NDArray[np.bool_]) -> tuple[Codes, str]:
    if ratings.task is not None:
        return ratings.task[which], "task"
    return np.flatnonzero(which), "sample"


def _law_interval(law: Law | None, *, level: float, as_published: bool) -> IntervalFields:
    if law is None:
        return no_interval("no sample's ratings differ; resampling within samples says nothing")
    low, high = law.interval(level)
    words = "as published, uncorrected: human-human does not cover" if as_published else "k/(k-1) corrected"
    return interval_of((1.0 - high, 1.0 - low), f"ratings resampled within samples, {law.method}, {words}")
