"""Who may write, review and decide: one rule after another, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from guildhall.domain.halls import Check, Member, Role
from guildhall.domain.reviews import Stage
from guildhall.domain.values import Id
from guildhall.taskbank.review.histories import TaskHistory

LEAST_YEARS = 4.0
LEAST_EXPERTS = 5
"""Per occupation (GDPval A.4.4); fewer is a warning, not a refusal."""
WRITERS = (Role.AUTHOR, Role.REVIEWER)
_CHECKS = {"interview": "interview", "background_check": "background check", "training": "training", "quiz": "quiz"}

People = Mapping[Id, Member]
"""Everybody on the roster, by code name."""


class ReviewRefusal(StrEnum):
    """Why somebody may not review a task, in the words they and the manager read."""

    NOT_A_REVIEWER = "is not a reviewer"
    UNQUALIFIED = "does not yet meet the requirements"
    AUTHOR = "wrote this task"
    COLLEAGUE = "works where its author works"
    CONFLICT = "has declared a conflict with this task"
    OCCUPATION = "is not of the task's occupation"
    OTHER_STAGE = "has reviewed this task at another stage"
    REVIEWED = "has reviewed this version already"


def unmet_requirements(member: Member) -> tuple[str, ...]:
    """What still keeps an expert from contributing (GDPval 2.2); empty for somebody who may."""
    unmet = []
    if not member.occupations:
        unmet.append("an occupation")
    if member.years is None or member.years < LEAST_YEARS:
        unmet.append(f"{LEAST_YEARS:g} years of experience")
    unmet += [words for name, words in _CHECKS.items() if getattr(member.vetting, name) is not Check.PASSED]
    return tuple(unmet)


def conflict_of(member: Member, history: TaskHistory, people: People) -> ReviewRefusal | None:
    """What ties somebody to a task: they see it as its author or not at all."""
    author = people.get(history.author)
    if member.code_name == history.author or history.author in member.author_names:
        return ReviewRefusal.AUTHOR
    if author is not None and member.employer_mark is not None and member.employer_mark == author.employer_mark:
        return ReviewRefusal.COLLEAGUE
    return ReviewRefusal.CONFLICT if history.task in member.conflicts else None


def why_not_review(member: Member, history: TaskHistory, stage: Stage, people: People) -> ReviewRefusal | None:
    """The first rule that forbids somebody to review the newest version at a stage; None when they may."""
    if tie := conflict_of(member, history, people):
        return tie
    if member.role is not Role.REVIEWER:
        return ReviewRefusal.NOT_A_REVIEWER
    if unmet_requirements(member):
        return ReviewRefusal.UNQUALIFIED
    if stage is Stage.OCCUPATION and history.newest.task.occupation not in member.occupations:
        return ReviewRefusal.OCCUPATION
    mine = [review for review in history.reviews if review.reviewer == member.code_name]
    if any(review.stage is not stage for review in mine):
        return ReviewRefusal.OTHER_STAGE
    return ReviewRefusal.REVIEWED if any(review.draft == history.newest.key for review in mine) else None


def may_decide(member: Member, history: TaskHistory, people: People) -> bool:
    """The team and lead reviewers accept and reject, never their own or a colleague's work."""
    if conflict_of(member, history, people):
        return False
    return member.role is Role.MANAGER or (member.role is Role.REVIEWER and member.lead)
