"""Automatic graders of every kind behind one small interface: a model, a panel of models, a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan, Medium, PanelPlan
from guildhall.engine.terms import Terms
from guildhall.grading.judges.asking import Asked
from guildhall.grading.judges.baselines import baseline_grader, judge_by_baseline
from guildhall.grading.judges.desk import Desk, Faults
from guildhall.grading.judges.panel_asking import ask_panel
from guildhall.grading.judges.verdicts import Judged, ask_judge
from guildhall.judging.comparing import judge_of


class AutomaticGrader(Protocol):
    """What the queue needs of a grader: its name, the keys its verdicts stand under, and asking it."""

    @property
    def name(self) -> str: ...

    @property
    def takes(self) -> tuple[Medium, ...]: ...

    @property
    def repeats(self) -> bool:
        """Whether asking again may give another verdict."""
        ...

    def graders(self) -> tuple[ModelGrader, ...]: ...

    def ask(self, wanted: Iterable[Asked], *, desk: Desk, terms: Terms) -> Judged: ...


@dataclass(frozen=True)
class ByModel:
    plan: JudgePlan
    repeats = True

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def takes(self) -> tuple[Medium, ...]:
        return self.plan.takes

    def graders(self) -> tuple[ModelGrader, ...]:
        return judge_of(self.plan, places=2), judge_of(self.plan, places=3)

    def ask(self, wanted: Iterable[Asked], *, desk: Desk, terms: Terms) -> Judged:
        return ask_judge(self.plan, wanted, desk=desk, terms=terms)


@dataclass(frozen=True)
class ByPanel:
    plan: PanelPlan
    repeats = True

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def takes(self) -> tuple[Medium, ...]:
        return tuple(sorted({medium for member in self.plan.members for medium in member.takes}))

    def graders(self) -> tuple[ModelGrader, ...]:
        return (self.plan.grader,)

    def ask(self, wanted: Iterable[Asked], *, desk: Desk, terms: Terms) -> Judged:
        return ask_panel(self.plan, wanted, desk=desk, terms=terms)


@dataclass(frozen=True)
class ByBaseline:
    """No model: the same work always gets the same verdict, so that one sweep is enough."""

    name: str
    takes: tuple[Medium, ...] = ("image",)
    repeats = False

    def graders(self) -> tuple[ModelGrader, ...]:
        return (baseline_grader(self.name),)

    def ask(self, wanted: Iterable[Asked], *, desk: Desk, terms: Terms) -> Judged:
        faults = Faults()
        verdicts = judge_by_baseline(self.name, wanted, desk=desk, now=terms.date(), faults=faults)
        return Judged(verdicts, faults=faults.count, why_fault=faults.why)
