"""The public board, recovered: published rates back to counts, counts to rates with intervals, sector by sector."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from guildhall.analysis.breakdown import breakdown
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.analysis.win_rates import win_rates
from proofs import Figures, proof, realdata

GRADES = 45
"""Grades of each model in each occupation: 5 tasks, 3 samples, 3 graders."""
PRINTED = 0.5e-5 + 1e-9
"""Some rates are printed to five places: so far may one lie from the share it stands for."""
CLAUDE_45 = (901, 279, 800)
SHORT = {"gpt-5r-high-engprompt": 1974}
"""Of this one the board's own overall rate leaves six grades out: its wins and ties are as recovered, and six of what
looks like losses in some occupation are grades that were never given."""


class Cell(NamedTuple):
    """One model in one occupation: its counts, where the published rates are exact shares of 45."""

    sector: str
    occupation: str
    model: str
    counts: tuple[int, int, int] | None


def recovered(win_rate: float, win_or_tie_rate: float, grades: int) -> tuple[int, int, int] | None:
    """Wins, ties and losses behind two published rates; None where they are no whole numbers of grades."""
    wins, not_lost = round(win_rate * grades), round(win_or_tie_rate * grades)
    if max(abs(win_rate - wins / grades), abs(win_or_tie_rate - not_lost / grades)) > PRINTED:
        return None
    return wins, not_lost - wins, grades - not_lost


def _cells(path: Path) -> list[Cell]:
    with path.open(newline="", encoding="utf-8") as lines:
        return [
            Cell(
                row["sector"],
                row["occupation"],
                row["model_id"],
                recovered(float(row["win_rate"]), float(row["win_or_tie_rate"]), GRADES),
            )
            for row in csv.DictReader(lines)
            if row["model_id"] != "human"
        ]


def _exact(cells: list[Cell]) -> list[Cell]:
    """Cells of the models whose every occupation could be recovered."""
    inexact = {cell.model for cell in cells if cell.counts is None}
    return [cell for cell in cells if cell.model not in inexact]


def _outcomes(cells: list[Cell]) -> Outcomes:
    """Grades one by one. Which task each belongs to is not published: an occupation stands in for its five tasks."""
    scored = [
        (cell, score)
        for cell in cells
        for score, count in zip((1.0, 0.5, 0.0), cell.counts or (), strict=True)
        for _ in range(count)
    ]
    return outcomes_from_arrays(
        task=[cell.occupation for cell, _ in scored],
        model=[cell.model for cell, _ in scored],
        score=[score for _, score in scored],
        groups={"sector": [cell.sector for cell, _ in scored]},
    )


def _published(path: Path) -> Mapping[str, tuple[float, float]]:
    with path.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        return {row["model_id"]: (float(row["win_rate"]), float(row["win_or_tie_rate"])) for row in rows}


def _graded(counts: tuple[int, int, int], rates: tuple[float, float]) -> int | None:
    """How many grades the published overall rates speak of, given the recovered wins and ties; None for no number."""
    wins, ties, losses = counts
    for total in range(wins + ties + losses, wins + ties - 1, -1):
        if abs(wins / total - rates[0]) <= PRINTED and abs((wins + ties) / total - rates[1]) <= PRINTED:
            return total
    return None


@proof(
    "reports-board",
    "The counts recovered from the public board for 11 models give its overall rates (one of them over six grades "
    "fewer), and rates by sector with intervals in under a second",
    tier="prove",
    budget_s=60,
)
def the_public_board_is_recovered() -> Figures:
    cells = _exact(_cells(realdata("gdpval/openai_leaderboard_by_occupation.csv")))
    published = _published(realdata("gdpval/openai_leaderboard_models.csv"))
    outcomes = _outcomes(cells)
    rates = {rate.model: rate for rate in win_rates(outcomes)}
    counts = {name: (rate.wins, rate.ties, rate.losses) for name, rate in rates.items()}
    assert len(counts) == 11 and counts["claude-45"] == CLAUDE_45
    assert all(sum(found) == 44 * GRADES for found in counts.values())
    graded = {name: _graded(counts[name], published[name]) for name in counts}
    assert {name: n for name, n in graded.items() if n != 44 * GRADES} == SHORT
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        by_sector = breakdown(_outcomes(cells), ["sector"])
        seconds.append(time.perf_counter() - start)
    assert median(seconds) < 1.0
    assert len(by_sector) == 11 * 9
    assert all(cell.raw.win_or_tie.interval is not None for cell in by_sector)
    return {
        "models": len(counts),
        "claude-45": counts["claude-45"],
        "counts": counts,
        "grades_behind_the_published_rate": graded,
        "cells_with_interval": len(by_sector),
        "breakdown_s": round(median(seconds), 4),
    }
