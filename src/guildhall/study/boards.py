"""The board a manager sees at once, however large the study.

A small study is counted at every look. A large one is shown as it was last counted, with the time of that, and counted
again in the background when that is a while ago: a look never waits for it, except the very first.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import select

from guildhall.analysis.agreement import pair_agreement
from guildhall.analysis.counting import LOOKED_AT, Counted, count
from guildhall.analysis.missing import EndsWith, ends_with
from guildhall.domain.boards import Board, BoardCell, Flow, Progress, Running, RunningAgreement
from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import SlotKind
from guildhall.domain.policy import PROGRAMS
from guildhall.domain.studies import Study
from guildhall.grading.queue import Queue
from guildhall.reports.chapters.missing import STEPS, flow_of
from guildhall.store.boards import keep_board, kept_board
from guildhall.store.frames import shown_works
from guildhall.store.hall import slots
from guildhall.store.records import Store
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import opened_works
from guildhall.study.policy import policies_of


def count_board(workspace: Workspace, study: Study, *, now: float) -> Board:
    """The whole board by the models' own names; whoever shows it says by which names."""
    store = workspace.store
    shown = models_by_comparison(store, study)
    models = {name for names in shown.values() for name in names} | {author.name for author in study.authors}
    planned, people = planned_works(store, study), _people(workspace, study)
    return Board(
        study=study.id,
        counted_at=now,
        progress=Progress(**Queue(store).progress(study.id)),
        models=tuple(sorted(models)),
        cells=tuple(progress_cells(store, study, shown)),
        running=tuple(running_estimates(people, planned)),
        agreement=tuple(running_agreement(people, planned)),
        steps=tuple(STEPS.values()),
        flow=tuple(_flow(workspace, study, people)),
    )


def _flow(workspace: Workspace, study: Study, people: Mapping[str, Counted]) -> Iterator[Flow]:
    """From plan to figure, for the people who lead."""
    if leading := next(iter(people.values()), None):
        opened = opened_works(workspace, [study.id])
        yield from (Flow(model=name, works=tuple(row)) for name, *row in flow_of(leading, [study], opened))


def models_by_comparison(store: Store, study: Study) -> dict[str, frozenset[str]]:
    """Which models' work each comparison shows, the baseline's own aside."""
    works = shown_works(store, study.id)
    models = works.filter(pl.col("by_model") & (pl.col("name") != study.baseline))
    by_set = models.group_by("comparison").agg(pl.col("name").unique())
    shown = {comparison: frozenset(names) for comparison, names in by_set.iter_rows()}
    return {key: shown.get(key, frozenset()) for key in works["comparison"].unique()}


def _people(workspace: Workspace, study: Study) -> dict[str, Counted]:
    """What each group of people (or of simulated graders) judged, as the report will count it."""
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
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


def running_estimates(people: Mapping[str, Counted], planned: pl.DataFrame) -> list[Running]:
    """Each model's share of wins so far, ties counting half, between the least and the most it can end with.

    The ends hold at every look, in whatever order and by whomever the rest is judged: gradings that are not done are
    taken as all lost, and as all won. Nothing narrower is shown: where quick graders are kind, what is judged first
    does not tell of what comes later.
    """
    made = []
    for kind, counted in people.items():
        ends = ends_with(_parts(counted, planned))
        made += [
            Running(model=model, grader_kind=kind, estimate=_running(found, "half_tie: mean over tasks"))
            for model, found in ends.items()
            if found.now is not None
        ]
    return sorted(made, key=lambda one: (one.grader_kind, one.model))


def _parts(counted: Counted, planned: pl.DataFrame) -> pl.DataFrame:
    """What was said of each piece of work, with what is planned; what a rule decides is known."""
    pairs = counted.pairs
    named = pl.Series(pairs.submission.names, dtype=pl.String())
    at, size = pairs.submission.codes, len(pairs.submission.names)
    given = pl.DataFrame(
        {
            "submission": named,
            "given": pl.Series(np.bincount(at, minlength=size), dtype=pl.Int64()),
            "total": pl.Series(np.bincount(at, pairs.score, minlength=size), dtype=pl.Float64()),
        }
    )
    parts = planned.join(given, on="submission", how="left").with_columns(pl.col("given", "total").fill_null(0))
    parts = parts.select(group="name", task="task", total="total", given="given", planned="planned")
    if (ruled := counted.by_rule) is None or not len(ruled):
        return parts
    one = pl.lit(1, dtype=pl.Int64())
    decided = ruled.select(group="model", task="id", total=pl.col("halves") / 2, given=one, planned=one)
    return pl.concat([parts, decided], how="vertical_relaxed")


def running_agreement(people: Mapping[str, Counted], planned: pl.DataFrame) -> list[RunningAgreement]:
    """How far graders of a kind agree so far, between the least and the most it can end with.

    Estimand: the mean over tasks of the mean over submissions of 1 - |X - Y| over all pairs of graders.
    """
    made = []
    for kind, counted in people.items():
        pairs = counted.pairs
        counts = np.zeros((len(pairs.submission.names), 3), dtype=np.int64)
        np.add.at(counts, (pairs.submission.codes, pairs.halves), 1)
        times = counts.sum(axis=1)
        given = times * (times - 1) // 2
        agreed = np.nan_to_num(pair_agreement(counts)) * given
        known = pl.DataFrame({"submission": pl.Series(pairs.submission.names, dtype=pl.String())}).with_columns(
            given=pl.Series(given), total=pl.Series(agreed)
        )
        wanted = pl.col("planned") * (pl.col("planned") - 1) // 2
        parts = planned.join(known, on="submission", how="left").with_columns(pl.col("given", "total").fill_null(0))
        parts = parts.with_columns(planned=wanted).filter(pl.max_horizontal("given", "planned") > 0)
        found = ends_with(parts.with_columns(group=pl.lit(kind))).get(kind)
        if found is not None and found.n_given:
            made.append(RunningAgreement(grader_kind=kind, estimate=_running(found, "agreement: mean over tasks")))
    return made


def _running(found: EndsWith, what: str) -> Estimate:
    done = found.n_given >= found.n_planned
    return Estimate(
        value=found.now,
        interval=None if done else (found.least, found.most),
        level=1.0,
        estimand=f"{what}, as this study will end with it",
        method="bounds: what is not judged yet taken as the least and as the most",
        n_tasks=found.n_tasks,
        n_judgments=found.n_given,
        why_no_interval="every planned grading is done; the report has the final interval" if done else None,
    )


def planned_works(store: Store, study: Study) -> pl.DataFrame:
    """Each piece of models' work that people are to judge: `submission, task, name`, and how often (`planned`)."""
    slots_of = Counter(slot.comparison for slot in _planned(store, study))
    times = pl.DataFrame(list(slots_of.items()), schema={"comparison": pl.String, "planned": pl.Int64}, orient="row")
    works = shown_works(store, study.id).filter(pl.col("by_model") & (pl.col("name") != study.baseline))
    by_work = works.join(times, on="comparison").group_by("submission", "task", "name", maintain_order=True)
    return by_work.agg(pl.col("planned").sum())


def _planned(store: Store, study: Study) -> Sequence[Any]:
    columns = (slots.c.comparison, slots.c.task, slots.c.occupation, slots.c.holder, slots.c.done)
    wanted = select(*columns).where(slots.c.study == study.id, slots.c.kind == SlotKind.PLANNED)
    with store.reading() as connection:
        return connection.execute(wanted).all()


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
