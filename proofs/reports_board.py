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
CLAUDE_45 = (901, 279, 800)


class Cell(NamedTuple):
    """One model in one occupation: its counts, where the published rates are exact shares of 45."""

    sector: str
    occupation: str
    model: str
    counts: tuple[int, int, int] | None


def recovered(win_rate: float, win_or_tie_rate: float, grades: int) -> tuple[int, int, int] | None:
    """Wins, ties and losses behind two published rates; None where they are no whole numbers of grades."""
    wins, not_lost = win_rate * grades, win_or_tie_rate * grades
    if max(abs(wins - round(wins)), abs(not_lost - round(not_lost))) > 1e-6:
        return None
    return round(wins), round(not_lost) - round(wins), grades - round(not_lost)


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


@proof(
    "reports-board",
    "The counts recovered from the public board give its overall rates, and rates by sector with intervals "
    "in under a second",
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
    gaps = [
        abs((measured.value or 0.0) - rate)
        for name, (win, either) in published.items()
        if name in rates
        for measured, rate in ((rates[name].win, win), (rates[name].win_or_tie, either))
    ]
    assert max(gaps) < 1e-5, "the board prints some rates to five places"
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
        "largest_gap_to_a_published_rate": max(gaps),
        "cells_with_interval": len(by_sector),
        "breakdown_s": round(median(seconds), 4),
    }
