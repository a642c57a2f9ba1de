"""Win rates by sector, occupation, file type or any other column, with what many cells ask for.

Each cell has its raw rate with its own interval, the interval of a band that holds for all cells at once (Sidak),
the rate pooled with the model's other cells, and whether it differs from one half at a stated false discovery rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace as replaced
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.clusters import cluster_variance, matched_df
from guildhall.analysis.intervals import Share, share_p_values
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.pooling import pool_shares
from guildhall.analysis.rated import CONVENTIONS, Group, Groups, Rated
from guildhall.analysis.tables import Coded, Codes, distinct
from guildhall.analysis.win_rates import WinRate, grader_design_effect, groups, rates_of
from guildhall.domain.estimates import Convention, Estimate
from guildhall.errors import UnknownName


class CellRate(NamedTuple):
    """One model in one cell under one convention: its own rate, the band's interval, and the pooled rate if any."""

    model: str
    levels: dict[str, str]
    wins: int
    ties: int
    losses: int
    rate: Estimate
    band: tuple[float, float] | None
    pooled: Estimate | None


class Cell(NamedTuple):
    """One model in one cell. `band` and `pooled` have an entry for each convention; `pooled` none for a lone cell."""

    model: str
    levels: dict[str, str]
    raw: WinRate
    band: dict[Convention, tuple[float, float] | None]
    pooled: dict[Convention, Estimate]
    differs_from_half: bool | None


def breakdown(
    outcomes: Outcomes, by: Sequence[str], *, level: float = 0.95, false_discovery_rate: float = 0.05
) -> list[Cell]:
    """Win rates of each model in each combination of the columns `by`; judgments with an empty cell are left out.

    Estimand and unit as for `win_rates`, within the cell. Two columns are read as inner within outer for pooling:
    `by=("sector", "occupation")`. `differs_from_half` (on half ties) is None where a cell has no interval.
    """
    cells = _Cells(outcomes, by)
    by_convention = {convention: cells.rates(convention, level=level) for convention in CONVENTIONS}
    halves = cells.together.rated("half_tie")
    found = _discoveries(share_p_values([_by_tasks(one) for one in halves], against=0.5), false_discovery_rate)
    return [
        Cell(
            model=one.model,
            levels=one.levels,
            raw=WinRate(
                one.model,
                one.wins,
                one.ties,
                one.losses,
                **{convention: rates[at].rate for convention, rates in by_convention.items()},
                design_effect=grader_design_effect(half.means, half.value, half.spread),
            ),
            band={convention: rates[at].band for convention, rates in by_convention.items()},
            pooled={
                convention: pooled
                for convention, rates in by_convention.items()
                if (pooled := rates[at].pooled) is not None
            },
            differs_from_half=differs,
        )
        for at, (one, half, differs) in enumerate(zip(by_convention["win"], halves, found, strict=True))
    ]


def cell_rates(outcomes: Outcomes, by: Sequence[str], convention: Convention, *, level: float = 0.95) -> list[CellRate]:
    """The same under one convention only, for breakdowns of many models."""
    return _Cells(outcomes, by).rates(convention, level=level)


class _Cells:
    """Judgments split by model and levels."""

    def __init__(self, outcomes: Outcomes, by: Sequence[str]) -> None:
        known = outcomes.groups or {}
        for name in by:
            if name not in known:
                raise UnknownName("column", name, known=list(known))
        outcomes = outcomes.keep(np.logical_and.reduce([known[name].codes >= 0 for name in by]))
        combined, self.keys = _combine(outcomes, by)
        celled = replaced(outcomes, model=combined, unknown=_unknown_cells(outcomes, by, self.keys))
        self.groups = groups(celled)
        self.together = Groups([group for _, group in self.groups])
        self.models = outcomes.model.names
        self.levels = {name: known[name].names for name in by}

    def rates(self, convention: Convention, *, level: float) -> list[CellRate]:
        every = self.together.rated(convention)
        raw = rates_of(every, convention, level=level)
        bands = rates_of(every, convention, level=level ** (1.0 / len(every)))
        pooled = _pooled(self.groups, self.keys, every, convention, level=level)
        made = []
        for (code, group), rate, band in zip(self.groups, raw, bands, strict=True):
            made.append(self._rate(code, group, rate, band.interval, pooled.get(code)))
        return made

    def _rate(
        self, code: int, group: Group, rate: Estimate, band: tuple[float, float] | None, pooled: Estimate | None
    ) -> CellRate:
        model, *levels = self.keys[code]
        losses, ties, wins = group.counts.sum(axis=0).tolist()
        named = {name: names[key] for (name, names), key in zip(self.levels.items(), levels, strict=True)}
        return CellRate(self.models[model], named, wins, ties, losses, rate, band, pooled)


