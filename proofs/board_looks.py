"""The running board: bounds for the figure a study ends with, where quick graders are kind and sets come in order."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

import numpy as np
import polars as pl

from guildhall.analysis.missing import ends_with
from guildhall.analysis.sequential import confidence_sequence
from guildhall.errors import NothingToCompare
from proofs import Figures, proof

TASKS, GRADES, GRADERS, LOOKS = 60, 3, 12, 12
TOGETHER = 0.5
"""How far speed and kindness go together."""


@dataclass(frozen=True)
class Hall:
    """How sets reach graders."""

    pools: int = 1
    """Occupations; a grader judges those of their own."""
    quota: int | None = None
    """So many gradings at most by each grader."""


HALLS = {
    "first come, first served": Hall(),
    "quotas": Hall(quota=-(-TASKS * GRADES // GRADERS)),
    "occupation pools": Hall(pools=3),
    "occupation pools with quotas": Hall(pools=3, quota=-(-TASKS * GRADES // GRADERS)),
}


@dataclass(frozen=True)
class Path:
    """A study as it went: who judged which task, in the order of time, and with what score."""

    task: list[int]
    score: list[float]

    @property
    def end(self) -> float:
        """The figure the study ends with."""
        by_task: dict[int, list[float]] = {}
        for task, score in zip(self.task, self.score, strict=True):
            by_task.setdefault(task, []).append(score)
        return fmean(fmean(scores) for scores in by_task.values())

    def bounds(self, done: int) -> tuple[float, float]:
        """What the board shows after so many gradings."""
        given, total = np.zeros(TASKS), np.zeros(TASKS)
        np.add.at(given, self.task[:done], 1)
        np.add.at(total, self.task[:done], self.score[:done])
        rows = {"group": ["m"] * TASKS, "task": list(range(TASKS)), "total": total, "given": given}
        found = ends_with(pl.DataFrame({**rows, "planned": np.full(TASKS, float(GRADES))}))["m"]
        return found.least, found.most

    def sequence(self, done: int) -> tuple[float, float] | None:
        """A sequence over completed tasks in the order of their completion, as boards are often made."""
        seen: dict[int, list[float]] = {}
        means = []
        for task, score in zip(self.task[:done], self.score[:done], strict=True):
            seen.setdefault(task, []).append(score)
            if len(seen[task]) == GRADES:
                means.append(fmean(seen[task]))
        try:
            return confidence_sequence(np.array(means), n_bank=TASKS, steps=200).now.interval
        except NothingToCompare:
            return None


def path(hall: Hall, rng: np.random.Generator) -> Path:
    """One study: graders of different speed take the next open set of their pool until all is done or quotas are."""
    kind = rng.normal(size=GRADERS)
    speed = np.exp(TOGETHER * kind + np.sqrt(1 - TOGETHER**2) * rng.normal(size=GRADERS))
    quality = rng.normal(size=TASKS)
    order = [int(task) for task in rng.permutation(TASKS)]
    open_ = dict.fromkeys(order, GRADES)
    met: set[tuple[int, int]] = set()
    left = [hall.quota or TASKS] * GRADERS
    ready = rng.exponential(size=GRADERS) / speed
    made = Path([], [])
    while np.isfinite(ready).any():
        grader = int(np.argmin(ready))
        mine = (t for t in order if open_[t] and (t, grader) not in met and t % hall.pools == grader % hall.pools)
        task = next(mine, None)
        if task is None or not left[grader]:
            ready[grader] = np.inf
            continue
        met.add((task, grader))
        open_[task] -= 1
        left[grader] -= 1
        ready[grader] += rng.exponential() / speed[grader]
        chance = 1 / (1 + np.exp(-(quality[task] + kind[grader])))
        made.task.append(task)
        made.score.append(float(rng.random() < chance))
    return made


def walk(hall: Hall, *, runs: int, seed: int) -> Figures:
    """How many paths ever left the final figure outside, at looks spread over the study, and how wide bounds are."""
    rng, wrong, wrong_sequence = np.random.default_rng(seed), 0, 0
    widths: list[list[float]] = [[] for _ in range(LOOKS)]
    for _ in range(runs):
        one = path(hall, rng)
        out, out_sequence = False, False
        for look in range(LOOKS):
            done = max(1, len(one.task) * (look + 1) // (LOOKS + 1))
            low, high = one.bounds(done)
            widths[look].append(high - low)
            out |= not low - 1e-12 <= one.end <= high + 1e-12
            sequence = one.sequence(done)
            out_sequence |= sequence is not None and not sequence[0] <= one.end <= sequence[1]
        wrong, wrong_sequence = wrong + out, wrong_sequence + out_sequence
    return {
        "runs": runs,
        "ever_wrong": wrong,
        "ever_wrong_by_completed_tasks": wrong_sequence,
        "mean_width_at_a_quarter_half_three_quarters": [
            round(fmean(widths[round(share * LOOKS) - 1]), 3) for share in (0.25, 0.5, 0.75)
        ],
    }


@proof(
    "board-looks",
    "The board's bounds hold the figure the study ends with at every look, where speed and kindness go together "
    "(.5), in occupation pools, with quotas and without",
    tier="prove",
    budget_s=900,
)
def bounds_hold_at_every_look() -> Figures:
    found = {name: walk(hall, runs=300, seed=at) for at, (name, hall) in enumerate(HALLS.items())}
    assert all(one["ever_wrong"] == 0 for one in found.values()), found
    return dict(found)
