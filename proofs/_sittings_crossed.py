"""Sittings in which a few people judge many tasks: every estimate over people's judgments, asked as a user asks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from guildhall.analysis.agreement import agreement
from guildhall.analysis.agreement_report import within_points
from guildhall.analysis.breakdown import breakdown
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate, labels_of
from guildhall.analysis.effects import GuessRows, blinding_index
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.paired import paired_difference, people_of, rates_by_task
from guildhall.analysis.ppi import PpiRows, ppi_mean
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Estimate
from proofs._crossed_worlds import Given, Pool, draw_pool, draw_work, true_agreement, true_rates
from proofs.simulator import Codes

CONVENTIONS = ("win", "win_or_tie", "half_tie")
Seen = tuple[str, Estimate, float]


def outcomes_of(parts: Iterable[Given], cell: Pool, *, pool: str = "g", groups: int = 0) -> Outcomes:
    """Grades of several pools of samples, each a model's; people are called by their pool."""
    columns: list[list[Codes]] = [[], [], [], [], []]
    for number, one in enumerate(parts):
        each = one.grader.shape[1]
        rows = (np.repeat(one.task, each), np.full(one.grader.size, number), _samples(one, cell, each))
        for column, values in zip(columns, (*rows, one.grader.ravel(), one.halves.ravel()), strict=True):
            column.append(values)
    task, model, sample, grader, halves = (np.concatenate(column) for column in columns)
    group = {"group": _coded(task % groups)} if groups else None
    return Outcomes(
        task=_coded(task),
        model=_coded(model),
        sample=_coded(sample),
        halves=halves.astype(np.int8),
        grader=Coded(grader.astype(np.int32), tuple(f"{pool}{one}" for one in range(cell.graders))),
        groups=group,
    )


def _samples(one: Given, cell: Pool, each: int) -> Codes:
    return np.repeat(np.arange(len(one.task)) % cell.samples, each)


def _coded(codes: Codes) -> Coded:
    return Coded(codes.astype(np.int32), tuple(str(one) for one in range(int(codes.max()) + 1)))


def rates(cell: Pool, rng: np.random.Generator, runs: int) -> Iterator[Seen]:
    """All runs at once, each as a model of its own."""
    found = win_rates(outcomes_of((draw_pool(cell, draw_work(cell, rng), rng) for _ in range(runs)), cell))
    truth = true_rates(cell)
    for one in found:
        for convention in CONVENTIONS:
            yield f"rate ({convention})", getattr(one, convention), truth[convention]


def ratings_of(given: Given) -> RatingsTable:
    n, each = given.grader.shape
    people = int(given.grader.max()) + 1
    return RatingsTable(
        sample=np.concatenate([np.repeat(np.arange(n), each), np.arange(n)]),
        halves=np.concatenate([given.halves.ravel(), given.auto]).astype(np.int8),
        is_human=np.arange(n * each + n) < n * each,
        rater=np.concatenate([given.grader.ravel(), np.full(n, people)]).astype(np.int32),
        raters=tuple(str(one) for one in range(people + 1)),
        model=np.zeros(n, dtype=np.int32),
        models=("m",),
        task=given.task.astype(np.int32),
    )


def others(cell: Pool, rng: np.random.Generator) -> Iterator[Seen]:
    """One study: agreement, differences, joined estimates, shares; one run."""
    work = draw_work(cell, rng)
    severity = cell.severity * rng.normal(size=cell.graders)
    one, twin = (draw_pool(cell, work, rng, severity=severity, model_taste=0.5) for _ in range(2))
    sides = rates_by_task(outcomes_of((one, twin), cell), ())
    yield "difference, the same graders", _difference(sides, "0", sides, "1"), 0.0
    elsewhere = [rates_by_task(outcomes_of([draw_pool(cell, work, rng)], cell, pool=pool), ()) for pool in "ab"]
    yield "comparison, two pools", _difference(elsewhere[0], "0", elsewhere[1], "0"), 0.0
    given = draw_pool(cell, work, rng)
    if given.grader.shape[1] > 1:
        yield from _agreements(cell, given)
    yield from _joined(cell, given, rng)
    guess = rng.integers(0, 2, given.halves.size) * 2 - 1
    rows = GuessRows(
        guess.astype(np.int8), guess > 0, given.grader.ravel(), np.repeat(given.task, given.grader.shape[1])
    )
    yield "blinding index", blinding_index(rows)["all"], 0.0
    lost = given.halves.ravel() == 0
    share = clustered_share(lost, rows.task, grader=rows.grader, what="share of a class")
    yield "share of a class", share, 1 - true_rates(cell)["win_or_tie"]


def _difference(one: object, model: str, other: object, against: str) -> Estimate:
    people = people_of(one, model, "half_tie"), people_of(other, against, "half_tie")  # type: ignore[arg-type]
    return paired_difference(one.of(model, "half_tie"), other.of(against, "half_tie"), people=people)  # type: ignore[attr-defined]


def _agreements(cell: Pool, given: Given) -> Iterator[Seen]:
    ratings, truth = ratings_of(given), true_agreement(cell)
    found = agreement(ratings)
    labels, unit = labels_of(ratings)
    yield "agreement of people", found.human_human, truth["people"]
    yield "agreement with a verdict", found.human_auto, truth["judge"]
    yield "agreement gap", within_points(ratings, d=0.05).gap, truth["people"] - truth["judge"]
    yield "Krippendorff's alpha", alpha_estimate(labels, unit=unit, metric="interval"), truth["alpha"]
    yield "Gwet's AC2", gwet_estimate(labels, unit=unit, metric="interval"), truth["AC2"]


def _joined(cell: Pool, given: Given, rng: np.random.Generator) -> Iterator[Seen]:
    """A verdict on every sample and one person's grade on four in ten tasks."""
    labelled = (rng.random(cell.tasks) < 0.4)[given.task]
    if len(np.unique(given.task[labelled])) < 6:
        return
    human = np.where(labelled, given.halves[:, 0] / 2.0, np.nan)
    rows = PpiRows(
        given.auto / 2.0,
        human,
        task=given.task,
        probability=np.full(len(human), 0.4),
        grader=np.where(labelled, given.grader[:, 0], -1),
    )
    yield "joined estimate", ppi_mean(rows).estimate, true_rates(cell)["half_tie"]


def flagged(cell: Pool, rng: np.random.Generator) -> bool:
    """Whether anything is said to differ from one half where nothing does."""
    null = Pool(
        cell.graders, cell.severity, cell.taste, cell.tasks, cell.samples, 0.5, cell.ties, cell.each, cell.large
    )
    found = breakdown(outcomes_of([draw_pool(null, draw_work(null, rng), rng)], null, groups=6), ["group"])
    return any(one.differs_from_half for one in found)
