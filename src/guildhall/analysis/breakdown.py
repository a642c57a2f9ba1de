"""Win rates by sector, occupation, file type or any other column, with what many cells ask for.

Each cell has its raw rate with its own interval, the interval of a band that holds for all cells at once (Sidak),
the rate pooled with the model's other cells, and whether it differs from one half at a stated false discovery rate.

Cells of a breakdown pooled towards each other: a hierarchical logit, cells within outer groups. A cell of five tasks
says little by itself. Its logit is modelled as a common mean, plus a group's effect, plus its own, both normal. How
much groups and cells differ is not known either, so the result is averaged over a grid of spreads, each weighed by
how well it explains the data (Laplace's approximation). Pooled figures lean on the other cells and are labelled so;
they stand beside the raw ones and never replace them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace as replaced
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.intervals import share_p_values
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import CONVENTIONS, Groups, Rated
from guildhall.analysis.tables import Coded, Codes, Floats, distinct
from guildhall.analysis.win_rates import WinRate, rates_of
from guildhall.domain.estimates import Convention, Estimate
from guildhall.errors import UnknownName

SPREADS = tuple(float(sd) for sd in np.linspace(0.05, 2.5, 11))
"""Standard deviations, in logits, that the average runs over. Beforehand all variances are taken as equally likely,
which keeps the pooled intervals honest where the cells happen to look alike."""


class Pooled(NamedTuple):
    """Pooled shares of the cells with their intervals, and each family's mean spreads (SD in logits)."""

    shares: Floats
    low: Floats
    high: Floats
    group_sd: Floats
    cell_sd: Floats


def pool_shares(
    successes: Floats, trials: Floats, group: Codes | None = None, *, family: Codes | None = None, level: float = 0.95
) -> Pooled:
    """Pool cells with (effective, fractional) `successes` of `trials`; `group` names each cell's outer group.

    Estimand: each cell's own share. The intervals hold `level` of the cells' shares on average, not in each cell.
    Cells of one `family` lean on each other and on no others; a cell alone in its family leans on nothing.
    """
    n = len(trials)
    if n < 2:
        raise ValueError("pooling needs at least two cells")
    family = np.zeros(n, dtype=np.int64) if family is None else family
    inner = [family] if group is None else [group, family]
    order = np.lexsort(inner)
    layers, names = [], np.column_stack(inner)[order]
    while names.shape[1]:
        layers.append(_Layer(names))
        names = names[layers[-1].begins][:, 1:]
    spreads = np.array(list(product(*[SPREADS] * len(layers))))  # of cells first, then of groups
    found = _posteriors(layers, successes[order], trials[order], spreads)
    # Equal steps of the SD are unequal steps of the variance: hence the factor of each SD.
    logs = found.log_evidence + np.log(spreads).sum(axis=1)[:, None]
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    of_cell = weights[:, layers[0].family]
    centre = (of_cell * found.centre).sum(axis=0)
    second = (of_cell * (found.variance + np.square(found.centre))).sum(axis=0)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(second - np.square(centre))
    back = np.argsort(order)
    shares, low, high = (_share(ends)[back] for ends in (centre, centre - reach, centre + reach))
    cell_sd, *group_sd = spreads.T @ weights
    return Pooled(shares, low, high, group_sd[0] if group_sd else np.zeros_like(cell_sd), cell_sd)


class _Layer:
    """Effects that stand one beside the other: which unit of the layer above, and which family, each is in."""

    def __init__(self, names: Codes) -> None:
        self.begins, self.unit = _runs((names[1:] != names[:-1]).any(axis=1))
        self.bounds, self.family = _runs(names[1:, -1] != names[:-1, -1])


