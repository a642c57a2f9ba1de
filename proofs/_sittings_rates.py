"""Sittings for rates, agreement and ratings: what people's judgments alone support."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from guildhall.analysis.agreement import agreement
from guildhall.analysis.agreement_report import within_points
from guildhall.analysis.bradley_terry import Ties
from guildhall.analysis.breakdown import breakdown
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate, labels_of
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS
from guildhall.analysis.ratings import rate_votes
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.tables import Coded
from guildhall.analysis.votes import Votes
from guildhall.analysis.win_rates import IntervalKind, win_rates
from proofs._examining import Kind, Seen, Sitting, see
from proofs.simulator import (
    Cell,
    Study,
    agreement_given,
    draw_study,
    draw_votes,
    true_agreement,
    true_chance_corrected,
    true_rates,
)


def outcomes_of(study: Study, *, cells: bool = False) -> Outcomes:
    groups = {"occupation": _coded(study.occupation)} if cells else None
    return Outcomes(
        task=_coded(study.task),
        model=Coded(np.zeros(len(study.task), dtype=np.int32), ("model",)),
        sample=_coded(study.sample),
        halves=study.halves,
        grader=_coded(study.grader),
        groups=groups,
    )


def _coded(codes: Any) -> Coded:
    names, dense = np.unique(codes, return_inverse=True)
    return Coded(dense.astype(np.int32), tuple(str(name) for name in names))


def win_rate_intervals(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    outcomes, truth = outcomes_of(draw_study(cell, rng)), true_rates(cell)
    (rate,) = win_rates(outcomes)
    for convention in CONVENTIONS:
        yield see(f"win rate, t ({convention})", getattr(rate, convention), truth[convention])


def resampled_win_rates(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Resampling of tasks knows nothing of graders who judge several tasks, so every grade has a grader of its own."""
    judged = outcomes_of(draw_study(cell, rng, own_graders=True))
    kinds: dict[IntervalKind, Kind] = {"tasks": "level", "two-level": "at least", "within-sample": "as published"}
    for interval, kind in kinds.items():
        (rate,) = win_rates(judged, interval=interval, seed=run)
        yield see(f"win rate, {interval} resampled", rate.half_tie, true_rates(cell)["half_tie"], kind)


def small_cells(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Twelve occupations of five tasks, which differ: each one's own rate; one of them a run, to be independent."""
    study = draw_study(replace(cell, n_tasks=60), rng, occupation_sd=0.6)
    found = breakdown(outcomes_of(study, cells=True), ["occupation"])
    truths = (1 - cell.ties) * study.occupation_chance + cell.ties / 2
    held = []
    for one in found:
        band, truth = one.band["half_tie"], truths[int(one.levels["occupation"])]
        held.append(band is None or band[0] - 1e-9 <= truth <= band[1] + 1e-9)
    picked = found[run % len(found)]
    truth = float(truths[int(picked.levels["occupation"])])
    yield see("win rate of a cell of five tasks", picked.raw.half_tie, truth)
    yield see("win rate of a cell, pooled", picked.pooled["half_tie"], truth, "pooled")
    yield Seen("simultaneous band over cells", "simultaneous", all(held))


def ratings_of(study: Study) -> RatingsTable:
    """Human ratings of every sample with one automatic verdict each, as the agreement estimators take them."""
    n_samples, n_human = len(study.sample_task), len(study.sample)
    return RatingsTable(
        sample=np.concatenate([study.sample, np.arange(n_samples)]),
        halves=np.concatenate([study.halves, study.auto]),
        is_human=np.r_[np.ones(n_human, dtype=bool), np.zeros(n_samples, dtype=bool)],
        rater=np.concatenate([study.grader, np.full(n_samples, study.grader.max() + 1)]).astype(np.int32),
        raters=tuple(str(one) for one in range(int(study.grader.max()) + 2)),
        model=np.zeros(n_samples, dtype=np.int32),
        models=("model",),
        task=study.sample_task.astype(np.int32),
        n_excluded=0,
    )


def agreement_intervals(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    study = draw_study(cell, rng)
    ratings, (people, auto) = ratings_of(study), true_agreement(cell)
    found = agreement(ratings)
    yield see("agreement human-human, tasks drawn", found.human_human, people)
    yield see("agreement human-auto, tasks drawn", found.human_auto, auto)
    yield see("agreement gap A_HH - A_HX", within_points(ratings, d=0.05).gap, people - auto)


def fixed_sample_agreement(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    study = draw_study(cell, rng, own_graders=True)
    rated = np.bincount(study.sample, minlength=len(study.sample_task)) > 1
    people = agreement_given(cell.ties, study.human_chance, study.human_chance)[rated].mean()
    ratings = ratings_of(study)
    fixed, literal = agreement(ratings, interval="fixed-samples"), agreement(ratings, interval="as-published")
    yield see("agreement human-human, fixed samples", fixed.human_human, float(people), "at least")
    yield see("agreement human-human, literal A.6.2", literal.human_human, float(people), "as published")


def chance_corrected(cell: Cell, rng: np.random.Generator, _: int) -> Iterable[Seen]:
    ratings = ratings_of(draw_study(cell, rng, own_graders=True))
    labels, unit = labels_of(ratings)
    alpha, ac = true_chance_corrected(cell)
    yield see("Krippendorff's alpha", alpha_estimate(labels, unit=unit, metric="interval"), alpha)
    yield see("Gwet's AC2", gwet_estimate(labels, unit=unit, metric="interval"), ac)


def rating_intervals(cell: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    world = draw_votes(cell, rng)
    names = tuple(f"m{index}" for index in range(len(world.scores)))
    votes = Votes(names, world.left, world.right, world.outcome, None, {"task": world.task}, {}, 0)
    model = run % len(names)
    order = np.argsort(-world.scores)
    for ties in _tie_models(cell):
        table = rate_votes(votes, cluster="task", ties=ties)
        by_name = {one.model: one for one in table.ratings}
        score = by_name[names[model]].score
        yield see(f"Bradley-Terry score, {ties}", score, float(world.scores[model]))
        if ties == "davidson":
            ranks = [by_name[names[one]].rank_interval for one in order]
            held = all(r is None or r[0] <= place <= r[1] for place, r in enumerate(ranks, 1))
            yield Seen("rank intervals", "simultaneous", held)


def _tie_models(cell: Cell) -> tuple[Ties, ...]:
    """Ties were planted by Davidson's law; without ties the three models are one, and each is examined there."""
    return ("davidson", "rao-kupper", "half") if cell.ties == 0 else ("davidson",)


SITTINGS: dict[str, Sitting] = {
    "win rates": win_rate_intervals,
    "win rates resampled": resampled_win_rates,
    "small cells": small_cells,
    "agreement": agreement_intervals,
    "agreement, fixed samples": fixed_sample_agreement,
    "chance-corrected agreement": chance_corrected,
    "ratings": rating_intervals,
}
