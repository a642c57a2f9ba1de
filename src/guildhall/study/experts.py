"""Experts on their way up: checks recorded, promotions made; both by whom, in the log."""

from __future__ import annotations

from collections.abc import Mapping

from guildhall.domain.halls import Check, Member, Role
from guildhall.errors import InputError, UnknownName
from guildhall.grading.people import Roster
from guildhall.store.audit import record
from guildhall.taskbank.review.roster import promoted


def record_checks(roster: Roster, member: Member, checks: Mapping[str, str], *, by: Member, now: float) -> Member:
    """Keep how an expert's interview, background check, training and quiz stand; a manager's act."""
    if by.role is not Role.MANAGER:
        raise InputError(f"{by.code_name} is not a manager; managers record checks")
    for name, state in checks.items():
        if state not in {str(one) for one in Check}:
            raise UnknownName(f"state of the {name.replace('_', ' ')}", state, known=[str(one) for one in Check])
    changed = member.but(vetting=member.vetting.but(**checks))
    _keep(roster, changed, "checks recorded", by=by, now=now, facts=dict(checks))
    return changed


def promote(roster: Roster, member: Member, *, by: Member, now: float) -> Member:
    """One step up, by a manager; a lead reviewer may make authors reviewers."""
    lead = by.role is Role.REVIEWER and by.lead and member.role is Role.AUTHOR
    if by.role is not Role.MANAGER and not lead:
        raise InputError(f"{by.code_name} may not promote {member.code_name}; ask a manager")
    changed = promoted(member)
    new = "lead reviewer" if changed.lead else str(changed.role)
    _keep(roster, changed, "promoted", by=by, now=now, facts={"to": new})
    return changed


def _keep(roster: Roster, member: Member, action: str, *, by: Member, now: float, facts: Mapping[str, str]) -> None:
    with roster.store.transaction():
        roster.change(member)
        record(roster.store, at=now, actor=by.code_name, action=action, subject=member.code_name, facts=facts)
