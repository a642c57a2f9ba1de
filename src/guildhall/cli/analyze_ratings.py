"""`guildhall analyze ratings`: Bradley-Terry scores and ranks from a file of votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.ratings import Rating
    from guildhall.domain.estimates import Estimate


def ratings(
    file: Annotated[Path, typer.Argument(help="Rows: left, right, winner; optionally task, grader, weight.")],
    ties: Annotated[str, typer.Option(help="davidson, rao-kupper or half.")] = "davidson",
    cluster: Annotated[
        str, typer.Option(help="auto (task, else grader, where the file names one), task, grader or none.")
    ] = "auto",
    anchor: Annotated[list[str] | None, typer.Option(help="MODEL=SCORE, kept fixed; may be repeated.")] = None,
    position: Annotated[bool, typer.Option("--position", help="Estimate the left side's advantage too.")] = False,
    covariate: Annotated[
        list[str] | None, typer.Option(help="A column of left-minus-right differences, e.g. of length.")
    ] = None,
    elo: Annotated[
        bool, typer.Option("--elo", help="Show Elo ratings too: by the order of rows, no interval.")
    ] = False,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Show the interval of a bootstrap of so many rounds too; needs --cluster none.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Scores in natural log-odds with mean 0, their intervals, ranks and the ranks each model may hold."""
    from guildhall.analysis.rating_files import elo_file, rate_file

    found = rate_file(
        file,
        ties=ties,
        cluster=cluster,
        anchors=anchor or [],
        position=position,
        covariates=covariate or [],
        level=level,
    )
    more: dict[str, dict[str, Any]] = {}
    if elo:
        more["elo"] = dict(elo_file(file))
    if bootstrap:
        from guildhall.analysis.rating_files import bootstrapped

        more["bootstrap"] = dict(bootstrapped(found, rounds=bootstrap, seed=seed, level=level))
    if json:
        as_json(
            {
                "rows": [
                    _row(one) | {name: by_model[one.model] for name, by_model in more.items()} for one in found.ratings
                ],
                "effects": found.effects,
                "ties": found.ties,
                "tie_parameter": found.tie_parameter,
            }
        )
        return
    _show(found.ratings, more)
    if elo:
        note("Elo depends on the order of the votes and has no interval")
    for name, effect in found.effects.items():
        note(f"effect of {name}: {_signed(effect.value)} {_ends(effect.interval)}")
    for one in found.ratings:
        if one.score.why_no_interval:
            note(f"{one.model}: no interval: {one.score.why_no_interval}")


def _show(ratings: Sequence[Rating], more: Mapping[str, Mapping[str, Any]]) -> None:
    table(
        "Bradley-Terry scores (log-odds)",
        ["rank", "may be", "model", "score", "interval", *("Elo" if name == "elo" else name for name in more)],
        [[*_cells(one), *(_shown(by_model[one.model]) for by_model in more.values())] for one in ratings],
        numeric=(0, 3, 5) if "elo" in more else (0, 3),
    )
    note(ratings[0].score.method)
    if "bootstrap" in more:
        note(next(iter(more["bootstrap"].values())).method)


def _shown(one: float | Estimate) -> str:
    return f"{one:.0f}" if isinstance(one, float) else _ends(one.interval)


def _row(one: Rating) -> dict[str, Any]:
    return {
        "model": one.model,
        "score": one.score.value,
        "interval": one.score.interval,
        "rank": one.rank,
        "rank_interval": one.rank_interval,
        "estimate": one.score,
    }


def _cells(one: Rating) -> list[Any]:
    may_be = f"{one.rank_interval[0]} to {one.rank_interval[1]}" if one.rank_interval else ""
    return [one.rank, may_be, one.model, _signed(one.score.value), _ends(one.score.interval)]


def _signed(value: float | None) -> str:
    return "none" if value is None else f"{value:+.3f}"


def _ends(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:+.3f} to {interval[1]:+.3f}"
