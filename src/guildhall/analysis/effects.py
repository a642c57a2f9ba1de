"""What sways graders besides quality: place, length, kinship, severity, time, and whether the blind held.

Each is an estimate in score points. A score is the author's side of a comparison: 1 won, 0.5 tied, 0 lost. Effects
compare like with like: within the same author (and grader, where both vary), clustered by task, since judgments of
one task go together.

Did the blind hold? Guesses of which side a person made, as an index from -1 to 1. The index (after Bang, Ni and Davis
2004) is the share of right guesses minus the share of wrong ones; both, neither and cannot tell count as no guess. 0
is a blind that held, 1 one that hid nothing. Graders call the better side human, so the index is shown apart where
the model was preferred and where it was not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.crossed import SHARE_OF_CELLS, crossed
from guildhall.analysis.files import read_table
from guildhall.analysis.intervals import share_interval, t_estimate
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.spreads import Spread
from guildhall.analysis.tables import Table
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingJudged

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Slope(NamedTuple):
    """A least-squares slope, and how far it may be off."""

    value: float
    spread: Spread


def clustered_slope(
    score: Floats, covariate: Floats, *, absorb: Sequence[Codes], task: Codes, grader: Codes | None = None
) -> Slope | None:
    """The slope of score on covariate within all groups of `absorb`; None where the covariate does not vary there.

    Each task's residual is enlarged by its leverage (the CR3 jackknife form), which keeps the level when few
    tasks carry most of the covariate.
    """
    if not (np.isfinite(score).all() and np.isfinite(covariate).all()):
        raise ImpossibleValue("a score or covariate", "NaN or infinite", allowed="finite on every row")
    y, x = _within(score, absorb), _within(covariate, absorb)
    spread = float(x @ x)
    if spread <= 1e-12 * max(1.0, float(covariate @ covariate)):
        return None
    value = float(x @ y) / spread
    tasks = np.unique(task, return_inverse=True)[1]
    share = np.bincount(tasks, x * x) / spread
    errors = x * (y - value * x) / spread / np.maximum(1 - share, 1e-9)[tasks]
    return Slope(value, crossed(errors, tasks, grader, weight=x * x))


def slope_estimate(slope: Slope | None, *, what: str, n_judgments: int, level: float, method: str) -> Estimate:
    """The slope as an estimate, absent with the reason where it cannot be told."""
    if slope is None:
        why = "the covariate does not vary within what it is compared with"
        return Estimate(
            value=None,
            estimand=what,
            method=method,
            level=level,
            n_judgments=n_judgments,
            why_no_interval=why,
        )
    return t_estimate(
        slope.value,
        slope.spread,
        estimand=what,
        method=method,
        level=level,
        n_judgments=n_judgments,
    )


def _within(values: Floats, absorb: Sequence[Codes]) -> Floats:
    """Deviations from all group means at once, by turns; one grouping is exact after the first."""
    left: Floats = values - values.mean()
    groups = [np.unique(codes, return_inverse=True)[1] for codes in absorb]
    counts = [np.bincount(codes) for codes in groups]
    for _ in range(1 if len(groups) < 2 else 500):
        before = left
        for codes, count in zip(groups, counts, strict=True):
            left = left - (np.bincount(codes, left) / count)[codes]
        if np.abs(left - before).max() < 1e-12:
            break
    return left


_AGAINST_OTHERS = "gap to the other graders on the same samples, t over tasks"


@dataclass(frozen=True)
class JudgedRows:
    """Judgments as parallel arrays; the codes' meaning is the caller's. Columns a question needs may be absent."""

    task: Codes
    model: Codes
    grader: Codes
    sample: Codes
    score: Floats
    shown_first: NDArray[np.bool_] | None = None
    log_length_ratio: Floats | None = None
    kin: NDArray[np.bool_] | None = None
    days: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.score):
            raise NothingJudged("grader effects")


def position_effect(rows: JudgedRows, *, level: float = 0.95) -> Estimate:
    """Score when shown first minus score when shown second, within author."""
    first = None if rows.shown_first is None else rows.shown_first.astype(float)
    return _effect(rows, first, "score shown first minus shown second", (rows.model,), level)


def length_effect(rows: JudgedRows, *, level: float = 0.95) -> Estimate:
    """Score points per doubling of one's length against the other side, within author."""
    doublings = None if rows.log_length_ratio is None else rows.log_length_ratio / np.log(2)
    return _effect(rows, doublings, "score per doubling of length against the other side", (rows.model,), level)


def kin_effect(rows: JudgedRows, *, what: str = "self-preference", level: float = 0.95) -> Estimate:
    """What graders add for kin, given how good the author is and how kind the grader.

    With `kin` meaning the same model it is self-preference, with the same maker family preference.
    """
    kin = None if rows.kin is None else rows.kin.astype(float)
    return _effect(rows, kin, what, (rows.model, rows.grader), level)


