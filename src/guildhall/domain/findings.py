"""Findings: everything a report says about a study, as estimates with their counts. Reports only show them."""

from __future__ import annotations

from guildhall.domain.ablations import Ablation
from guildhall.domain.calibrations import ModelCalibration
from guildhall.domain.estimates import Estimate
from guildhall.domain.reasons import Reasons
from guildhall.domain.speed_and_cost import SpeedAndCost
from guildhall.domain.trends import TrendFinding
from guildhall.domain.values import Id, Value


class Counts(Value):
    """What went in, and what stayed out and why: both denominators of every figure."""

    tasks: int
    tasks_compared: int
    tasks_without_expert: int
    submissions: int
    comparisons: int
    judgments: int
    failures: int
    """Judgments without a verdict: refusals, unreadable replies, provider errors. Counted, never a tie."""
    surplus: int
    """Judgments that came after their slot was filled, or beyond the plan: kept out of primary estimates."""
    omissions: int
    """Files or parts of files that could not be shown, over all sides."""


class ModelRecord(Value):
    """One model against the baseline."""

    model: str
    wins: int
    ties: int
    losses: int
    win: Estimate
    win_or_tie: Estimate
    half_tie: Estimate


class CellRecord(Value):
    """One model in one cell of a breakdown; `pooled` leans on the model's other cells and says so."""

    model: str
    levels: dict[str, str]
    wins: int
    ties: int
    losses: int
    win_or_tie: Estimate
    band: tuple[float, float] | None
    pooled: Estimate | None


class Breakdown(Value):
    title: str
    by: tuple[str, ...]
    cells: tuple[CellRecord, ...]


class Figure(Value):
    """One named estimate, with the sentence a reader needs beside it."""

    name: str
    estimate: Estimate
    words: str = ""


class FigureGroup(Value):
    """One chapter of plain figures; `name` is short, without blanks, and names its plot and its place on the page."""

    name: Id
    title: str
    words: str
    figures: tuple[Figure, ...]
    in_percent: bool = False
    """Whether its figures are shares, and are written so."""


class TaskRates(Value):
    """Each task's own rates by model, from which two reports are compared paired by task.

    `tasks` are keys with their version: a task that was changed is another task. Each model has one entry for each
    task, absent where the model was not judged on it.
    """

    tasks: tuple[str, ...]
    win: dict[str, tuple[float | None, ...]]
    win_or_tie: dict[str, tuple[float | None, ...]]

    def of(self, model: str, convention: str) -> dict[str, float]:
        """Task -> the model's mean there, for `win`, `win_or_tie` or `half_tie`."""
        rates = zip(self.tasks, self.win[model], self.win_or_tie[model], strict=True)
        known = {task: (win, either) for task, win, either in rates if win is not None and either is not None}
        share_of_ties = {"win": 0.0, "win_or_tie": 1.0, "half_tie": 0.5}[convention]
        return {task: win + share_of_ties * (either - win) for task, (win, either) in known.items()}


class Findings(Value):
    """A whole report's content. `grader_kind` stands in every caption; simulated graders are named as such."""

    study: str
    title: str
    design_digest: str
    seed: int
    baseline: str
    grader_kind: str
    simulated: bool
    counts: Counts
    headline: tuple[ModelRecord, ...]
    task_rates: TaskRates | None = None
    breakdowns: tuple[Breakdown, ...] = ()
    trend: TrendFinding | None = None
    savings: SpeedAndCost | None = None
    reasons: Reasons | None = None
    ablations: tuple[Ablation, ...] = ()
    calibrations: tuple[ModelCalibration, ...] = ()
    groups: tuple[FigureGroup, ...] = ()
    methods: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    version: str
