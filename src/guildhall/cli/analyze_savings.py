"""`guildhall analyze savings`: speed and cost of working with a model, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.savings import Savings
    from guildhall.domain.estimates import Estimate, Success


def savings(
    file: Annotated[
        Path, typer.Argument(help="Averages as .json, or rows per task and model as .csv, .jsonl, .parquet.")
    ],
    n: Annotated[str, typer.Option(help="Numbers of tries, separated by commas.")] = "1,2,3",
    w: Annotated[str, typer.Option(help="What makes an attempt do: win, win_or_tie or accepted.")] = "win",
    catastrophe_cost: Annotated[float, typer.Option(help="Dollars a catastrophic deliverable costs.")] = 0.0,
    catastrophe_rate: Annotated[float, typer.Option(help="Share of deliverables that are catastrophic.")] = 0.0,
    caught: Annotated[float, typer.Option(help="Share of catastrophes that review catches.")] = 0.0,
    review_minutes: Annotated[
        Optional[float],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="Minutes of review an attempt, assumed where nobody measured them.", show_default=False),
    ] = None,
    page: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write a page with curves over the number of tries to this .html file.", show_default=False),
    ] = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "What models save",
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    json: JsonOption = False,
) -> None:
    """How much faster and cheaper: naive, try once, try n times and the limit, above 1 the model saves."""
    from guildhall.analysis.savings import CAVEATS, LEFT_OUT, Catastrophe, named_success, numbers_of_tries
    from guildhall.analysis.savings_files import read_savings

    success = named_success(w)
    if page is not None:
        _write_page(page, file, success, title=title, review_minutes=review_minutes, seed=seed)
    found = read_savings(
        file,
        w=success,
        tries=numbers_of_tries(n),
        catastrophe=Catastrophe(catastrophe_cost, catastrophe_rate, caught) if catastrophe_cost else None,
        review_minutes=review_minutes,
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
        as_json({"w": success.value, "seed": seed, "left_out": LEFT_OUT, "caveats": CAVEATS, "models": rows})
        return
    for title, parts in (("Speed", [one.speed for one in found]), ("Cost", [one.cost for one in found])):
        cells = [[one.model, *_cells(part)] for one, part in zip(found, parts, strict=True) if part is not None]
        if cells:
            tried = [f"try {k}" for part in parts[:1] if part for k in part.try_n]
            table(
                f"{title}, w = {success.value}",
                ["model", "w", "naive", "try once", *tried, "limit", "break-even review"],
                cells,
            )
    for words in (LEFT_OUT, *CAVEATS):
        note(words)


def _write_page(
    page: Path, file: Path, success: Success, *, title: str, review_minutes: float | None, seed: int
) -> None:
    from guildhall.analysis.savings_files import read_speed_and_cost
    from guildhall.reports.other_pages import savings_page

    made = read_speed_and_cost(file, w=success, review_minutes=review_minutes, seed=seed)
    page.write_text(savings_page(made, title=title, seed=seed), encoding="utf-8")
    note(f"page written to {page}; human time: {made.hours_by}; review: {made.review_by}")


def import_clawwork(
    folder: Annotated[Path, typer.Argument(help="The folder of the public ClawWork tables.")],
    out: Annotated[Path, typer.Option(help="The .csv file to write, for `guildhall analyze savings`.")],
    accept_at: Annotated[float, typer.Option(help="The mark, 0 to 1, from which an attempt counts as accepted.")] = 0.6,
    json: JsonOption = False,
) -> None:
    """Costs, times and marks of ClawWork as rows per task and model; its hours are a model's estimates and say so."""
    from guildhall.analysis.savings_files import CLAWWORK_COLUMNS, clawwork_rows
    from guildhall.reports.text import csv_text

    rows = clawwork_rows(folder, accept_at=accept_at)
    out.write_text(
        csv_text(CLAWWORK_COLUMNS, ([row[name] for name in CLAWWORK_COLUMNS] for row in rows)), encoding="utf-8"
    )
    if json:
        as_json({"rows": len(rows), "models": len({row["model"] for row in rows}), "out": str(out)})
        return
    done(f"{len(rows)} rows written to {out}; human time: {rows[0]['hours_by']}; review: {rows[0]['review_by']}")


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
            **measured,
            "try_n": {str(k): one for k, one in part.try_n.items()},
        },
    }


def _cells(part: Savings) -> list[str]:
    shown = [part.naive, part.try_once, *part.try_n.values(), part.limit]
    return [f"{part.win_rate:.1%}", *(_times(one) for one in shown), f"{part.break_even_review:.1f}"]


def _times(one: Estimate) -> str:
    if one.value is None:
        return "none"
    ends = f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})" if one.interval else ""
    return f"{one.value:.2f}x{ends}"
