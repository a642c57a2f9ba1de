"""Savings as the value a report shows, from a table of tasks or a file of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guildhall.analysis.files import read_table
from guildhall.analysis.savings import LEFT_OUT, Savings, Success
from guildhall.analysis.savings_files import COLUMNS, ModelSavings, columns_for, savings_of_table, with_review
from guildhall.analysis.tables import Table
from guildhall.domain.speed_and_cost import ModelSpeedAndCost, Ratios, SpeedAndCost

TRIES = tuple(range(1, 11))
"""What a curve over the number of tries shows."""
SAID = ("hours_by", "review_by", "success_by")
UNSAID = "not said by the file"


def read_speed_and_cost(
    path: Path,
    *,
    w: Success,
    tries: Sequence[int] = TRIES,
    review_minutes: float | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> SpeedAndCost:
    """Speed and cost from a file with one row per task and model.

    Columns `hours_by`, `review_by` and `success_by` say where hours, review and verdicts come from, and stand on the
    page. `review_minutes` is an assumption in place of a measurement, priced at each task's own cost a minute.
    """
    table = read_table(path, required=columns_for(w), optional=(*COLUMNS, *SAID))
    if review_minutes is not None:
        table = with_review(table, review_minutes)
    hours_by, review_by, success_by = (_words(table, column) for column in SAID)
    return speed_and_cost(
        table,
        w=w,
        hours_by=hours_by,
        review_by=review_by,
        success_by=success_by,
        tries=tries,
        seed=seed,
        level=level,
    )


def speed_and_cost(
    table: Table,
    *,
    w: Success,
    hours_by: str,
    review_by: str,
    success_by: str,
    tries: Sequence[int] = TRIES,
    seed: int = 0,
    level: float = 0.95,
    rounds: int = 2000,
) -> SpeedAndCost:
    """Ratios of every model; the fastest in the end come first."""
    found = savings_of_table(table, w=w, tries=tries, seed=seed, level=level, rounds=rounds)
    models = [_model(one) for one in found if one.speed or one.cost]
    return SpeedAndCost(
        w=w.value,
        hours_by=hours_by,
        review_by=review_by,
        success_by=success_by,
        models=tuple(sorted(models, key=lambda one: -one.success_rate)),
        left_out=LEFT_OUT,
    )


def _words(table: Table, column: str) -> str:
    return " and ".join(table.coded(column).names) or UNSAID if column in table else UNSAID


def _model(found: ModelSavings) -> ModelSpeedAndCost:
    return ModelSpeedAndCost(
        model=found.model,
        success_rate=found.win_rate,
        n_tasks=found.n_tasks,
        n_excluded=found.n_excluded,
        speed=_ratios(found.speed),
        cost=_ratios(found.cost),
    )


def _ratios(found: Savings | None) -> Ratios | None:
    if found is None:
        return None
    return Ratios(
        naive=found.naive,
        try_once=found.try_once,
        try_n=found.try_n,
        limit=found.limit,
        never_won=found.never_won,
        break_even_review=found.break_even_review,
        break_even_model=found.break_even_model,
    )
