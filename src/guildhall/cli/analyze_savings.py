"""`guildhall analyze savings`: speed and cost of working with a model, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.measured import Measured
    from guildhall.analysis.savings import Savings


def savings(
    file: Annotated[
        Path, typer.Argument(help="Averages as .json, or rows per task and model as .csv, .jsonl, .parquet.")
    ],
    n: Annotated[str, typer.Option(help="Numbers of tries, separated by commas.")] = "1,2,3",
    w: Annotated[str, typer.Option(help="What makes an attempt do: win, win_or_tie or accepted.")] = "win",
    catastrophe_cost: Annotated[float, typer.Option(help="Dollars a catastrophic deliverable costs.")] = 0.0,
    catastrophe_rate: Annotated[float, typer.Option(help="Share of deliverables that are catastrophic.")] = 0.0,
    caught: Annotated[float, typer.Option(help="Share of catastrophes that review catches.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    json: JsonOption = False,
) -> None:
    """How much faster and cheaper: naive, try once, try n times and the limit, above 1 the model saves."""
    from guildhall.analysis.savings import LEFT_OUT, Catastrophe, named_success, numbers_of_tries
    from guildhall.analysis.savings_files import read_savings

    success = named_success(w)
    found = read_savings(
        file,
        w=success,
        tries=numbers_of_tries(n),
        catastrophe=Catastrophe(catastrophe_cost, catastrophe_rate, caught) if catastrophe_cost else None,
        seed=seed,
    )
    if json:
        rows = [
            {
                "model": one.model,
                "win_rate": one.win_rate,
                "n_excluded": one.n_excluded,
                **{name: _ratios(part) for name, part in (("speed", one.speed), ("cost", one.cost))},
            }
            for one in found
        ]
        as_json({"w": success.value, "seed": seed, "left_out": LEFT_OUT, "models": rows})
        return
    for title, parts in (("Speed", [one.speed for one in found]), ("Cost", [one.cost for one in found])):
        cells = [[one.model, *_cells(part)] for one, part in zip(found, parts, strict=True) if part is not None]
        if cells:
            tried = [f"try {k}" for part in parts[:1] if part for k in part.try_n]
            table(f"{title}, w = {success.value}", ["model", "w", "naive", "try once", *tried, "limit"], cells)
    note(LEFT_OUT)


def _ratios(part: Savings | None) -> dict[str, Any] | None:
    """Plain numbers under the promised names, the same as estimates beside them."""
    if part is None:
        return None
    measured = {"naive": part.naive, "try_once": part.try_once, "limit": part.limit}
    return {
        **{name: one.value for name, one in measured.items()},
        "try_n": {str(k): one.value for k, one in part.try_n.items()},
        "never_won": part.never_won,
        "break_even": {
            "review": part.break_even_review,
            "model": part.break_even_model,
            "win_rate": part.break_even_win_rate,
        },
        "estimates": {
            **{name: one.to_estimate() for name, one in measured.items()},
            "try_n": {str(k): one.to_estimate() for k, one in part.try_n.items()},
        },
    }


def _cells(part: Savings) -> list[str]:
    shown = [part.naive, part.try_once, *part.try_n.values(), part.limit]
    return [f"{part.win_rate:.1%}", *(_times(one) for one in shown)]


def _times(one: Measured) -> str:
    if one.value is None:
        return "none"
    ends = f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})" if one.interval else ""
    return f"{one.value:.2f}x{ends}"
