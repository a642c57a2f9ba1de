"""Human and automatic scores from a file, ready for prediction-powered estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from guildhall.analysis.files import read_table
from guildhall.analysis.ppi_models import PpiTable
from guildhall.analysis.tables import Coded
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


def _whole(column: Coded, name: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    if (column.codes < 0).any():
        raise ImpossibleValue(name, "empty", allowed="named on every row")
    return column.codes.astype(np.intp)
