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
        Path,
        typer.Argument(
            help="Rows: model, auto, human (may be empty); optionally task, probability. "
            "With left and right instead of model: Bradley-Terry scores."
        ),
    ],
    convention: Annotated[str, typer.Option(help="What counts: half_tie, win or win_or_tie.")] = "half_tie",
    strata: Annotated[str | None, typer.Option(help="A column of strata, e.g. occupation.")] = None,
    folds: Annotated[int, typer.Option(help="Tune lambda across this many folds of tasks; 0 tunes it once.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Prediction-powered rates: valid with few human labels, narrower where the automatic grader agrees."""
    from guildhall.analysis.ppi_files import holds_pairs, read_ppi
    from guildhall.analysis.ppi_models import named_convention, ppi_by_model

    if holds_pairs(file):
        _ratings(file, level=level, json=json)
        return
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


def _ratings(file: Path, *, level: float, json: bool) -> None:
    from guildhall.analysis.ppi_files import read_pair_ppi
    from guildhall.analysis.ppi_ratings import ppi_ratings

    rows = read_pair_ppi(file)
    found, classical = ppi_ratings(rows, level=level), ppi_ratings(rows, lam=0.0, level=level)
    pairs = sorted(zip(found.models, found.scores, classical.scores, strict=True), key=lambda one: -(one[1].value or 0))
    if json:
        shown = [{"model": model, "estimate": score, "classical": plain} for model, score, plain in pairs]
        as_json({"lambda": found.lam, "effective_human_n": found.effective_human_n, "models": shown})
        return
    table(
        "Prediction-powered Bradley-Terry scores (log-odds)",
        ["model", "score", "interval", "human only", "interval"],
        [[model, _share(a.value), _ends(a.interval), _share(b.value), _ends(b.interval)] for model, a, b in pairs],
        numeric=range(1, 5),
    )
    note(f"{found.scores[0].n_judgments} human labels are worth {found.effective_human_n:.0f}; lambda {found.lam:.2f}")


def _row(one: ModelPpi) -> dict[str, Any]:
    return {
        "model": one.model,
        "estimate": one.estimate,
        "classical": one.classical,
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
