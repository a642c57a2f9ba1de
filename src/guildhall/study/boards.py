"""The board a manager sees at once, however large the study.

A small study is counted at every look. A large one is shown as it was last counted, with the time of that, and counted
again in the background when that is a while ago: a look never waits for it, except the very first.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import func, select

from guildhall.analysis.agreement import pair_agreement
from guildhall.analysis.counting import LOOKED_AT, Counted, count
from guildhall.analysis.pairs import Pairs
from guildhall.analysis.rated import Groups
from guildhall.domain.boards import Board, BoardCell, Progress, Running, RunningAgreement
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import SeatState, SlotKind
from guildhall.domain.studies import Study
from guildhall.grading.queue import Queue
from guildhall.store.boards import keep_board, kept_board
from guildhall.store.frames import shown_works
from guildhall.store.hall import seats, slots
from guildhall.store.records import Store
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.policy import PROGRAMS, policies_of


def count_board(workspace: Workspace, study: Study, *, now: float) -> Board:
    """The whole board by the models' own names; whoever shows it says by which names."""
    store = workspace.store
    shown = models_by_comparison(store, study)
    models = {name for names in shown.values() for name in names} | {author.name for author in study.authors}
    finished, people = _completed_at(store, study, shown), _people(workspace, study)
    return Board(
        study=study.id,
        counted_at=now,
        progress=Progress(**Queue(store).progress(study.id)),
        models=tuple(sorted(models)),
        cells=tuple(progress_cells(store, study, shown)),
        running=tuple(running_estimates(people, finished, models)),
        agreement=tuple(running_agreement(people, finished)),
    )


def models_by_comparison(store: Store, study: Study) -> dict[str, frozenset[str]]:
    """Which models' work each comparison shows, the baseline's own aside."""
    works = shown_works(store, study.id)
    models = works.filter(pl.col("by_model") & (pl.col("name") != study.baseline))
    by_set = models.group_by("comparison").agg(pl.col("name").unique())
    shown = {comparison: frozenset(names) for comparison, names in by_set.iter_rows()}
    return {key: shown.get(key, frozenset()) for key in works["comparison"].unique()}


def _people(workspace: Workspace, study: Study) -> dict[str, Counted]:
    """What each group of people (or of simulated graders) judged, as the report will count it."""
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    return {
        str(group): count(verdicts, policy)
        for group, policy in policies_of(workspace, study, verdicts).items()
        if group.kind not in PROGRAMS
    }


def progress_cells(store: Store, study: Study, models: Mapping[str, frozenset[str]]) -> list[BoardCell]:
    """Planned, held and finished gradings by occupation and model."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for slot in _planned(store, study):
        for model in models[slot.comparison]:
            cell = counts[slot.occupation, model]
            cell[0] += 1
            cell[1] += slot.holder is not None and not slot.done
            cell[2] += slot.done
    return [
        BoardCell(occupation=occupation, model=model, planned=planned, held=held, done=done)
        for (occupation, model), (planned, held, done) in sorted(counts.items())
    ]


def running_estimates(
    people: Mapping[str, Counted], finished: Mapping[tuple[str, str], float | None], models: Iterable[str]
) -> list[Running]:
    """Each model's share of wins, ties counting half, over completed tasks: valid however often one looks.

    A task is complete for a model when every planned grading of its work there is done. Tasks enter in the order in
    which they were completed; slots are offered in seeded random order. Tasks of the study are a fixed bank.
    """
    bank = {model: sum(name == model for _, name in finished) for model in models}
    made = []
    for kind, counted in people.items():
        for model, places in counted.pairs.by_model():
            mine = counted.pairs.keep(places)
            means = _task_means(mine)
            done = {task: at for task in means if (at := finished.get((task, model))) is not None}
            if done:
                estimate = _running(means, done, bank[model])
                made.append(Running(model=model, grader_kind=kind, estimate=estimate))
    return sorted(made, key=lambda one: (one.grader_kind, one.model))


def running_agreement(
    people: Mapping[str, Counted], finished: Mapping[tuple[str, str], float | None]
) -> list[RunningAgreement]:
    """How far graders of a kind agree, over tasks in which nothing is missing: valid however often one looks.

    Estimand: the mean over tasks of the mean over submissions of 1 - |X - Y| over all pairs of graders.
    """
    last: dict[str, float | None] = {}
    for (task, _), at in finished.items():
        before = last.get(task, 0.0)
        last[task] = None if at is None or before is None else max(at, before)
    made = []
    for kind, counted in people.items():
        means = _agreement_by_task(counted.pairs)
        done = {task: at for task in means if (at := last.get(task)) is not None}
        if done:
            made.append(RunningAgreement(grader_kind=kind, estimate=_running(means, done, len(last))))
    return made


def _agreement_by_task(rows: Pairs) -> dict[str, float]:
    """Each task's mean agreement over its submissions; a task that nobody judged twice is left out."""
    _, first, at = rows.deliverables
    counts = np.zeros((len(first), 3), dtype=np.int64)
    np.add.at(counts, (at, rows.halves), 1)
    found: dict[str, list[float]] = defaultdict(list)
    for code, value in zip(rows.task.codes[first].tolist(), pair_agreement(counts).tolist(), strict=True):
        if not math.isnan(value):
            found[rows.task.names[code]].append(value)
    return {task: fmean(values) for task, values in found.items()}