def _combine(outcomes: Outcomes, by: Sequence[str]) -> tuple[Coded, list[tuple[int, ...]]]:
    """One code for (model, levels); and which codes stand behind each."""
    columns = [outcomes.model, *((outcomes.groups or {})[name] for name in by)]
    key = np.zeros(len(outcomes.halves), dtype=np.int64)
    for column in columns:
        key = key * len(column.names) + column.codes
    shape = [len(column.names) for column in columns]
    cells, codes = distinct(key, math.prod(shape))
    keys = list(zip(*(part.tolist() for part in np.unravel_index(cells, shape)), strict=True))
    return Coded(codes.astype(np.int32), tuple(map(str, range(len(cells))))), keys


def _unknown_cells(outcomes: Outcomes, by: Sequence[str], keys: list[tuple[int, ...]]) -> dict[str, Codes]:
    """The cells of the rows without a score; -1 where nothing else was judged in the cell."""
    rows = zip(
        *((outcomes.unknown or {}).get(name, np.array([], dtype=int)).tolist() for name in ("model", *by)), strict=True
    )
    place = {key: code for code, key in enumerate(keys)}
    return {"model": np.array([place.get(row, -1) for row in rows], dtype=np.int64)}


def _pooled(
    cells: list[tuple[int, Group]],
    keys: list[tuple[int, ...]],
    every: list[Rated],
    convention: Convention,
    *,
    level: float,
) -> dict[int, Estimate]:
    by_model: dict[int, list[int]] = {}
    for at, (code, _) in enumerate(cells):
        by_model.setdefault(keys[code][0], []).append(at)
    pooled: dict[int, Estimate] = {}
    for own in by_model.values():
        if len(own) < 2:
            continue
        codes = [cells[at][0] for at in own]
        outer = np.array([keys[code][1] for code in codes]) if len(keys[codes[0]]) > 2 else None
        mine = [every[at] for at in own]
        trials = np.array([len(one.means) for one in mine]) * _judgments_a_task(mine)
        made = pool_shares(np.array([one.value for one in mine]) * trials, trials, outer, level=level)
        for i, at in enumerate(own):
            pooled[codes[i]] = Estimate(
                value=float(made.shares[i]),
                interval=(float(made.low[i]), float(made.high[i])),
                estimand=f"{convention}, pooled: the cell's rate, leaning on the model's other cells",
                method=f"hierarchical logit; SD between cells {made.cell_sd:.2f}, between groups {made.group_sd:.2f}",
                level=level,
                unit="task",
                n_tasks=len(mine[i].means),
                n_samples=len(cells[at][1].task),
                n_judgments=len(cells[at][1].halves),
            )
    return pooled


def _judgments_a_task(cells: list[Rated]) -> float:
    """How many independent judgments a task is worth, from the spread of task means within cells: at least one."""
    possible = sum(len(one.means) * one.value * (1.0 - one.value) for one in cells)
    seen = sum(float(np.square(one.means - one.value).sum()) for one in cells)
    # Tasks that agree to the last digit leave a spread of rounding errors: that is none.
    return max(1.0, possible / seen) if seen > 1e-9 * possible else 1.0


def _by_tasks(one: Rated) -> Share:
    """A rate with what its tasks alone say of its variance."""
    errors = (one.means - one.value) / len(one.means)
    return Share(one.value, cluster_variance(errors), len(errors), len(one.group.halves), matched_df(errors))


def _discoveries(p_values: list[float | None], rate: float) -> list[bool | None]:
    """Benjamini and Hochberg (1995) over the cells that have a p-value."""
    known = np.array([p for p in p_values if p is not None])
    order = np.sort(known)
    below: NDArray[np.intp] = np.flatnonzero(order <= rate * np.arange(1, len(order) + 1) / max(1, len(order)))
    limit = float(order[below[-1]]) if len(below) else -1.0
    return [None if p is None else p <= limit for p in p_values]
