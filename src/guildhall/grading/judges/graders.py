"""Automatic graders of every kind behind one small interface: a model, a panel of models, a baseline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from random import Random
from typing import Protocol

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan, Medium, PanelPlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import FREE
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.terms import Terms
from guildhall.errors import InputError
from guildhall.grading.judges.asking import Asked, Place
from guildhall.grading.judges.baselines import baseline_grader, judge_by_baseline
from guildhall.grading.judges.desk import Faults, JudgeDesk
from guildhall.grading.judges.verdicts import BATCH, AskingOutcome, ask_judge
from guildhall.judging.comparing import judge_of
from guildhall.judging.requests import recordings


def seated(panel: PanelPlan, comparison: Comparison, sweep: int, media: set[str]) -> tuple[JudgePlan, ...]:
    """Who sits on one sweep of a comparison: by seed, the same for every order, so that orders can be compared.

    Work with sound or moving pictures goes to members that take them; when there is none, to all, and what they
    cannot take is a counted omission.
    """
    if not panel.members:
        raise InputError(f"panel {panel.name!r} has no members; name its judges under [[judges]]")
    able = [member for member in panel.members if media <= set(member.takes)] or list(panel.members)
    if panel.draw is None or panel.draw >= len(able):
        return tuple(able)
    rng = Random(sha256(canonical_json([panel.seed, comparison.key, sweep])))
    return tuple(rng.sample(able, panel.draw))


def deal(panel: PanelPlan, asked: Asked, desk: JudgeDesk) -> list[tuple[JudgePlan, Asked]]:
    """A wanted verdict with each member that sits on it."""
    media = set().union(*(recordings(desk.prepared(key)) for key in asked.comparison.submissions))
    return [(member, asked) for member in seated(panel, asked.comparison, asked.sweep, media)]


def combine(panel: PanelPlan, place: Place, verdicts: Sequence[Judgment]) -> Judgment:
    """One verdict from the members' on the same order of the same sweep.

    Sides are ranked by their mean rank, weighted; equal means tie. A member's failure takes no part and is said; when
    all failed the panel failed too.
    """
    comparison, order, sweep = place
    valid = [one for one in verdicts if one.ranks is not None]
    usage = sum((one.usage for one in verdicts if one.usage), start=FREE)
    told = f"{len(valid)} of {len(verdicts)} members gave a verdict"
    failures = "; ".join(sorted(str(one.failure) for one in verdicts if one.failure))
    ranks = _ranked(valid, panel.weights, len(order)) if valid else None
    return Judgment(
        comparison=comparison,
        grader=panel.grader,
        order=order,
        ranks=ranks,
        failure=None if ranks else f"no member gave a verdict: {failures}",
        reason=told if ranks else "",
        sweep=sweep,
        usage=usage,
        omissions=verdicts[0].omissions,
        made_at=max(one.made_at for one in verdicts),
    )


def _ranked(valid: Sequence[Judgment], weights: Mapping[str, float], places: int) -> tuple[int, ...]:
    said = [(one.ranks, weights.get(one.grader.name, 1.0)) for one in valid if isinstance(one.grader, ModelGrader)]
    means = [sum(ranks[place] * weight for ranks, weight in said if ranks) for place in range(places)]
    return tuple(1 + sum(other < own - 1e-9 for other in means) for own in means)


def ask_panel(panel: PanelPlan, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms) -> AskingOutcome:
    """Ask every seated member for every wanted verdict; a panel's verdict is kept once all who sit have answered."""
    total, stream = AskingOutcome(), iter(wanted)
    while batch := list(islice(stream, BATCH)):
        faults = Faults()
        seats = [seat for one in batch for seat in faults.unless(partial(deal, panel, one, desk)) or ()]
        shares: dict[str, list[Asked]] = defaultdict(list)
        for member, asked in seats:
            shares[member.name].append(asked)
        for member in panel.members:
            answered = ask_judge(member, _unanswered(member, shares[member.name], desk), desk=desk, terms=terms)
            if answered.left:
                return total + AskingOutcome(left=len(batch) + sum(1 for _ in stream), why_left=answered.why_left)
            total += AskingOutcome(why_fault=answered.why_fault)
        sitting = [(asked, [member for member, one in seats if one is asked]) for asked in batch]
        complete = [(asked, heard) for asked, members in sitting if (heard := _all_heard(members, asked, desk))]
        made = [_panel_verdict(panel, asked, heard) for asked, heard in complete]
        desk.keep(made)
        failed = sum(one.ranks is None for one in made)
        total += AskingOutcome(len(made) - failed, failed, faults=len(batch) - len(made), why_fault=faults.why)
    return total


def _unanswered(member: JudgePlan, asked: Iterable[Asked], desk: JudgeDesk) -> list[Asked]:
    """A member that gave its verdict earlier, alone or on another panel, is not asked again."""
    return [one for one in asked if not _verdicts(member, one, desk) or one.attempt]


def _verdicts(member: JudgePlan, asked: Asked, desk: JudgeDesk) -> list[Judgment]:
    grader = judge_of(member, places=len(asked.order))
    found = desk.workspace.store.find(Judgment, comparison=asked.comparison.key, grader=grader.key)
    place: Place = (asked.comparison.key, asked.order, asked.sweep)
    return [one for one in found if (one.comparison, one.order, one.sweep) == place]


def _all_heard(members: list[JudgePlan], asked: Asked, desk: JudgeDesk) -> list[Judgment]:
    """The newest word of every member that sits; empty where a fault of ours kept one from being asked."""
    words = [_verdicts(member, asked, desk) for member in members]
    return [found[-1] for found in words] if all(words) else []


def _panel_verdict(panel: PanelPlan, asked: Asked, newest: list[Judgment]) -> Judgment:
    made = combine(panel, (asked.comparison.key, asked.order, asked.sweep), newest)
    return made if asked.replaces is None else made.but(replaces=asked.replaces)


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

    def ask(self, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms) -> AskingOutcome: ...


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

    def ask(self, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms) -> AskingOutcome:
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

    def ask(self, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms) -> AskingOutcome:
        return ask_panel(self.plan, wanted, desk=desk, terms=terms)


@dataclass(frozen=True)
class ByBaseline:
    """No model: the same work always gets the same verdict, so that one sweep is enough."""

    name: str
    takes: tuple[Medium, ...] = ("image",)
    repeats = False

    def graders(self) -> tuple[ModelGrader, ...]:
        return (baseline_grader(self.name),)

    def ask(self, wanted: Iterable[Asked], *, desk: JudgeDesk, terms: Terms) -> AskingOutcome:
        faults = Faults()
        verdicts = judge_by_baseline(self.name, wanted, desk=desk, now=terms.date(), faults=faults)
        return AskingOutcome(verdicts, faults=faults.count, why_fault=faults.why)
