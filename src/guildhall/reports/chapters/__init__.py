"""The chapters of a report, in the order a reader meets them. A new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.evidence import Evidence, Need
from guildhall.domain.report import Section
from guildhall.reports.chapters.ablations import Ablations
from guildhall.reports.chapters.boswell_marks import (
    BiasOfGraders,
    GradesGiven,
    GradesReceived,
    MarksUnread,
    PeopleBeside,
    Repeatability,
    RunCost,
    RunTiming,
)
from guildhall.reports.chapters.boswell_ranking import CorrectedRanking, OrderExplained, QuotientRanking, Settling
from guildhall.reports.chapters.confidence import Confidence
from guildhall.reports.chapters.faults import (
    Blinding,
    Formatting,
    FormattingRules,
    LossSeverity,
    PerHundred,
    Steering,
    Tells,
)
from guildhall.reports.chapters.graders import (
    BeyondChance,
    GraderAgreement,
    Order,
    ReviewTime,
    Scorecard,
    WaveDrift,
    WithoutOneGrader,
)
from guildhall.reports.chapters.headline import Breakdowns, Headline
from guildhall.reports.chapters.joined import Joined
from guildhall.reports.chapters.missing import MissingWork
from guildhall.reports.chapters.ranks import Ranks
from guildhall.reports.chapters.reasons import WhyWorkLost
from guildhall.reports.chapters.savings import SavingsChapter
from guildhall.reports.chapters.trend import ReleaseTrend

E_contra = TypeVar("E_contra", contravariant=True)


class Chapter(Protocol[E_contra]):
    """One chapter: the facts it needs beside the judgments, and the section it makes of them; None without any."""

    @property
    def needs(self) -> frozenset[Need]: ...

    def section(self, evidence: E_contra, /) -> Section | None: ...


STUDY_CHAPTERS: Sequence[Chapter[Evidence]] = (
    Joined(),
    Headline(),
    Ranks(),
    MissingWork(),
    Breakdowns(),
    ReleaseTrend(),
    Ablations(),
    SavingsChapter(),
    WhyWorkLost(),
    Confidence(),
    WaveDrift(),
    WithoutOneGrader(),
    GraderAgreement(),
    Scorecard(),
    BeyondChance(),
    Order(),
    Blinding(),
    Tells(),
    LossSeverity(),
    PerHundred(),
    Formatting(),
    FormattingRules(),
    Steering(),
    ReviewTime(),
)
BOSWELL_CHAPTERS: Sequence[Chapter[RunFigures]] = (
    QuotientRanking(),
    OrderExplained(),
    GradesReceived(),
    GradesGiven(),
    BiasOfGraders(),
    CorrectedRanking(),
    Settling(),
    Repeatability(),
    PeopleBeside(),
    MarksUnread(),
    RunCost(),
    RunTiming(),
)
