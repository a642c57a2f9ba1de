"""Human and automatic scores from a file, ready for prediction-powered estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from guildhall.analysis.files import column_names, read_table
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.ppi_models import PpiTable
from guildhall.analysis.ppi_ratings import PairRows
from guildhall.analysis.tables import Coded, renumber
from guildhall.errors import ImpossibleValue, NothingJudged


def read_ppi(path: Path, *, stratum: str | None = None) -> PpiTable:
    """Rows `model, auto, human` and optionally `task, sample, probability`; `human` may be empty, row by row.

    Rows without an automatic score (ungradable tasks) are outside the estimand: left out and counted.
    """
    named = (stratum,) if stratum else ()
    table = read_table(path, required=("model", "auto", "human", *named), optional=("task", "probability"))
    auto = table.numbers("auto")
    known = ~np.isnan(auto)
    if not known.any():
        raise NothingJudged("prediction-powered estimates", n_excluded=len(auto))
    model = table.coded("model")
    return PpiTable(
        models=model.names,
        model=_whole(model, "model")[known],
        auto=auto[known],
        human=table.numbers("human")[known],
        task=_whole(table.coded("task"), "task")[known] if "task" in table else None,
        probability=table.numbers("probability")[known] if "probability" in table else None,
        stratum=_whole(table.coded(stratum), stratum)[known] if stratum else None,
        n_excluded=int((~known).sum()),
    )


def read_pair_ppi(path: Path) -> PairRows:
    """Rows `left, right, auto, human` and optionally `task`: scores from the left side, `human` empty where none.

    Rows without an automatic score are left out.
    """
    table = read_table(path, required=("left", "right", "auto", "human"), optional=("task",))
    auto = table.numbers("auto")
    known = ~np.isnan(auto)
    if not known.any():
        raise NothingJudged("prediction-powered ratings", n_excluded=len(auto))
    index: dict[str, int] = {}
    left, right = (renumber(table.coded(side), index)[known].astype(np.intp) for side in ("left", "right"))
    if (left < 0).any() or (right < 0).any() or (left == right).any():
        raise ImpossibleValue("left and right", "empty or the same in some row", allowed="two different models")
    human = table.numbers("human")[known]
    for scores in (auto[known], human[~np.isnan(human)]):
        to_halves(scores)
    task = _whole(table.coded("task"), "task")[known] if "task" in table else None
    return PairRows(tuple(index), left, right, auto[known], human, task)


def holds_pairs(path: Path) -> bool:
    """Whether the rows compare two models with each other, rather than one with the expert."""
    return {"left", "right"} <= set(column_names(path))


def _whole(column: Coded, name: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    if (column.codes < 0).any():
        raise ImpossibleValue(name, "empty", allowed="named on every row")
    return column.codes.astype(np.intp)
