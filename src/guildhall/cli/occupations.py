"""`guildhall occupations`: which work matters, selected from the official files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption

app = typer.Typer(no_args_is_help=True, help="Which work matters: occupations selected from the official files.")


@app.command("select")
def select(
    data: Annotated[Path, typer.Option(help="The folder with the OEWS and O*NET files.")],
    labels: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="Digital labels by O*NET code and task; the shipped rule when absent.", show_default=False),
    ] = None,
    gdp_share: Annotated[float, typer.Option(help="The least share of GDP, in percent.")] = 5.0,
    digital_share: Annotated[float, typer.Option(help="The least digital share.")] = 0.60,
    per_sector: Annotated[int, typer.Option(help="How many occupations a sector.")] = 5,
    json: JsonOption = False,
) -> None:
    """Select occupations: large sectors, detailed occupations, digital work, highest pay."""
    from guildhall.occupations.labels import by_rule, from_file
    from guildhall.occupations.selection import Thresholds
    from guildhall.occupations.selection import select as run

    thresholds = Thresholds(gdp_share=gdp_share, digital_share=digital_share, per_sector=per_sector)
    labeller, named = (from_file(labels), labels.name) if labels else (by_rule, "shipped rule")
    found = run(data, labeller=labeller, labelled_by=named, thresholds=thresholds)
    if json:
        as_json(found)
        return
    by_title = {one.title: one for one in found.occupations}
    rows = [
        (sector, title, f"{(by_title[title].total_wages_usd or 0) / 1e9:,.2f}", f"{by_title[title].digital.share:.2f}")
        for sector, titles in found.selected.items()
        for title in titles
    ]
    table(f"{len(rows)} occupations selected", ["sector", "occupation", "pay, $bn", "digital"], rows, numeric=[2, 3])
    note(
        f"{found.detailed} detailed occupations, {found.kept} without catch-alls; digital shares from ratings for "
        f"{found.with_ratings}, by task frequency for {found.by_proxy}, none for {found.without_share}; "
        f"labels: {found.labeller}"
    )
