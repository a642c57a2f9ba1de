"""`guildhall analyze effects`: what sways graders besides quality, from a file of judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guildhall.domain.estimates import Estimate


def effects(
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows: task, model, grader, score; optionally sample, shown_first, length_ratio, kin, day."
        ),
    ],
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Place, length, kinship, time and severity of graders, each in score points with its interval."""
    from guildhall.analysis.effect_files import read_effects

    found = read_effects(file, level=level)
    if json:
        as_json(
            {
                "effects": found.effects,
                "severities": found.severities,
            }
        )
        return
    _show("What sways graders (score points)", "effect", found.effects)
    _show("How kind each grader is, against the others on the same samples", "grader", found.severities)


def _show(title: str, head: str, found: Mapping[str, Estimate]) -> None:
    table(
        title,
        [head, "value", "interval", "judgments"],
        [_cells(name, one) for name, one in found.items()],
        numeric=(1, 3),
    )
    for name, one in found.items():
        if one.why_no_interval:
            note(f"{name}: {one.why_no_interval}")


def _cells(name: str, one: Estimate) -> list[str]:
    ends = "none" if one.interval is None else f"{one.interval[0]:+.3f} to {one.interval[1]:+.3f}"
    return [name, "none" if one.value is None else f"{one.value:+.3f}", ends, str(one.n_judgments or 0)]
