"""Grades that go missing because of what they would have been: bounds hold, and how often the plain interval does."""

from __future__ import annotations

import numpy as np
import polars as pl

from guildhall.analysis.missing import filled, on_common_tasks
from guildhall.analysis.outcomes import LOSS, WIN, Outcomes, outcomes_from_arrays
from guildhall.analysis.pairs import BREAKDOWNS
from guildhall.analysis.win_rates import win_rates
from proofs import Figures, proof

TASKS, GRADES, GRADERS, RUNS = 60, 3, 15, 600
LOST = {"as they are losses": (0.3, 0.1), "at random": (0.2, 0.2)}
"""The share of grades that are never given, of losses and of all others."""


def study(rng: np.random.Generator, lost: tuple[float, float]) -> tuple[Outcomes, Outcomes, pl.DataFrame]:
    """All grades of one model, those that were given, and how many each work lacks."""
    easy, severe = rng.normal(size=TASKS), rng.normal(scale=0.5, size=GRADERS)
    by = np.stack([rng.permutation(GRADERS)[:GRADES] for _ in range(TASKS)]).reshape(-1)
    task = np.repeat(np.arange(TASKS), GRADES)
    score = (rng.random(len(task)) < 1 / (1 + np.exp(-(easy[task] + severe[by])))).astype(float)
    gone = rng.random(len(task)) < np.where(score == 0.0, *lost)

    def of(which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Outcomes:
        names = [f"t{number}" for number in task[which].tolist()]
        graders = [f"g{number}" for number in by[which].tolist()]
        groups = {name: ["all"] * len(names) for name in BREAKDOWNS}
        return outcomes_from_arrays(
            task=names, model=["m"] * len(names), score=score[which], grader=graders, groups=groups
        )

    lacking = np.bincount(task[gone], minlength=TASKS)
    rows = pl.DataFrame({"id": [f"t{number}" for number in range(TASKS)], "lacking": lacking}).filter(
        pl.col("lacking") > 0
    )
    facts = {name: pl.lit("all") for name in ("sector", "occupation", "specification", "kinds", "condition", "effort")}
    numbers = {"hours": pl.lit(1.0), "references": pl.lit(0)}
    rows = rows.with_columns(model=pl.lit("m"), sample=pl.lit("1"), **facts, **numbers)
    return of(np.ones(len(task), dtype=np.bool_)), of(~gone), rows


def walk(lost: tuple[float, float], *, runs: int, seed: int) -> Figures:
    """How often the rate of all grades lies between the bounds, and how often each interval holds the true rate."""
    rng = np.random.default_rng(seed)
    between = plain = bounded = 0
    widths = []
    for _ in range(runs):
        whole, given, lacking = study(rng, lost)
        all_, now = (win_rates(one)[0].half_tie for one in (whole, given))
        low, high = (win_rates(filled(given, lacking, halves=end))[0].half_tie for end in (LOSS, WIN))
        assert all_.value is not None and low.value is not None and high.value is not None
        between += low.value - 1e-12 <= all_.value <= high.value + 1e-12
        ends = (0.0 if low.interval is None else low.interval[0], 1.0 if high.interval is None else high.interval[1])
        bounded += ends[0] <= 0.5 <= ends[1]
        plain += now.interval is not None and now.interval[0] <= 0.5 <= now.interval[1]
        widths.append(high.value - low.value)
        assert len(on_common_tasks(given).halves) == len(given.halves)
    return {
        "runs": runs,
        "rate_of_all_grades_between_the_bounds": between,
        "true_rate_within_the_bounds_intervals": round(bounded / runs, 3),
        "true_rate_within_the_plain_interval": round(plain / runs, 3),
        "mean_distance_of_the_bounds": round(float(np.mean(widths)), 3),
    }


@proof(
    "missing-grades",
    "Where grades are missing because they are losses (30 % against 10 %), the rate of all grades lies between the "
    "bounds in every run, and their intervals hold the true rate in at least 95 %; plain coverage is told beside",
    tier="prove",
    budget_s=600,
)
def bounds_hold_whatever_made_grades_missing() -> Figures:
    found = {name: walk(lost, runs=RUNS, seed=at) for at, (name, lost) in enumerate(LOST.items())}
    for one in found.values():
        assert one["rate_of_all_grades_between_the_bounds"] == one["runs"], found
        assert one["true_rate_within_the_bounds_intervals"] >= 0.95, found
    return dict(found)