def _running(means: Mapping[str, float], finished: Mapping[str, float], n_bank: int) -> Estimate:
    from guildhall.analysis.sequential import confidence_sequence

    order = sorted(finished, key=lambda task: (finished[task], task))
    return confidence_sequence(np.array([means[task] for task in order]), n_bank=n_bank).now


def _task_means(rows: Pairs) -> dict[str, float]:
    """Each task's mean over samples of the mean over grades, for one model."""
    groups = Groups(rows.outcomes)
    names = [rows.task.names[code] for code in groups.names_of_tasks.tolist()]
    return dict(zip(names, groups.task_means("half_tie").tolist(), strict=True))


def _planned(store: Store, study: Study) -> Sequence[Any]:
    columns = (slots.c.comparison, slots.c.task, slots.c.occupation, slots.c.holder, slots.c.done)
    wanted = select(*columns).where(slots.c.study == study.id, slots.c.kind == SlotKind.PLANNED)
    with store.reading() as connection:
        return connection.execute(wanted).all()


def _completed_at(
    store: Store, study: Study, models: Mapping[str, frozenset[str]]
) -> dict[tuple[str, str], float | None]:
    """(Task, model) -> when its last planned grading was done; None while one is missing."""
    last = select(seats.c.comparison, func.max(seats.c.ended_at).label("at")).where(
        seats.c.study == study.id, seats.c.state == SeatState.SUBMITTED
    )
    with store.reading() as connection:
        ended = {row.comparison: row.at for row in connection.execute(last.group_by(seats.c.comparison))}
    found: dict[tuple[str, str], float | None] = {}
    for slot in _planned(store, study):
        for model in models[slot.comparison]:
            before = found.get((slot.task, model), 0.0)
            at = ended.get(slot.comparison) if slot.done else None
            found[slot.task, model] = None if before is None or at is None else max(before, at)
    return found


LARGE = 5_000
"""From so many planned gradings on (counted for each model they show) a board is kept."""
REST_S = 10.0
SHARE = 10.0
"""A board is counted again after ten seconds at the earliest, and takes at most a tenth of a processor's time."""


class Boards:
    """Boards of one workspace, for one server."""

    def __init__(self, workspace: Workspace, *, clock: Callable[[], float]) -> None:
        self._workspace, self._store, self._clock = workspace, workspace.store, clock
        self._counting: set[str] = set()
        self._lock = threading.Lock()

    def of(self, study: Study) -> Board:
        kept = kept_board(self._store, study.id)
        if kept is None:
            return self._count(study)
        board, took_s = kept
        if self._clock() - board.counted_at > max(REST_S, SHARE * took_s):
            self._count_later(study)
        return board

    def _count(self, study: Study) -> Board:
        begun = time.monotonic()
        board = count_board(self._workspace, study, now=self._clock())
        if board.gradings >= LARGE:
            keep_board(self._store, board, took_s=time.monotonic() - begun)
        return board

    def _count_later(self, study: Study) -> None:
        with self._lock:
            if study.id in self._counting:
                return
            self._counting.add(study.id)
        threading.Thread(target=self._count_and_tell, args=(study,), name=f"board of {study.id}", daemon=True).start()

    def _count_and_tell(self, study: Study) -> None:
        try:
            self._count(study)
        finally:
            with self._lock:
                self._counting.discard(study.id)