def _runs(changes: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    new = np.concatenate(([True], changes))
    return np.flatnonzero(new), np.cumsum(new) - 1


class _Posteriors(NamedTuple):
    """One row for each set of spreads; evidence by family, the others by cell."""

    log_evidence: Floats
    centre: Floats
    variance: Floats


def _posteriors(layers: Sequence[_Layer], successes: Floats, trials: Floats, spreads: Floats) -> _Posteriors:
    """The cells' logits given each set of spreads: mode, variance there, and the log evidence for these spreads.

    A cell's logit is its family's mean, plus its group's effect, plus its own. Effects are nested, so each layer is
    solved for given the one above it, and no matrix is needed.
    """
    cells, precisions = layers[0], [1.0 / np.square(own)[:, None] for own in spreads.T]
    won, judged = (np.add.reduceat(one, cells.bounds) for one in (successes, trials))
    mean = np.tile(np.log((won + 0.5) / (judged - won + 0.5)), (len(spreads), 1))
    effects = [np.zeros((len(spreads), len(layer.unit))) for layer in layers]
    for _ in range(50):
        share = _share(_logits(layers, mean, effects))
        pull, weight = successes - trials * share, np.maximum(trials * share * (1.0 - share), 1e-9)
        solved = []
        for layer, effect, precision in zip(layers, effects, precisions, strict=True):
            solved.append((pull - precision * effect, weight, weight + precision))
            own, held, total = solved[-1]
            pull = np.add.reduceat(pull - held * own / total, layer.begins, axis=1)
            weight = np.add.reduceat(held * precision / total, layer.begins, axis=1)
        above = step = pull / weight
        longest, steps = np.abs(step), list[Floats]()
        for layer, (own, held, total) in reversed(list(zip(layers, solved, strict=True))):
            above = above[:, layer.unit]
            steps.insert(0, (own - held * above) / total)
            above = above + steps[0]
            longest = np.maximum(longest, np.maximum.reduceat(np.abs(steps[0]), layer.bounds, axis=1))
        short = np.minimum(1.0, 2.0 / np.maximum(1e-12, longest))
        mean = mean + short * step
        effects = [at + short[:, one.family] * own for at, one, own in zip(effects, layers, steps, strict=True)]
        if longest.max() < 1e-6:
            break
    logits = _logits(layers, mean, effects)
    likelihood = np.add.reduceat(successes * logits - trials * np.logaddexp(0.0, logits), cells.bounds, axis=1)
    evidence, variance = likelihood - 0.5 * np.log(weight), 1.0 / weight
    for layer, effect, precision, (_, _, total) in reversed(
        list(zip(layers, effects, precisions, solved, strict=True))
    ):
        own = np.log(precision / total) - precision * np.square(effect)
        evidence = evidence + 0.5 * np.add.reduceat(own, layer.bounds, axis=1)
        variance = np.square(precision / total) * variance[:, layer.unit] + 1.0 / total
    return _Posteriors(evidence, logits, variance)


def _logits(layers: Sequence[_Layer], mean: Floats, effects: Sequence[Floats]) -> Floats:
    for layer, effect in zip(reversed(layers), reversed(effects), strict=True):
        mean = mean[:, layer.unit] + effect
    return mean


def _share(logits: Floats) -> Floats:
    shares: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
    return shares


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
    halves = cells.rated("half_tie")
    found = _discoveries(share_p_values(halves.shares(), against=0.5), false_discovery_rate)
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
            ),
            band={convention: rates[at].band for convention, rates in by_convention.items()},
            pooled={
                convention: pooled
                for convention, rates in by_convention.items()
                if (pooled := rates[at].pooled) is not None
            },
            differs_from_half=differs,
        )
        for at, (one, differs) in enumerate(zip(by_convention["win"], found, strict=True))
    ]


def cell_rates(outcomes: Outcomes, by: Sequence[str], convention: Convention, *, level: float = 0.95) -> list[CellRate]:
    """The same under one convention only, for breakdowns of many models."""
    return _Cells(outcomes, by).rates(convention, level=level)


def plain_rates(
    outcomes: Outcomes, by: Sequence[str], convention: Convention, *, level: float = 0.95
) -> list[CellRate]:
    """Each cell's own rate alone, with the interval that holds for all cells at once."""
    cells = _Cells(outcomes, by)
    n = len(cells.keys)
    held = f"; all {n} cells at once (Sidak)"
    rates = [
        replaced(one, level=level, method=one.method + held * (one.interval is not None))
        for one in rates_of(cells.rated(convention), level=level ** (1.0 / n))
    ]
    rows = zip(cells.keys, cells.groups.totals.tolist(), rates, strict=True)
    return [cells.rate(key, counts, rate, rate.interval, None) for key, counts, rate in rows]


