"""The board of a running study: how far each occupation and model has come, and intervals one may always look at."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from sqlalchemy import func, select

from guildhall.analysis.agreement import pair_agreement
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.rated import Groups
from guildhall.analysis.win_rates import groups
from guildhall.domain.boards import Board, Cell, Progress, Running, RunningAgreement
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import SeatState, SlotKind
from guildhall.domain.studies import Study
from guildhall.grading.queue import Queue
from guildhall.store.hall import seats, slots
from guildhall.store.records import Store
from guildhall.study.judged import judged_rows
from guildhall.study.rows import AUTOMATIC, Rows
from guildhall.study.works import read_sets

Shown = Mapping[str, str]
"""Model -> the name it goes by on the page."""


def count_board(store: Store, study: Study, *, now: float) -> Board:
    """The whole board by the models' own names; whoever shows it says by which names."""
    models = {name for shown in models_by_comparison(store, study).values() for name in shown}
    models |= {author.name for author in study.authors}
    own_names = {model: model for model in models}
    return Board(
        study=study.id,
        counted_at=now,
        progress=Progress(**Queue(store).progress(study.id)),
        models=tuple(sorted(models)),
        cells=tuple(progress_cells(store, study, own_names)),
        running=tuple(running_estimates(store, study, own_names)),
        agreement=tuple(running_agreement(store, study)),
    )


def models_by_comparison(store: Store, study: Study) -> dict[str, frozenset[str]]:
    """Which models' work each comparison shows."""
    sets, works = read_sets(store, study.id)
    shown: list[set[str]] = [set() for _ in sets.task]
    by_model = works.by_model[sets.works]
    for at, work in zip(sets.shown_by[by_model].tolist(), sets.works[by_model].tolist(), strict=True):
        shown[at].add(works.model.names[works.model.codes[work]])
    return {key: frozenset(shown[at]) for at, key in enumerate(sets.key)}


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
    return [
        Cell(occupation=occupation, model=model, planned=planned, held=held, done=done)
        for (occupation, model), (planned, held, done) in sorted(counts.items())
    ]


def running_estimates(store: Store, study: Study, shown: Shown) -> list[Running]:
    """Each model's share of wins, ties counting half, over completed tasks: valid however often one looks.

    A task is complete for a model when every planned grading of its work there is done. Tasks enter in the order in
    which they were completed; slots are offered in seeded random order. Tasks of the study are a fixed bank.
    """
    finished = _completed_at(store, study)
    bank = {model: sum(name == model for _, name in finished) for model in shown}
    made = []
    for kind in (rows := judged_rows(store, study.id).rows).kinds:
        if kind.startswith(AUTOMATIC):
            continue
        for model, mine in rows.of_kind(kind).by_model():
            means = _task_means(mine)
            done = {task: at for task in means if (at := finished.get((task, model))) is not None}
            if done:
                estimate = _running(means, done, bank[model])
                made.append(Running(model=shown[model], grader_kind=kind, estimate=estimate))
    return sorted(made, key=lambda one: (one.grader_kind, one.model))


def running_agreement(store: Store, study: Study) -> list[RunningAgreement]:
    """How far graders of a kind agree, over tasks in which nothing is missing: valid however often one looks.

    Estimand: the mean over tasks of the mean over submissions of 1 - |X - Y| over all pairs of graders.
    """
    finished = _completed_at(store, study)
    last: dict[str, float | None] = {}
    for (task, _), at in finished.items():
        before = last.get(task, 0.0)
        last[task] = None if at is None or before is None else max(at, before)
    made = []
    for kind in (rows := judged_rows(store, study.id).rows).kinds:
        if kind.startswith(AUTOMATIC):
            continue
        means = _agreement_by_task(rows.of_kind(kind))
        done = {task: at for task in means if (at := last.get(task)) is not None}
        if done:
            made.append(RunningAgreement(grader_kind=kind, estimate=_running(means, done, len(last))))
    return made


def _agreement_by_task(rows: Rows) -> dict[str, float]:
    """Each task's mean agreement over its submissions; a task that nobody judged twice is left out."""
    _, first, at = rows.deliverables
    counts = np.zeros((len(first), 3), dtype=np.int64)
    np.add.at(counts, (at, to_halves(rows.score)), 1)
    found: dict[str, list[float]] = defaultdict(list)
    for code, value in zip(rows.task.codes[first].tolist(), pair_agreement(counts).tolist(), strict=True):
        if not math.isnan(value):
            found[rows.task.names[code]].append(value)
    return {task: fmean(values) for task, values in found.items()}


def _running(means: Mapping[str, float], finished: Mapping[str, float], n_bank: int) -> Estimate:
    from guildhall.analysis.sequential import confidence_sequence

    order = sorted(finished, key=lambda task: (finished[task], task))
    return confidence_sequence(np.array([means[task] for task in order]), n_bank=n_bank).now


def _task_means(rows: Rows) -> dict[str, float]:
    """Each task's mean over samples of the mean over grades, for one model."""
    [(_, group)] = groups(rows.outcomes())
    names = [rows.task.names[code] for code in np.unique(group.task).tolist()]
    return dict(zip(names, Groups([group]).task_means("half_tie").tolist(), strict=True))


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
