"""The board of a running study: how far each occupation and model has come, and intervals one may always look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import func, select

from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import SeatState, SlotKind
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.store.hall import seats, slots
from guildhall.store.records import Store
from guildhall.study.judged import AUTOMATIC, Row, judged_rows

Shown = Mapping[str, str]
"""Model -> the name it goes by on the page."""


@dataclass(frozen=True)
class Cell:
    """Planned gradings of one model's work in one occupation. In sets of several models a grading counts for each."""

    occupation: str
    model: str
    planned: int
    held: int
    done: int


@dataclass(frozen=True)
class Running:
    """One model as it stands while the study runs, by one kind of grader."""

    model: str
    grader_kind: str
    estimate: Estimate


def models_by_comparison(store: Store, study: Study) -> dict[str, frozenset[str]]:
    """Which models' work each comparison shows."""
    made: dict[str, frozenset[str]] = {}
    for comparison in store.find(Comparison, study=study.id):
        authors = [store.get(Submission, key).author for key in comparison.submissions]
        made[comparison.key] = frozenset(author.name for author in authors if isinstance(author, ModelRun))
    return made


def progress_cells(store: Store, study: Study, shown: Shown) -> list[Cell]:
    """Planned, held and finished gradings by occupation and model."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    models = models_by_comparison(store, study)
    for slot in _planned(store, study):
        for model in models[slot.comparison]:
            cell = counts[slot.occupation, shown[model]]
            cell[0] += 1
            cell[1] += slot.holder is not None and not slot.done
            cell[2] += slot.done
    return [Cell(occupation, model, *counts[occupation, model]) for occupation, model in sorted(counts)]


def running_estimates(store: Store, study: Study, shown: Shown) -> list[Running]:
    """Each model's share of wins, ties counting half, over completed tasks: valid however often one looks.

    A task is complete for a model when every planned grading of its work there is done. Tasks enter in the order in
    which they were completed; slots are offered in seeded random order. Tasks of the study are a fixed bank.
    """
    finished = _completed_at(store, study)
    bank = {model: sum(name == model for _, name in finished) for model in shown}
    by_group: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in judged_rows(store, study.id).rows:
        if not row.grader_kind.startswith(AUTOMATIC) and finished.get((row.task, row.model)) is not None:
            by_group[row.model, row.grader_kind][row.task].append(row)
    made = [
        Running(shown[model], kind, _running(tasks, {task: finished[task, model] for task in tasks}, bank[model]))
        for (model, kind), tasks in by_group.items()
    ]
    return sorted(made, key=lambda one: (one.grader_kind, one.model))


def _running(tasks: Mapping[str, list[Row]], finished: Mapping[str, float | None], n_bank: int) -> Estimate:
    from guildhall.analysis.sequential import confidence_sequence

    order = sorted(tasks, key=lambda task: (finished[task] or 0.0, task))
    return confidence_sequence(np.array([_mean(tasks[task]) for task in order]), n_bank=n_bank).now.to_estimate()


def _mean(rows: list[Row]) -> float:
    """Mean over samples of the mean over grades."""
    samples: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        samples[row.sample].append(row.score)
    return float(np.mean([np.mean(scores) for scores in samples.values()]))


def _planned(store: Store, study: Study) -> Sequence[Any]:
    columns = (slots.c.comparison, slots.c.task, slots.c.occupation, slots.c.holder, slots.c.done)
    wanted = select(*columns).where(slots.c.study == study.id, slots.c.kind == SlotKind.PLANNED)
    with store.reading() as connection:
        return connection.execute(wanted).all()


def _completed_at(store: Store, study: Study) -> dict[tuple[str, str], float | None]:
    """(Task, model) -> when its last planned grading was done; None while one is missing."""
    last = select(seats.c.comparison, func.max(seats.c.ended_at).label("at")).where(
        seats.c.study == study.id, seats.c.state == SeatState.SUBMITTED
    )
    with store.reading() as connection:
        ended = {row.comparison: row.at for row in connection.execute(last.group_by(seats.c.comparison))}
    models = models_by_comparison(store, study)
    found: dict[tuple[str, str], float | None] = {}
    for slot in _planned(store, study):
        for model in models[slot.comparison]:
            before = found.get((slot.task, model), 0.0)
            at = ended.get(slot.comparison) if slot.done else None
            found[slot.task, model] = None if before is None or at is None else max(before, at)
    return found
