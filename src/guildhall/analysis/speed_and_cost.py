"""What working with models saves, with the words that say where its figures come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from guildhall.analysis.files import read_table
from guildhall.analysis.savings_files import COLUMNS, ModelSavings, columns_for, savings_of_table, with_review
from guildhall.analysis.tables import Table
from guildhall.domain.estimates import Success

TRIES = tuple(range(1, 11))
"""What a curve over the number of tries shows."""
SAID = ("hours_by", "review_by", "success_by")
UNSAID = "not said by the file"


class SpeedAndCost(NamedTuple):
    """Every model's ratios under one meaning of `w`, which every caption names.

    `hours_by` says who knows how long the work takes a person, `review_by` how the time of review is known, or that it
    is not, and `success_by` who says whether an attempt will do.
    """

    models: Sequence[ModelSavings]
    w: Success
    hours_by: str
    review_by: str
    success_by: str


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
    models = savings_of_table(table, w=w, tries=tries, seed=seed, level=level)
    return SpeedAndCost(models, w, *(_words(table, column) for column in SAID))


def _words(table: Table, column: str) -> str:
    return " and ".join(table.coded(column).names) or UNSAID if column in table else UNSAID
