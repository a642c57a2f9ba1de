"""The table of models, every breakdown of it, and what of both may be picked on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from guildhall.analysis.breakdown import CellRate, cell_rates, plain_rates
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import BREAKDOWNS, OF_TASKS, Pairs, words_in
from guildhall.analysis.ranks import Differences, differences
from guildhall.analysis.tables import Coded
from guildhall.domain.report import Bars, CellValue, Column, Figure, Forest, HeatMap, ReportTable, Section
from guildhall.reports.number_format import at_level

MOST_MODELS = 24
"""So many models, the best, are what one can read side by side in a figure; tables and files hold all."""
SMALLEST_BREAKDOWN = 2
"""A column with one value breaks nothing down."""
RATES = (
    Column(name="win", title="win", form="percent"),
    Column(name="win_or_tie", title="win or tie", form="percent"),
    Column(name="half_tie", title="half tie", form="percent"),
)
COUNTS = tuple(Column(name=name, title=name, form="count") for name in ("wins", "ties", "losses"))
MODEL = Column(name="model", title="model")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class Headline:
    """Each model's record against the baseline under the three conventions for ties, the best first."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section:
        policy = evidence.counted.policy
        by_name = {one.model: one for one in evidence.rates}
        rates = [by_name[model] for model in evidence.models]
        best, shown = rates[:MOST_MODELS], only_the_best(len(rates))
        table = ReportTable(
            name="headline",
            columns=(MODEL, *COUNTS, *RATES),
            rows=tuple(
                (one.model, one.wins, one.ties, one.losses, one.win, one.win_or_tie, one.half_tie) for one in rates
            ),
            words=(f"Rates are means over tasks; judged by {policy.graders} graders against the {policy.baseline}.",),
            traced=True,
            long_form="convention",
        )
        outcomes = Bars(
            title=f"Outcomes against the {policy.baseline}, by {policy.graders} graders",
            subtitle=shown,
            parts=("win", "tie", "loss"),
            rows=tuple((one.model, (one.wins, one.ties, one.losses)) for one in best),
        )
        forest = Forest(
            title=f"Win or tie, with {at_level(evidence.level)} intervals",
            subtitle=(f"mean over tasks, against the {policy.baseline}; dashed: one half", *shown),
            entries=tuple((one.model, one.win_or_tie) for one in best),
            form="percent",
            reference=0.5,
        )
        figures = (
            Figure(name="outcomes", says="Wins, ties and losses", plot=outcomes),
            Figure(name="win-or-tie", says="Win or tie rates with intervals", plot=forest),
        )
        words = (f"How often each model's work won, tied and lost against that of the {policy.baseline}.",)
        return Section(name="headline", title="Headline", words=words, figures=figures, tables=(table,))


def only_the_best(n_models: int) -> tuple[str, ...]:
    """What a figure says that shows some of the models only."""
    if n_models <= MOST_MODELS:
        return ()
    return (f"the best {MOST_MODELS} of {n_models} models; the tables hold all",)


class Breakdowns:
    """Rates by sector, occupation and all else that is known of tasks and authors."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        outcomes = evidence.counted.outcomes
        columns = {name: one for name, one in (outcomes.groups or {}).items() if _levels(one) >= SMALLEST_BREAKDOWN}
        if not columns:
            return None
        cells = {
            name: cell_rates(replace(outcomes, groups={name: column}), [name], "win_or_tie", level=evidence.level)
            for name, column in columns.items()
        }
        return breakdowns_section(cells, evidence.models)


def breakdowns_section(cells: Mapping[str, Sequence[CellRate]], best_first: Sequence[str]) -> Section:
    """A heat map and a table for each column; models stand as in the headline."""
    place = {model: at for at, model in enumerate(best_first)}
    words = (
        "Each cell's own rate has its own interval; the band holds for all cells of a table at once; the pooled rate "
        "leans on the model's other cells."
    )
    return Section(
        name="breakdowns",
        title="Breakdowns",
        words=(words,),
        figures=tuple(_heat_map(name, own, place) for name, own in cells.items()),
        tables=tuple(_table(name, own, place) for name, own in cells.items()),
    )


def _levels(column: Coded) -> int:
    """How many words really stand in a column."""
    return int(np.count_nonzero(np.bincount(column.codes[column.codes >= 0])))


def _table(name: str, cells: Sequence[CellRate], place: dict[str, int]) -> ReportTable:
    band = tuple(
        Column(name=f"band_{end}", title=f"band over all cells, {end}", form="percent") for end in ("low", "high")
    )
    return ReportTable(
        name=f"by-{name.replace('_', '-')}",
        title=BREAKDOWNS[name],
        columns=(
            Column(name=name, title=name.replace("_", " ")),
            MODEL,
            *COUNTS,
            *band,
            Column(name="pooled", title="pooled", form="percent"),
            RATES[1],
        ),
        rows=tuple(
            _row(name, one) for one in sorted(cells, key=lambda one: (level_order(one.levels[name]), place[one.model]))
        ),
        traced=True,
        folded=True,
        long_form="convention",
    )


def _row(name: str, one: CellRate) -> tuple[CellValue, ...]:
    return (
        one.levels[name],
        one.model,
        one.wins,
        one.ties,
        one.losses,
        *(one.band or (None, None)),
        one.pooled,
        one.rate,
    )


def _heat_map(name: str, cells: Sequence[CellRate], place: dict[str, int]) -> Figure:
    best = {model for model, at in place.items() if at < MOST_MODELS}
    shown = [one for one in cells if one.model in best]
    plot = HeatMap(
        title=BREAKDOWNS[name],
        subtitle=(
            "win or tie, in per cent; without colour: too few tasks for an interval",
            *only_the_best(len(place)),
        ),
        rows=tuple(sorted({one.levels[name] for one in shown}, key=level_order)),
        columns=tuple(sorted({one.model for one in shown}, key=place.__getitem__)),
        cells=tuple(
            (
                one.levels[name],
                one.model,
                one.rate.value if one.rate.interval else None,
                f"{100 * (one.rate.value or 0):.0f}",
            )
            for one in shown
        ),
    )
    return Figure(name=f"by-{name.replace('_', '-')}", says=BREAKDOWNS[name], plot=plot)


def level_order(level: str) -> tuple[int, str]:
    """Efforts from low to high; everything else by name."""
    return (EFFORTS.index(level) if level in EFFORTS else 0, level)


MOST_IN_PAIRS = 12
MOST_WORKS = 5_000
"""So many pairs of a model and a task a page carries, whatever the number of judgments."""
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
    """What a reader may pick on the page: each model and each two models in each level, and each model on each task.

    The page sorts, picks and shows these; it computes none. All of it lies outside the plan, so its intervals hold for
    all cells of a table at once. Where models are many their pairs are more than a page carries: nothing is made then.
    """
    if len(evidence.models) > MOST_IN_PAIRS:
        return ()
    tables = [*_cells(evidence)]
    if pairs := tuple(_pairs(evidence)):
        tables.append(ReportTable(name="pairs", title="Models compared in pairs", columns=_TOLD, rows=pairs))
    works = _works(evidence.pairs, evidence.models)
    return (*tables, works) if len(works.rows) <= MOST_WORKS else tuple(tables)


def _broken_down(evidence: Evidence) -> Iterator[tuple[str, list[str]]]:
    for name, column in (evidence.counted.outcomes.groups or {}).items():
        if len(levels := words_in(column)) >= SMALLEST_BREAKDOWN:
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
