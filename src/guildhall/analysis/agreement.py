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

from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import IntervalFields, interval_of, no_interval, share_interval
from guildhall.analysis.lattice import Law, Part, gathered, law_of_sum, resampled, ways_to_fall
from guildhall.analysis.ratings_table import Counts, RatingsTable, Types, types_from_counts
from guildhall.analysis.spreads import Spread
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

    Interval `population` (default): tasks, or samples where no task is named, and people are drawn from populations and
    crossed. `fixed-samples`: for these very samples, the exact law of resampling each one's ratings.
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
    people, programs = (ratings_by(ratings, human=human, which=which) for human in (True, False))
    measure = partial(_estimate, units=units_of(ratings), interval=interval, level=level)
    return Agreement(
        measure(
            "human-human", pair_agreement(human), people, pair_errors(people, counts[0]), human, pair_disagreement_law
        ),
        measure(
            "human-auto",
            cross_agreement(human, auto),
            people,
            cross_errors(people, *counts),
            both,
            cross_disagreement_law,
        ),
        measure(
            "auto-auto", pair_agreement(auto), programs, pair_errors(programs, counts[1]), auto, pair_disagreement_law
        ),
    )


class SomeRatings(NamedTuple):
    """Ratings by people or by programs, one row each."""

    sample: Codes
    half: Codes
    rater: Codes | None
    """None where programs rated: they are these and no sample."""


class RowErrors(NamedTuple):
    """What each rating adds to the error of a mean over samples, with its weight, before the mean is taken off.

    A rating that stands with each other one of its sample moves the mean twice (`order` 2): as itself, and as what the
    others are held against.
    """

    values: Floats
    """The mean agreement of each rating with what it is held against; NaN where there is nothing."""
    weight: Floats
    """Its share in its sample."""
    order: int


def ratings_by(ratings: RatingsTable, *, human: bool, which: NDArray[np.bool_]) -> SomeRatings:
    """The ratings of some samples by people, or by programs."""
    rows = np.flatnonzero((ratings.is_human == human) & which[ratings.sample])
    return SomeRatings(
        ratings.sample[rows], ratings.halves[rows].astype(np.intp), ratings.rater[rows] if human else None
    )


def pair_errors(rated: SomeRatings, counts: Counts) -> RowErrors:
    """Of agreement over all pairs of a sample; `counts` are of the same raters."""
    mine = counts[rated.sample]
    k = mine.sum(axis=1)
    apart = (DISTANCE[rated.half] * mine).sum(axis=1) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(k > 1, 1.0 - apart / (k - 1.0), np.nan)
    return RowErrors(values, 1.0 / k, 2)


def cross_errors(rated: SomeRatings, counts: Counts, others: Counts) -> RowErrors:
    """Of agreement with the others' ratings of the same sample."""
    theirs = others[rated.sample]
    n = theirs.sum(axis=1)
    apart = (DISTANCE[rated.half] * theirs).sum(axis=1) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(n > 0, 1.0 - apart / n, np.nan)
    return RowErrors(values, 1.0 / counts[rated.sample].sum(axis=1), 1)


def spread_of(rated: SomeRatings, units: Codes, errors: RowErrors, value: float) -> Spread:
    """How far a mean over samples may be off; `units` are the tasks of all samples, or the samples themselves."""
    known = ~np.isnan(errors.values)
    sample = rated.sample[known]
    weight = errors.weight[known] / max(1, len(np.unique(sample)))
    return crossed(
        weight * (errors.values[known] - value),
        units[sample],
        None if rated.rater is None else rated.rater[known],
        weight=weight,
        order=errors.order,
        share=float(rated.half.mean()) / 2.0,
    )


def _estimate(
    name: str,
    values: Floats,
    rated: SomeRatings,
    errors: RowErrors,
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
    value = float(values[valid].mean()) if valid.any() else None
    n_units = 0
    if value is None:
        made = no_interval(f"no sample has a pair of {name} ratings")
    elif interval == "population":
        spread = spread_of(rated, codes, errors, value)
        made, n_units = share_interval(value, spread, n_judgments=n_ratings, level=level, unit=unit), spread.n_tasks
    else:
        literal = interval == "as-published" and law is pair_disagreement_law
        found = law(types_from_counts(counts[valid]), **({"corrected": False} if literal else {}))
        made = _law_interval(found, level=level, as_published=interval == "as-published")
        n_units = len(np.unique(codes[rated.sample]))
    return Estimate(
        value=value,
        estimand=f"{name} agreement: mean over samples of 1 - |X - Y| over all pairs of ratings",
        level=level,
        unit=unit if interval == "population" else "rating",
        n_tasks=n_units if unit == "task" else None,
        n_samples=int(valid.sum()),
        n_judgments=n_ratings,
        n_excluded=int((~valid).sum()),
        **made,
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


def units_of(ratings: RatingsTable) -> tuple[Codes, str]:
    """What every sample goes together by: its task where named, else itself."""
    if ratings.task is not None:
        return ratings.task, "task"
    return np.arange(ratings.n_samples), "sample"


def _law_interval(law: Law | None, *, level: float, as_published: bool) -> IntervalFields:
    if law is None:
        return no_interval("no sample's ratings differ; resampling within samples says nothing")
    low, high = law.interval(level)
    words = "as published, uncorrected: human-human does not cover" if as_published else "k/(k-1) corrected"
    return interval_of((1.0 - high, 1.0 - low), f"ratings resampled within samples, {law.method}, {words}")
