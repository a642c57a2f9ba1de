"""A report made up for tests: two models, two sectors, one small cell without an interval, and every own chapter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace
from typing import cast

from guildhall.analysis.breakdown import CellRate
from guildhall.analysis.calibration import Calibration, Reliable
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.savings import Savings
from guildhall.analysis.savings_files import ModelSavings, SpeedAndCost
from guildhall.analysis.win_rates import WinRate
from guildhall.domain.estimates import Estimate, Success
from guildhall.domain.policy import GraderGroup, Policy, Rule
from guildhall.domain.report import Column, DatedPoint, Quotation, Report, ReportAnswer, ReportTable, Section
from guildhall.reports.chapters.ablations import Ablation, ablations_section
from guildhall.reports.chapters.confidence import ModelCalibration, confidence_section
from guildhall.reports.chapters.figures import figure_section
from guildhall.reports.chapters.headline import COUNTS, MODEL, Headline, breakdowns_section
from guildhall.reports.chapters.reasons import ReasonShare, reasons_section
from guildhall.reports.chapters.savings import savings_section
from guildhall.reports.chapters.trend import FittedTrend, trend_section
from guildhall.reports.reporting import conclusions

SIMULATED = GraderGroup.parse("simulated")
POLICY = Policy(studies=("s",), baseline="expert", graders=SIMULATED)


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


def headline_of(rates: Sequence[WinRate]) -> Section:
    """The headline of models with these rates, whatever they rest on."""
    models = [one.model for one in sorted(rates, key=lambda one: -(one.half_tie.value or 0.0))]
    evidence = SimpleNamespace(rates=rates, models=models, counted=SimpleNamespace(policy=POLICY), level=0.95)
    return Headline().section(cast("Evidence", evidence))


def cell(model: str, sector: str, value: float, *, small: bool = False) -> CellRate:
    own = rate(value, n=2) if small else rate(value, value - 0.1, value + 0.1, n=12)
    return CellRate(
        model=model,
        levels={"sector": sector},
        wins=4,
        ties=1,
        losses=5,
        rate=own,
        band=None,
        pooled=rate(0.4, 0.3, 0.5),
    )


def times(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    ends = (low, high) if low is not None and high is not None else None
    why = None if ends else "plug-in only: 10% of tasks were never won"
    return Estimate(value=value, interval=ends, estimand="E[H] / E[T]", method="tasks resampled", why_no_interval=why)


def saved(scale: float) -> Savings:
    return Savings(
        w=Success.WIN,
        win_rate=0.5,
        naive=times(90 * scale, 80 * scale, 100 * scale),
        try_once=times(1.1 * scale, 1.0 * scale, 1.2 * scale),
        try_n={n: times((1 + 0.1 * n) * scale, (0.9 + 0.1 * n) * scale, (1.1 + 0.1 * n) * scale) for n in range(1, 6)},
        limit=times(1.6 * scale),
        never_won=0.1,
        break_even_review=153.1,
        break_even_model=48.5,
        break_even_win_rate=None,
    )


SAVINGS = SpeedAndCost(
    models=tuple(
        ModelSavings(name, w, saved(w + 0.7), cost, 40, 2)
        for name, w, cost in (("=beta()", 0.5, saved(1.4)), ("alpha", 0.28, None))
    ),
    w=Success.WIN,
    hours_by="hours stated with the task",
    review_by="active time at a grader's first sight of the task",
    success_by="simulated graders against the expert",
)
SHARES = tuple(
    ReasonShare(model, side, label, rate(share, share - 0.05, share + 0.05))
    for model in ("alpha", "=beta()")
    for side in ("lost", "won")
    for label, share in (("accuracy", 0.4), ("formatting", 0.3), ("clarity", 0.1))
)
CALIBRATIONS = tuple(
    ModelCalibration(
        model,
        against,
        Calibration(
            against=against,
            brier=rate(0.2 + shift, 0.15 + shift, 0.25 + shift),
            overconfidence=rate(0.1 + shift, 0.02, 0.3),
            curve=tuple(
                Reliable(low=claimed - 0.1, high=claimed + 0.1, claimed=claimed, came_true=came)
                for claimed, came in ((0.4, rate(0.4 - shift, 0.2, 0.6)), (0.7, rate(0.5, 0.4, 0.7)), (0.9, rate(0.6)))
            ),
        ),
    )
    for against in ("share of graders who found the work usable as it is", "half-tie rate against the expert")
    for model, shift in (("alpha", 0.05), ("=beta()", 0.1))
)
ABLATIONS = (
    Ablation(
        "reasoning_effort",
        "alpha low",
        "low",
        "alpha high",
        "high",
        {name: rate(value, value - 0.04, value + 0.05) for name, value in (("win", 0.05), ("win_or_tie", 0.06))},
    ),
    Ablation("prompt", "alpha", "plain", "alpha tuned", "elicited", {"win": rate(-0.03), "win_or_tie": rate(-0.02)}),
)
TREND = FittedTrend(
    points=(
        DatedPoint(name="alpha", day=date(2025, 1, 1), rate=rate(0.36, 0.28, 0.45)),
        DatedPoint(name="=beta()", day=date(2026, 1, 1), rate=rate(0.56, 0.46, 0.65)),
    ),
    slope=rate(0.2, 0.1, 0.3),
    scatter=0.02,
    line=((date(2025, 1, 1), rate(0.36, 0.3, 0.42)), (date(2026, 1, 1), rate(0.56, 0.48, 0.64))),
    left_out=("gamma",),
)
RATES = (
    WinRate(
        model="alpha",
        wins=100,
        ties=30,
        losses=230,
        win=rate(0.28, 0.2, 0.36),
        win_or_tie=rate(0.36, 0.28, 0.45),
        half_tie=rate(0.32, 0.25, 0.4),
    ),
    WinRate(
        model="=beta()",
        wins=180,
        ties=20,
        losses=160,
        win=rate(0.5, 0.4, 0.6),
        win_or_tie=rate(0.56, 0.46, 0.65),
        half_tie=rate(0.53, 0.44, 0.62),
    ),
)
CELLS = (
    cell("alpha", "Information", 0.3),
    cell("=beta()", "Information", 0.6),
    cell("alpha", "Government", 0.5, small=True),
    cell("=beta()", "Government", 0.7),
)
REASON_WORDS = (
    "Graders' justifications, each coded by ann into the one label that names its main reason. 300 were coded, 12 of "
    "them left blank because no one reason stands out; 4 were not coded.",
)
EXAMPLES = (
    Quotation(
        under="lost, accuracy",
        words="The <sums> are wrong & do not add up.",
        source=f"alpha on t-1; judgment {'a' * 16}",
    ),
)
CODERS = {"the same label": rate(0.7, 0.6, 0.8), "Krippendorff's alpha": rate(0.55, 0.4, 0.7)}
BLINDING = figure_section("blinding", "Did the blind hold?", "0 when it held.", [("alpha", rate(0.1, -0.05, 0.25))])
AGREEMENT = figure_section(
    "agreement",
    "Agreement between graders",
    "How often they agree.",
    [("graders with each other", rate(0.8, 0.7, 0.9)), ("always-human with them (constant)", rate(0.75))],
    form="percent",
    traced=True,
)
_SECTIONS = (
    headline_of(RATES),
    breakdowns_section({"sector": CELLS}, ["=beta()", "alpha"]),
    trend_section(TREND),
    ablations_section(ABLATIONS),
    savings_section(SAVINGS, rates={one.model: one.win for one in RATES}),
    reasons_section("ann", SHARES, CODERS, REASON_WORDS, EXAMPLES),
    confidence_section(CALIBRATIONS),
    BLINDING,
    AGREEMENT,
)
SECTIONS: tuple[Section, ...] = tuple(section for section in _SECTIONS if section is not None)
_HALF = Column(name="half_tie", title="half tie", form="percent")
EXPLORED = (
    ReportTable(
        name="cells-by-sector",
        title="sector",
        columns=(Column(name="sector", title="sector"), MODEL, *COUNTS, _HALF),
        rows=tuple((one.levels["sector"], one.model, one.wins, one.ties, one.losses, one.rate) for one in CELLS),
        traced=True,
    ),
    ReportTable(
        name="pairs",
        columns=(
            *(Column(name=name, title=name) for name in ("breakdown", "level", "model", "other", "told")),
            Column(name="difference", title="difference", form="points"),
        ),
        rows=(
            ("all tasks", "all tasks", "=beta()", "alpha", "better", rate(0.21, 0.1, 0.32)),
            ("sector", "Information", "=beta()", "alpha", "not told apart", rate(0.3, -0.1, 0.7, n=12)),
        ),
    ),
    ReportTable(
        name="by-task",
        columns=(MODEL, Column(name="task", title="task"), Column(name="sector", title="sector"), *COUNTS),
        rows=(("=beta()", "t-1", "Information", 2, 0, 1), ("alpha", "t-1", "Information", 0, 1, 2)),
    ),
)
CONCLUSIONS = conclusions(SECTIONS, baseline="expert", group=SIMULATED)
REPORT = Report(
    study="s",
    title="A study <of> tests & tables",
    design_digest="0" * 64,
    seed=7,
    policy=POLICY,
    left_out=dict.fromkeys(Rule, 0) | {Rule.NO_VERDICT: 3, Rule.SURPLUS: 5},
    counts={
        "tasks": 42,
        "tasks_compared": 40,
        "tasks_without_expert": 2,
        "submissions": 120,
        "comparisons": 80,
        "judgments": 720,
        "omissions": 1,
    },
    warnings=("The graders of this study are simulated: these figures say nothing about any model.",),
    conclusions=CONCLUSIONS,
    answer=ReportAnswer(
        words=CONCLUSIONS,
        state="rehearsal",
        done=0.5,
        departures=1,
        dated=date(2026, 2, 3),
        rests_on=("40 of 42 tasks", "6 simulated graders, 720 judgments"),
        caveat="The graders are simulated: no figure here is about any model.",
    ),
    sections=SECTIONS,
    explored=EXPLORED,
    methods=("Each set shows 2 deliverables.",),
    version="0.1.0",
)
