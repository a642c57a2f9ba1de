"""Authors and reviewers as a manager sees them: requirements, what became of their work, occupations short of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from guildhall.domain.halls import Member, Role
from guildhall.domain.tasks import ReviewState
from guildhall.domain.values import Value
from guildhall.errors import InputError
from guildhall.taskbank.review.eligibility import LEAST_EXPERTS, WRITERS, unmet_requirements
from guildhall.taskbank.review.histories import TaskHistory
from guildhall.taskbank.review.standing import standing_of


class ExpertRecord(Value):
    """One expert. Rates and means are absent where there is nothing to take them of."""

    code_name: str
    role: Role
    lead: bool
    occupations: tuple[str, ...]
    years: float | None
    unmet: tuple[str, ...]
    tasks: int
    accepted: int
    rejected: int
    acceptance_rate: float | None
    """Accepted of those decided."""
    reviews_per_task: float | None
    reviews_made: int
    hours_per_review: float | None
    """From taking a task to handing in the review."""


@dataclass(frozen=True)
class RosterReport:
    experts: list[ExpertRecord]
    short: dict[str, int]
    """Occupations with fewer qualified experts than the paper had, and how many there are."""
    mean_years: float | None = None
    """Of those who meet the requirements and said how many."""


def roster_report(members: Sequence[Member], histories: Sequence[TaskHistory]) -> RosterReport:
    """Everybody who writes or reviews, by code name, and the occupations that are short of experts."""
    writers = [member for member in members if member.role in WRITERS]
    qualified = Counter(name for member in writers if not unmet_requirements(member) for name in member.occupations)
    wanted = {name for member in writers for name in member.occupations}
    wanted |= {history.newest.task.occupation for history in histories}
    short = {name: qualified[name] for name in sorted(wanted) if qualified[name] < LEAST_EXPERTS}
    years = [one.years for one in writers if one.years is not None and not unmet_requirements(one)]
    records = [expert_record(member, histories) for member in writers]
    return RosterReport(records, short, fmean(years) if years else None)


def expert_record(member: Member, histories: Sequence[TaskHistory]) -> ExpertRecord:
    own = [history for history in histories if history.author == member.code_name]
    states = Counter(standing_of(history).state for history in own)
    accepted, rejected = states[ReviewState.ACCEPTED], states[ReviewState.REJECTED]
    made = [review for history in histories for review in history.reviews if review.reviewer == member.code_name]
    held = [(review.made_at - review.taken_at).total_seconds() / 3600 for review in made if review.taken_at]
    return ExpertRecord(
        code_name=member.code_name,
        role=member.role,
        lead=member.lead,
        occupations=member.occupations,
        years=member.years,
        unmet=unmet_requirements(member),
        tasks=len(own),
        accepted=accepted,
        rejected=rejected,
        acceptance_rate=accepted / (accepted + rejected) if accepted + rejected else None,
        reviews_per_task=fmean(len(history.reviews) for history in own) if own else None,
        reviews_made=len(made),
        hours_per_review=fmean(held) if held else None,
    )


def promoted(member: Member) -> Member:
    """One step up: an author becomes a reviewer, a reviewer a lead. Only those who meet the requirements."""
    if unmet := unmet_requirements(member):
        raise InputError(f"{member.code_name} lacks {', '.join(unmet)}; record it with `guildhall review vet` first")
    if member.role is Role.AUTHOR:
        return member.but(role=Role.REVIEWER)
    if member.role is Role.REVIEWER and not member.lead:
        return member.but(lead=True)
    raise InputError(f"{member.code_name} is {'a lead reviewer already' if member.lead else member.role}")