def drift_effect(rows: JudgedRows, *, per_days: float = 30.0, level: float = 0.95) -> Estimate:
    """Change of a grader's scores per `per_days`, within author and grader."""
    time = None if rows.days is None else rows.days / per_days
    return _effect(rows, time, f"change of score per {per_days:g} days", (rows.model, rows.grader), level)


def _effect(rows: JudgedRows, covariate: Floats | None, what: str, absorb: tuple[Codes, ...], level: float) -> Estimate:
    within = "author" if len(absorb) == 1 else "author and grader"
    method = f"least squares within {within}, t over tasks (jackknife errors)"
    if covariate is None:
        why = "the judgments do not say"
        return Estimate(
            value=None,
            estimand=what,
            method=method,
            level=level,
            n_judgments=len(rows.score),
            why_no_interval=why,
        )
    slope = clustered_slope(rows.score, covariate, absorb=absorb, task=rows.task, grader=rows.grader)
    return slope_estimate(slope, what=what, n_judgments=len(rows.score), level=level, method=method)


def flips(
    task: NDArray[Any], sample: NDArray[Any], sweep: NDArray[Any], score: Floats, *, level: float = 0.95
) -> Estimate:
    """Of rounds in which a judge saw a sample in several orders, the share in which its verdicts differ.

    A flip between orders is its own figure; it is never turned into a tie.
    """
    rows = pl.DataFrame({"task": task, "sample": sample, "sweep": sweep, "score": score})
    rounds = rows.group_by("task", "sample", "sweep", maintain_order=True).agg(
        n=pl.len(), apart=pl.col("score").n_unique() > 1
    )
    both, what = rounds.filter(pl.col("n") > 1), "share of rounds whose orders got different verdicts"
    if not len(both):
        why = "there is no verdict it could be counted from"
        return Estimate(value=None, estimand=what, method="none", level=level, why_no_interval=why)
    return clustered_share(both["apart"].to_numpy(), both["task"].to_numpy(), what=what, level=level)


def grader_severities(rows: JudgedRows, names: Mapping[int, str], *, level: float = 0.95) -> dict[str, Estimate]:
    """Per grader how far its scores lie from the other graders' on the same samples; positive is kind.

    The mean over tasks of the mean gap to each other grader, tasks and the others crossed. Samples nobody else judged
    say nothing and are left out and counted.
    """
    order = np.argsort(rows.sample, kind="stable")
    size = np.bincount(np.unique(rows.sample, return_inverse=True)[1])
    times = np.repeat(size, size)
    one = np.repeat(order, times)
    start = np.repeat(np.cumsum(size) - size, size)
    other = order[np.arange(len(one)) - np.repeat(np.cumsum(times) - times, times) + np.repeat(start, times)]
    apart = rows.grader[one] != rows.grader[other]
    one, other = one[apart], other[apart]
    met = np.bincount(one, minlength=len(rows.score))
    found = {}
    for code, name in names.items():
        judged = rows.grader == code
        mine = judged[one]
        if not mine.any():
            found[name] = _never_shared(name, int(judged.sum()), level)
            continue
        gap, task = (
            rows.score[one[mine]] - rows.score[other[mine]],
            np.unique(rows.task[one[mine]], return_inverse=True)[1],
        )
        weight = 1.0 / met[one[mine]]
        weight /= np.bincount(task, weight)[task] * (int(task.max()) + 1)
        value = float(weight @ gap)
        spread = crossed(weight * (gap - value), task, rows.grader[other[mine]], weight=weight)
        n = int((met[judged] > 0).sum())
        found[name] = t_estimate(
            value,
            spread,
            estimand=f"severity of {name}",
            method=_AGAINST_OTHERS,
            level=level,
            n_judgments=n,
            n_excluded=int(judged.sum()) - n,
        )
    return found


def _never_shared(name: str, n_judged: int, level: float) -> Estimate:
    why = "no sample was judged by anybody else"
    return Estimate(
        value=None,
        estimand=f"severity of {name}",
        method=_AGAINST_OTHERS,
        level=level,
        n_excluded=n_judged,
        why_no_interval=why,
    )


@dataclass(frozen=True)
class GuessRows:
    """Guesses on human-model pairs of one model: 1 right, -1 wrong, 0 none; whether the model was preferred."""

    guess: NDArray[np.int8]
    preferred: NDArray[np.bool_]
    grader: Codes
    task: Codes

    def __post_init__(self) -> None:
        if not np.isin(self.guess, (-1, 0, 1)).all():
            raise ImpossibleValue("a guess", "outside -1, 0, 1", allowed="1 right, -1 wrong or 0 none")


