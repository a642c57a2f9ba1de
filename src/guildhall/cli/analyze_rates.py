"""`guildhall analyze win-rate` and `ratings`: how often models win and how they compare, from plain files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, ends, note, table, with_ends
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.breakdown import Cell
    from guildhall.analysis.ratings import Rating
    from guildhall.analysis.win_rates import WinRate
    from guildhall.domain.estimates import Estimate


def ratings(
    file: Annotated[Path, typer.Argument(help="Rows: left, right, winner; optionally task, grader, weight.")],
    ties: Annotated[str, typer.Option(help="davidson, rao-kupper or half.")] = "davidson",
    cluster: Annotated[
        str,
        typer.Option(
            help="auto (tasks and graders crossed, as far as the file names them), crossed, task, grader or none."
        ),
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
                    _rating_row(one) | {name: by_model[one.model] for name, by_model in more.items()}
                    for one in found.ratings
                ],
                "effects": found.effects,
                "ties": found.ties,
                "tie_parameter": found.tie_parameter,
            }
        )
        return
    _show_ratings(found.ratings, more)
    if elo:
        note("Elo depends on the order of the votes and has no interval")
    for name, effect in found.effects.items():
        note(f"effect of {name}: {_signed(effect.value)} {_ends(effect.interval)}")
    for one in found.ratings:
        if one.score.why_no_interval:
            note(f"{one.model}: no interval: {one.score.why_no_interval}")


def _show_ratings(ratings: Sequence[Rating], more: Mapping[str, Mapping[str, Any]]) -> None:
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


def _rating_row(one: Rating) -> dict[str, Any]:
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


OUTCOMES = ("losses", "ties", "wins")


def win_rate(
    file: Annotated[Path, typer.Argument(help="Rows: task, model, score (0, 0.5, 1); optionally sample, grader.")],
    interval: Annotated[
        str,
        typer.Option(
            help="decided (by how many tasks, wins and graders there are), crossed, t (tasks alone), two-level, tasks, "
            "within-sample or always-valid."
        ),
    ] = "decided",
    strata: Annotated[str | None, typer.Option(help="A column that stays in any other draw, e.g. occupation.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Break down by a column; outer ones first.")] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the resampled intervals.")] = 0,
    json: JsonOption = False,
) -> None:
    """Wins, win-or-ties and half-ties per model: means over tasks of means over samples of means over grades."""
    from guildhall.analysis.breakdown import breakdown
    from guildhall.analysis.outcomes import read_outcomes
    from guildhall.analysis.win_rates import named_interval, win_rates

    outcomes = read_outcomes(file, by=by or (), strata=strata)
    if again := outcomes.said_again:
        note(f"{again} rows judge again what the same grader judged before: is a part of the file in there twice?")
    rates = win_rates(outcomes, interval=named_interval(interval), level=level, seed=seed)
    cells = breakdown(outcomes, by, level=level) if by else []
    if json:
        rows = [_row(one) for one in rates]
        # One model alone is shown at the top level too, so that scripts need not unwrap a list of one.
        shown = {**(rows[0] if len(rows) == 1 else {}), "models": rows, "grader_kinds": outcomes.grader_kinds}
        as_json({**shown, "cells": [_cell(one) for one in cells]} if by else shown)
        return
    _show_rates(rates)
    if outcomes.grader_kinds and len(outcomes.grader_kinds) > 1:
        kinds = ", ".join(f"{kind} {n}" for kind, n in outcomes.grader_kinds.items())
        note(f"these rates pool several kinds of grader ({kinds}); `--by grader_kind` shows them apart")
    if cells and by:
        _show_cells(cells, by)


def count(
    file: Annotated[Path, typer.Argument(help="Rows: score (0, 0.5, 1; may be empty) and the columns to count by.")],
    by: Annotated[list[str] | None, typer.Option(help="A column to count by; may be repeated.")] = None,
    json: JsonOption = False,
) -> None:
    """Losses, ties and wins in each cell: one pass over a file of any size, plain counts, nothing estimated."""
    from guildhall.analysis.outcomes import count_cell_file

    columns = by or ["model"]
    found = count_cell_file(file, columns)
    cells = sorted(found.cells())
    if json:
        shown = [
            {"levels": dict(zip(columns, levels, strict=True)), **dict(zip(OUTCOMES, counts, strict=True))}
            for levels, counts in cells
        ]
        as_json({"cells": shown, "n_excluded": found.n_excluded})
        return
    rows = [[*levels, *counts] for levels, counts in cells]
    table("Judgments", [*columns, *OUTCOMES], rows, numeric=range(len(columns), len(columns) + 3))
    if found.n_excluded:
        note(f"{found.n_excluded} rows without a score or a level are left out")


def _row(one: WinRate) -> dict[str, Any]:
    return {
        "model": one.model,
        "wins": one.wins,
        "ties": one.ties,
        "losses": one.losses,
        "win": one.win,
        "win_or_tie": one.win_or_tie,
        "half_tie": one.half_tie,
        "design_effect": one.half_tie.design_effect,
    }


def _cell(one: Cell) -> dict[str, Any]:
    return {
        **_row(one.raw),
        "levels": one.levels,
        "band": one.band,
        "pooled": one.pooled,
        "differs_from_half": one.differs_from_half,
    }


def _show_rates(rates: list[WinRate]) -> None:
    table(
        "Win rates (mean over tasks)",
        ["model", "tasks", "grades", "win", "win or tie", "half tie"],
        [
            [
                one.model,
                one.win.n_tasks,
                one.win.n_judgments,
                *(with_ends(m.value, m.interval) for m in (one.win, one.win_or_tie, one.half_tie)),
            ]
            for one in rates
        ],
        numeric=(1, 2),
    )
    for one in rates:
        note(f"{one.model}: half tie by {one.half_tie.method}; {one.half_tie.n_excluded} rows without a score left out")
        if one.half_tie.target is not None:
            note(f"{one.model}: about {one.half_tie.target}")
        if one.half_tie.why_no_interval:
            note(f"{one.model}: no interval: {one.half_tie.why_no_interval}")
        if one.half_tie.design_effect:
            note(f"{one.model}: graders multiply the variance by {one.half_tie.design_effect:.2f}")


def _show_cells(cells: list[Cell], by: list[str]) -> None:
    table(
        f"Half-tie rate by {', '.join(by)}",
        ["model", *by, "tasks", "raw", "band over all cells", "pooled", "differs from half"],
        [
            [
                one.model,
                *one.levels.values(),
                one.raw.half_tie.n_tasks,
                with_ends(one.raw.half_tie.value, one.raw.half_tie.interval),
                ends(one.band["half_tie"]),
                with_ends(pooled.value, pooled.interval) if (pooled := one.pooled.get("half_tie")) else "",
                {True: "yes", False: "", None: "unknown"}[one.differs_from_half],
            ]
            for one in cells
        ],
        numeric=(1 + len(by),),
    )
    note("differs from half: at a false discovery rate of 5 % over all cells; pooled: hierarchical logit")
