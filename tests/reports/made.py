"""Findings made up for tests: two models, three sectors, one small cell without an interval."""

from __future__ import annotations

from datetime import date

from guildhall.domain.ablations import Ablation
from guildhall.domain.calibrations import ModelCalibration, ReliabilityPoint
from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Breakdown, CellRecord, Counts, Figure, FigureGroup, Findings, ModelRecord
from guildhall.domain.reasons import ReasonExample, Reasons, ReasonShare
from guildhall.domain.speed_and_cost import ModelSpeedAndCost, Ratios, SpeedAndCost
from guildhall.domain.trends import DatedRate, TrendFinding


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


def times(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    ends = (low, high) if low is not None and high is not None else None
    why = None if ends else "plug-in only: 10% of tasks were never won"
    return Estimate(value=value, interval=ends, estimand="E[H] / E[T]", method="tasks resampled", why_no_interval=why)


def ratios(scale: float) -> Ratios:
    return Ratios(
        naive=times(90 * scale, 80 * scale, 100 * scale),
        try_once=times(1.1 * scale, 1.0 * scale, 1.2 * scale),
        try_n={n: times((1 + 0.1 * n) * scale, (0.9 + 0.1 * n) * scale, (1.1 + 0.1 * n) * scale) for n in range(1, 6)},
        limit=times(1.6 * scale),
        never_won=0.1,
        break_even_review=153.1,
        break_even_model=48.5,
    )


SAVINGS = SpeedAndCost(
    w="win",
    hours_by="hours stated with the task",
    review_by="active time at a grader's first sight of the task",
    success_by="simulated graders against the expert",
    models=tuple(
        ModelSpeedAndCost(model=name, success_rate=w, n_tasks=40, n_excluded=2, speed=ratios(w + 0.7), cost=cost)
        for name, w, cost in (("=beta()", 0.5, ratios(1.4)), ("alpha", 0.28, None))
    ),
    left_out="left out: review of human work",
)
REASONS = Reasons(
    coder="ann",
    others=("a model",),
    coded=300,
    blank=12,
    uncoded=4,
    shares=tuple(
        ReasonShare(model=model, side=side, label=label, share=rate(share, share - 0.05, share + 0.05))
        for model in ("alpha", "=beta()")
        for side in ("lost", "won")
        for label, share in (("accuracy", 0.4), ("formatting", 0.3), ("clarity", 0.1))
    ),
    agreement=(("the same label", rate(0.7, 0.6, 0.8)), ("Krippendorff's alpha", rate(0.55, 0.4, 0.7))),
    examples=(
        ReasonExample(
            label="accuracy",
            side="lost",
            model="alpha",
            task="t-1",
            judgment="a" * 64,
            words="The <sums> are wrong & do not add up.",
        ),
    ),
)

CALIBRATIONS = tuple(
    ModelCalibration(
        model=model,
        against=against,
        brier=rate(0.2 + shift, 0.15 + shift, 0.25 + shift),
        overconfidence=rate(0.1 + shift, 0.02, 0.3),
        curve=tuple(
            ReliabilityPoint(claimed=claimed, came_true=came)
            for claimed, came in ((0.4, rate(0.4 - shift, 0.2, 0.6)), (0.7, rate(0.5, 0.4, 0.7)), (0.9, rate(0.6)))
        ),
    )
    for against in ("share of graders who found the work usable as it is", "half-tie rate against the expert")
    for model, shift in (("alpha", 0.05), ("=beta()", 0.1))
)
ABLATIONS = (
    Ablation(
        setting="reasoning_effort",
        base="alpha low",
        base_level="low",
        changed="alpha high",
        changed_level="high",
        difference={
            name: rate(value, value - 0.04, value + 0.05) for name, value in (("win", 0.05), ("win_or_tie", 0.06))
        },
    ),
    Ablation(
        setting="prompt",
        base="alpha",
        base_level="plain",
        changed="alpha tuned",
        changed_level="elicited",
        difference={"win": rate(-0.03), "win_or_tie": rate(-0.02)},
    ),
)
TREND = TrendFinding(
    slope_per_year=rate(0.2, 0.1, 0.3),
    scatter=0.02,
    points=(
        DatedRate(model="alpha", released=date(2025, 1, 1), rate=rate(0.36, 0.28, 0.45)),
        DatedRate(model="=beta()", released=date(2026, 1, 1), rate=rate(0.56, 0.46, 0.65)),
    ),
    line=((date(2025, 1, 1), rate(0.36, 0.3, 0.42)), (date(2026, 1, 1), rate(0.56, 0.48, 0.64))),
    undated=("gamma",),
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
    trend=TREND,
    ablations=ABLATIONS,
    calibrations=CALIBRATIONS,
    savings=SAVINGS,
    reasons=REASONS,
    groups=(
        FigureGroup(
            name="blinding",
            title="Did the blind hold?",
            words="0 when it held.",
            figures=(Figure(name="alpha", estimate=rate(0.1, -0.05, 0.25)),),
        ),
        FigureGroup(
            name="agreement",
            title="Agreement between graders",
            words="How often they agree.",
            in_percent=True,
            figures=(
                Figure(name="graders with each other", estimate=rate(0.8, 0.7, 0.9)),
                Figure(name="always-human with them (constant)", estimate=rate(0.75)),
            ),
        ),
    ),
    methods=("Each set shows 2 deliverables.",),
    version="0.1.0",
)
