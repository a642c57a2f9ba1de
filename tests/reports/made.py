"""Findings made up for tests: two models, three sectors, one small cell without an interval."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, CellRecord, Counts, Figure, FigureGroup, Findings, ModelRecord


def rate(value: float, low: float | None = None, high: float | None = None, *, n: int = 40) -> Estimate:
    ends = (low, high) if low is not None and high is not None else None
    return Estimate(
        value=value,
        interval=ends,
        estimand="a rate",
        n_tasks=n,
        n_judgments=9 * n,
        method="t over tasks",
        why_no_interval=None if ends else "2 task(s); an interval needs at least 3",
    )


def cell(model: str, sector: str, value: float, *, small: bool = False) -> CellRecord:
    own = rate(value, n=2) if small else rate(value, value - 0.1, value + 0.1, n=12)
    return CellRecord(
        model=model,
        levels={"sector": sector},
        wins=4,
        ties=1,
        losses=5,
        win_or_tie=own,
        band=None,
        pooled=rate(0.4, 0.3, 0.5),
    )


FINDINGS = Findings(
    study="s",
    title="A study <of> tests & tables",
    design_digest="0" * 64,
    seed=7,
    baseline="expert",
    grader_kind="simulated",
    simulated=True,
    counts=Counts(
        tasks=42,
        tasks_compared=40,
        tasks_without_expert=2,
        submissions=120,
        comparisons=80,
        judgments=720,
        failures=3,
        surplus=5,
        omissions=1,
    ),
    headline=(
        ModelRecord(
            model="alpha",
            wins=100,
            ties=30,
            losses=230,
            win=rate(0.28, 0.2, 0.36),
            win_or_tie=rate(0.36, 0.28, 0.45),
            half_tie=rate(0.32, 0.25, 0.4),
        ),
        ModelRecord(
            model="=beta()",
            wins=180,
            ties=20,
            losses=160,
            win=rate(0.5, 0.4, 0.6),
            win_or_tie=rate(0.56, 0.46, 0.65),
            half_tie=rate(0.53, 0.44, 0.62),
        ),
    ),
    breakdowns=(
        Breakdown(
            title="By sector",
            by=("sector",),
            cells=(
                cell("alpha", "Information", 0.3),
                cell("=beta()", "Information", 0.6),
                cell("alpha", "Government", 0.5, small=True),
                cell("=beta()", "Government", 0.7),
            ),
        ),
    ),
    groups=(
        FigureGroup(
            name="blinding",
            title="Did the blind hold?",
            words="0 when it held.",
            figures=(Figure(name="alpha", estimate=rate(0.1, -0.05, 0.25)),),
        ),
    ),
    methods=("Each set shows 2 deliverables.",),
    version="0.1.0",
)