def blinding_index(rows: GuessRows, *, level: float = 0.95) -> dict[str, Estimate]:
    """The index overall, where the model was preferred, and where it was not; tasks and graders are crossed."""
    everywhere = np.ones(len(rows.guess), dtype=bool)
    parts = {"all": everywhere, "model preferred": rows.preferred, "model not preferred": ~rows.preferred}
    return {name: _index(rows, which, name, level) for name, which in parts.items()}


def _index(rows: GuessRows, which: NDArray[np.bool_], where: str, level: float) -> Estimate:
    what = f"share of right minus share of wrong guesses ({where})"
    guess = rows.guess[which]
    if not len(guess):
        why = "no such pair"
        return Estimate(value=None, estimand=what, method="none", level=level, n_judgments=0, why_no_interval=why)
    share = (1 + guess.astype(float)) / 2
    value = float(share.mean())
    errors = (share - value) / len(share)
    spread = crossed(errors, rows.task[which], rows.grader[which], share_of_cells=SHARE_OF_CELLS)
    found = share_interval(value, spread, n_judgments=len(guess), level=level)
    if found["interval"] is not None:
        found["interval"] = (2 * found["interval"][0] - 1, 2 * found["interval"][1] - 1)
    return Estimate(
        value=2 * value - 1, level=level, estimand=what, n_tasks=spread.n_tasks, n_judgments=len(guess), **found
    )


WHO = ("task", "model", "grader")


class _Asked(NamedTuple):
    """An effect, the column of the file it needs, and the field of `JudgedRows` that holds it."""

    effect: Callable[..., Estimate]
    column: str
    field: str
    read: Callable[[Floats, str], Any]


@dataclass(frozen=True)
class EffectReport:
    """What sways the graders of a file, and how kind each is; effects whose column is missing are absent with why."""

    effects: Mapping[str, Estimate]
    severities: Mapping[str, Estimate]


def read_effects(path: Path, *, level: float = 0.95) -> EffectReport:
    """Effects from rows `task, model, grader, score`, optionally `sample`, and what each effect needs.

    `shown_first` is 1 or 0, `length_ratio` one's length over the other side's, `kin` 1 where grader and model are
    kin, `day` a number of days. A row with an empty cell takes no part in the effect that needs it.
    """
    table = read_table(path, required=(*WHO, "score"), optional=("sample", *(one.column for one in ASKED.values())))
    score = table.numbers("score")
    known = ~np.isnan(score)
    if not known.any():
        raise NothingJudged("grader effects", n_excluded=table.n_rows)
    to_halves(score[known])
    columns: dict[str, Any] = {**_who(table), "score": score}
    rows = JudgedRows(**{name: column[known] for name, column in columns.items()})
    effects = {}
    for name, asked in ASKED.items():
        missing = np.full(table.n_rows, np.nan)
        values = table.numbers(asked.column) if asked.column in table else missing
        said = known & ~np.isnan(values)
        if not said.any():
            effects[name] = asked.effect(rows, level=level)
            continue
        about = {asked.field: asked.read(values[said], asked.column)}
        own = JudgedRows(**{name: column[said] for name, column in columns.items()}, **about)
        effects[name] = asked.effect(own, level=level)
    return EffectReport(effects, grader_severities(rows, dict(enumerate(table.coded("grader").names)), level=level))


def _who(table: Table) -> dict[str, Codes]:
    codes = {name: table.coded(name).codes.astype(np.intp) for name in WHO}
    for name, column in codes.items():
        if (column < 0).any():
            raise ImpossibleValue(name, "empty in some row", allowed="filled in every row")
    numbers = table.coded("sample").codes if "sample" in table else np.zeros(table.n_rows, dtype=np.intp)
    deliverables = np.stack([codes["task"], codes["model"], numbers.astype(np.intp)])
    return {**codes, "sample": np.unique(deliverables, axis=1, return_inverse=True)[1].ravel()}


def _yes_or_no(values: Floats, column: str) -> Any:
    if not np.isin(values, (0.0, 1.0)).all():
        raise ImpossibleValue(column, "something else in some row", allowed="1 (yes), 0 (no), or empty where unknown")
    return values == 1.0


def _logarithm(values: Floats, column: str) -> Any:
    if not (values > 0).all():
        raise ImpossibleValue(column, "0 or less in some row", allowed="one's length over the other side's, above 0")
    return np.log(values)


def _as_they_are(values: Floats, _column: str) -> Any:
    return values


ASKED = {
    "position": _Asked(position_effect, "shown_first", "shown_first", _yes_or_no),
    "length": _Asked(length_effect, "length_ratio", "log_length_ratio", _logarithm),
    "kin": _Asked(kin_effect, "kin", "kin", _yes_or_no),
    "drift": _Asked(drift_effect, "day", "days", _as_they_are),
}
