"""Grader effects straight from a file of judgments: each effect from the rows that say what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from guildhall.analysis.effects import (
    JudgedRows,
    drift_effect,
    grader_severities,
    kin_effect,
    length_effect,
    position_effect,
)
from guildhall.analysis.files import read_table
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.regress import Codes, Floats
from guildhall.analysis.tables import Table
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingJudged

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
