"""`guildhall analyze ppi`: few human and many automatic judgments, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.ppi_models import ModelPpi


def ppi(
    file: Annotated[
        Path, typer.Argument(help="Rows: model, auto, human (may be empty); optionally task, probability.")
    ],
    convention: Annotated[str, typer.Option(help="What counts: half_tie, win or win_or_tie.")] = "half_tie",
    strata: Annotated[str | None, typer.Option(help="A column of strata, e.g. occupation.")] = None,
    folds: Annotated[int, typer.Option(help="Tune lambda across this many folds of tasks; 0 tunes it once.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Prediction-powered rates: valid with few human labels, narrower where the automatic grader agrees."""
    from guildhall.analysis.ppi_files import read_ppi
    from guildhall.analysis.ppi_models import named_convention, ppi_by_model

    found = ppi_by_model(
        read_ppi(file, stratum=strata), convention=named_convention(convention), folds=folds, level=level
    )
    if json:
        rows = [_row(one) for one in found]
        # One model alone is shown at the top level too, so that scripts need not unwrap a list of one.
        as_json({"convention": convention, **(rows[0] if len(rows) == 1 else {}), "models": rows})
        return
    table(
        f"Prediction-powered {convention} rate",
        ["model", "estimate", "interval", "human only", "interval", "labels", "worth"],
        [_cells(one) for one in found],
        numeric=range(1, 7),
    )
    for one in found:
        if one.estimate.why_no_interval:
            note(f"{one.model}: {one.estimate.why_no_interval}")


def _row(one: ModelPpi) -> dict[str, Any]:
    return {
        "model": one.model,
        "estimate": one.estimate.to_estimate(),
        "classical": one.classical.to_estimate() if one.classical else None,
        "lambda": one.lam,
        "effective_human_n": one.effective_human_n,
        "n_human": one.n_human,
        "n_auto": one.n_auto,
    }


def _cells(one: ModelPpi) -> list[str | None]:
    classical = one.classical
    return [
        one.model,
        _share(one.estimate.value),
        _ends(one.estimate.interval),
        _share(classical.value) if classical else None,
        _ends(classical.interval) if classical else None,
        str(one.n_human),
        f"{one.effective_human_n:.0f}" if one.effective_human_n is not None else None,
    ]


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def _ends(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