class _Cells:
    """Judgments split by model and levels."""

    def __init__(self, outcomes: Outcomes, by: Sequence[str]) -> None:
        known = outcomes.groups or {}
        for name in by:
            if name not in known:
                raise UnknownName("column", name, known=list(known))
        outcomes = outcomes.keep(np.logical_and.reduce([known[name].codes >= 0 for name in by]))
        combined, self.keys = _combine(outcomes, by)
        self.groups = Groups(replaced(outcomes, model=combined, unknown=_unknown_cells(outcomes, by, self.keys)))
        self.models = outcomes.model.names
        self.levels = {name: known[name].names for name in by}

    def rated(self, convention: Convention) -> Rated:
        """Cells of few tasks take what graders add from the model's cells together."""
        return Rated(self.groups, convention, borrow=np.unique([key[0] for key in self.keys], return_inverse=True)[1])

    def rates(self, convention: Convention, *, level: float) -> list[CellRate]:
        rated = self.rated(convention)
        raw = rates_of(rated, level=level)
        bands = rates_of(rated, level=level ** (1.0 / len(raw)))
        pooled = _pooled(self.keys, rated, level=level)
        rows = zip(self.keys, self.groups.totals.tolist(), raw, bands, pooled, strict=True)
        return [self.rate(key, counts, rate, band.interval, lent) for key, counts, rate, band, lent in rows]

    def rate(
        self,
        key: tuple[int, ...],
        counts: list[int],
        rate: Estimate,
        band: tuple[float, float] | None,
        pooled: Estimate | None,
    ) -> CellRate:
        (model, *levels), (losses, ties, wins) = key, counts
        named = {name: names[code] for (name, names), code in zip(self.levels.items(), levels, strict=True)}
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


def _pooled(keys: list[tuple[int, ...]], rated: Rated, *, level: float) -> list[Estimate | None]:
    """Each cell's rate drawn towards the model's other cells; None for a lone cell."""
    _, of, n_cells = np.unique([key[0] for key in keys], return_inverse=True, return_counts=True)
    groups, lone = rated.groups, n_cells[of] < 2
    trials = groups.n_tasks * _judgments_a_task(rated, of)[of]
    outer = np.array([key[1] for key in keys]) if len(keys[0]) > 2 else None
    made = pool_shares(rated.values * trials, trials, outer, family=of, level=level)
    counted = (made.shares, made.low, made.high, groups.n_tasks, groups.n_samples, groups.totals.sum(axis=1))
    methods = [
        f"hierarchical logit; SD between cells {cells:.2f}, between groups {between:.2f}"
        for cells, between in zip(made.cell_sd.tolist(), made.group_sd.tolist(), strict=True)
    ]
    return [
        None
        if is_lone
        else Estimate(
            value=value,
            interval=(low, high),
            estimand=f"{rated.convention}, pooled: the cell's rate, leaning on the model's other cells",
            method=methods[family],
            level=level,
            unit="task",
            n_tasks=n_tasks,
            n_samples=n_samples,
            n_judgments=n_judgments,
        )
        for is_lone, family, (value, low, high, n_tasks, n_samples, n_judgments) in zip(
            lone.tolist(), of.tolist(), zip(*(column.tolist() for column in counted), strict=True), strict=True
        )
    ]


def _judgments_a_task(rated: Rated, of: Codes) -> Floats:
    """How many independent judgments a task is worth, from the spread of each model's task means within its cells."""
    possible = np.bincount(of, rated.groups.n_tasks * rated.values * (1.0 - rated.values))
    seen = np.bincount(of, rated.seen)
    # Tasks that agree to the last digit leave a spread of rounding errors: that is none. At least one it is.
    some = seen > 1e-9 * possible
    return np.maximum(1.0, np.divide(possible, seen, out=np.ones_like(seen), where=some))


def _discoveries(p_values: list[float | None], rate: float) -> list[bool | None]:
    """Benjamini and Hochberg (1995) over the cells that have a p-value."""
    known = np.array([p for p in p_values if p is not None])
    order = np.sort(known)
    below: NDArray[np.intp] = np.flatnonzero(order <= rate * np.arange(1, len(order) + 1) / max(1, len(order)))
    limit = float(order[below[-1]]) if len(below) else -1.0
    return [None if p is None else p <= limit for p in p_values]
