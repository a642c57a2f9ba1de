"""`guildhall analyze marks`: who marked whom how, from a file of marks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption


def marks(
    file: Annotated[Path, typer.Argument(help="Rows: grader, author, mark (a number; may be empty).")],
    json: JsonOption = False,
) -> None:
    """Medians of the marks received and given, and each grader's bias: the median it gave less that of all marks."""
    from guildhall.analysis.marks import cross_mark_file

    models, found, n_excluded = cross_mark_file(file)
    received, given, bias = (_known(one.tolist()) for one in (found.received, found.given, found.bias))
    if json:
        medians = {
            model: dict(zip(models, _known(row), strict=True))
            for model, row in zip(models, found.medians.tolist(), strict=True)
        }
        rows = [
            {"model": model, "received": received[at], "given": given[at], "bias": bias[at], "gave": medians[model]}
            for at, model in enumerate(models)
        ]
        as_json({"models": rows, "n_marks": int(found.counts.sum()), "n_excluded": n_excluded})
        return
    order = sorted(range(len(models)), key=lambda at: (-math.inf if received[at] is None else received[at], models[at]))
    table(
        "Marks (medians)",
        ["model", "received", "given", "bias"],
        [[models[at], _shown(received[at]), _shown(given[at]), _shown(bias[at], "+.2f")] for at in reversed(order)],
        numeric=range(1, 4),
    )
    note("bias: above zero is lenient; marks to oneself count, as in the published test")
    if n_excluded:
        note(f"{n_excluded} rows without a mark are left out")


def _known(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _shown(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else f"{value:{form}}"
