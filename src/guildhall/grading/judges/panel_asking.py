"""Asking a panel: every seated member judges, and the panel's own verdict is kept beside theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from itertools import islice

from guildhall.domain.judges import JudgePlan, PanelPlan
from guildhall.domain.judgments import Judgment
from guildhall.engine.terms import Terms
from guildhall.grading.judges.asking import Asked, Place
from guildhall.grading.judges.desk import Desk, Faults
from guildhall.grading.judges.panel import combine, deal
from guildhall.grading.judges.verdicts import BATCH, Judged, ask_judge
from guildhall.judging.comparing import judge_of


def ask_panel(panel: PanelPlan, wanted: Iterable[Asked], *, desk: Desk, terms: Terms) -> Judged:
    """Ask every seated member for every wanted verdict; a panel's verdict is kept once all who sit have answered."""
    total, stream = Judged(), iter(wanted)
    while batch := list(islice(stream, BATCH)):
        faults = Faults()
        seats = [seat for one in batch for seat in faults.unless(partial(deal, panel, one, desk)) or ()]
        shares: dict[str, list[Asked]] = defaultdict(list)
        for member, asked in seats:
            shares[member.name].append(asked)
        for member in panel.members:
            answered = ask_judge(member, _unanswered(member, shares[member.name], desk), desk=desk, terms=terms)
            if answered.left:
                return total + Judged(left=len(batch) + sum(1 for _ in stream), why_left=answered.why_left)
            total += Judged(why_fault=answered.why_fault)
        sitting = [(asked, [member for member, one in seats if one is asked]) for asked in batch]
        complete = [(asked, heard) for asked, members in sitting if (heard := _all_heard(members, asked, desk))]
        made = [_panel_verdict(panel, asked, heard) for asked, heard in complete]
        desk.workspace.store.add_all(made)
        failed = sum(one.ranks is None for one in made)
        total += Judged(len(made) - failed, failed, faults=len(batch) - len(made), why_fault=faults.why)
    return total


def _unanswered(member: JudgePlan, asked: Iterable[Asked], desk: Desk) -> list[Asked]:
    """A member that gave its verdict earlier, alone or on another panel, is not asked again."""
    return [one for one in asked if not _verdicts(member, one, desk) or one.attempt]


def _verdicts(member: JudgePlan, asked: Asked, desk: Desk) -> list[Judgment]:
    grader = judge_of(member, places=len(asked.order))
    found = desk.workspace.store.find(Judgment, comparison=asked.comparison.key, grader=grader.key)
    place: Place = (asked.comparison.key, asked.order, asked.sweep)
    return [one for one in found if (one.comparison, one.order, one.sweep) == place]


def _all_heard(members: list[JudgePlan], asked: Asked, desk: Desk) -> list[Judgment]:
    """The newest word of every member that sits; empty where a fault of ours kept one from being asked."""
    words = [_verdicts(member, asked, desk) for member in members]
    return [found[-1] for found in words] if all(words) else []


def _panel_verdict(panel: PanelPlan, asked: Asked, newest: list[Judgment]) -> Judgment:
    made = combine(panel, (asked.comparison.key, asked.order, asked.sweep), newest)
    return made if asked.replaces is None else made.but(replaces=asked.replaces)
