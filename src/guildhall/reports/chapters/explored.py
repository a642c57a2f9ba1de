"""What a reader may pick on the page: each model and each two models in each level of each breakdown, as tables.

The page sorts, picks and shows these; it computes none. All of it lies outside the plan, so its intervals hold for
all cells of a table at once. Where models are many their pairs are more than a page can carry: nothing is made then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from guildhall.analysis.breakdown import plain_rates
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.pairs import OF_TASKS, Pairs, words_in
from guildhall.analysis.ranks import Differences, differences
from guildhall.domain.report import CellValue, Column, ReportTable
from guildhall.reports.chapters.headline import COUNTS, MODEL, RATES, level_order

MOST_MODELS = 12
MOST_WORKS = 5_000
"""So many pairs of a model and a task a page carries, whatever the number of judgments."""
FEWEST_LEVELS = 2
ALL = "all tasks"
_TOLD = (
    Column(name="breakdown", title="breakdown"),
    Column(name="level", title="level"),
    MODEL,
    Column(name="other", title="other"),
    Column(name="told", title="the first is", form="text"),
    Column(name="difference", title="half tie, the first less the second", form="points"),
)


def explored(evidence: Evidence) -> tuple[ReportTable, ...]:
    """Cells by breakdown, pairs of models, and each model's record on each task; nothing where models are many."""
    if len(evidence.models) > MOST_MODELS:
        return ()
    tables = [*_cells(evidence)]
    if pairs := tuple(_pairs(evidence)):
        tables.append(ReportTable(name="pairs", title="Models compared in pairs", columns=_TOLD, rows=pairs))
    works = _works(evidence.pairs, evidence.models)
    return (*tables, works) if len(works.rows) <= MOST_WORKS else tuple(tables)


def _broken_down(evidence: Evidence) -> Iterator[tuple[str, list[str]]]:
    for name, column in (evidence.counted.outcomes.groups or {}).items():
        if len(levels := words_in(column)) >= FEWEST_LEVELS:
            yield name, sorted(levels, key=level_order)


def _cells(evidence: Evidence) -> Iterator[ReportTable]:
    place = {model: at for at, model in enumerate(evidence.models)}
    for name, _ in _broken_down(evidence):
        found = plain_rates(evidence.counted.outcomes, [name], "half_tie", level=evidence.level)
        found.sort(key=lambda one: (level_order(one.levels[name]), place[one.model]))
        yield ReportTable(
            name=f"cells-by-{name.replace('_', '-')}",
            title=name.replace("_", " "),
            columns=(Column(name=name, title=name.replace("_", " ")), MODEL, *COUNTS, RATES[2]),
            rows=tuple((one.levels[name], one.model, one.wins, one.ties, one.losses, one.rate) for one in found),
            traced=True,
        )


def _pairs(evidence: Evidence) -> Iterator[tuple[CellValue, ...]]:
    outcomes, level, margin = evidence.counted.outcomes, evidence.level, evidence.study.plan.margin
    if len(evidence.models) > 1:
        yield from _of_level(
            ALL, ALL, differences(outcomes, level=level, seed=evidence.seed), evidence.models, margin=margin
        )
    for name, levels in _broken_down(evidence):
        column = (outcomes.groups or {})[name]
        for word in levels:
            some = outcomes.keep(column.codes == column.names.index(word))
            if len(np.unique(some.model.codes)) > 1:
                found = differences(some, level=level ** (1 / len(levels)), drawn=False)
                held = f"; in all {len(levels)} levels"
                yield from _of_level(name, word, found, evidence.models, margin=margin, held=held, level=level)


def _of_level(
    name: str,
    word: str,
    found: Differences,
    models: Sequence[str],
    *,
    margin: float,
    held: str = "",
    level: float | None = None,
) -> Iterator[tuple[CellValue, ...]]:
    here = [model for model in models if model in found.models]
    for at, one in enumerate(here):
        for other in here[at + 1 :]:
            apart = found.between(one, other)
            told = replace(apart, level=level or apart.level, method=apart.method + held * (apart.method != "none"))
            yield name, word, one, other, found.told(one, other, margin=margin), told


def _works(pairs: Pairs, models: Sequence[str]) -> ReportTable:
    """How each model's work on each task did, with what breakdowns say of the task."""
    said = {"task": pairs.task, "model": pairs.model, **{name: pairs.columns[name] for name in OF_TASKS}}
    words = {name: pl.Series([*one.names, None]).cast(pl.String).gather(one.codes) for name, one in said.items()}
    halves = pl.col("halves")
    counted = (
        pl.DataFrame({**words, "halves": pairs.halves})
        .group_by("model", "task")
        .agg(*(pl.col(name).first() for name in OF_TASKS), *((halves == at).sum().alias(f"n{at}") for at in (2, 1, 0)))
    )
    place = {model: at for at, model in enumerate(models)}
    rows = sorted(counted.iter_rows(), key=lambda row: (place[row[0]], row[1]))
    facts = (Column(name=name, title=name.replace("_", " ")) for name in ("task", *OF_TASKS))
    return ReportTable(
        name="by-task", title="Each model on each task", columns=(MODEL, *facts, *COUNTS), rows=tuple(rows), traced=True
    )
