"""From a study's plan to the policy its judgments are counted by, and how kinds of graders are named in tables."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.policy import GraderGroup, GroupKind, Policy
from guildhall.domain.studies import Study
from guildhall.grading.judges.baselines import BASELINES
from guildhall.study.rows import AUTOMATIC


def group_of_kind(kind: str) -> GraderGroup:
    """The group that a kind of grader stands for."""
    if not kind.startswith(AUTOMATIC):
        return GraderGroup.parse(kind)
    name = kind.removeprefix(AUTOMATIC)
    return GraderGroup(kind=GroupKind.CONSTANT if name in BASELINES else GroupKind.JUDGE, name=name)


def leading_kind(study: Study, kinds: Sequence[str]) -> str:
    """The kind of grader a report leads with: the plan's where it judged, else the first of those there are."""
    plan = study.design.plan
    planned = [] if plan is None else [kind for kind in kinds if group_of_kind(kind) == plan.graders]
    return [*planned, *kinds, ""][0]


def policy_in_force(studies: Sequence[Study], *, kind: str, baseline: str) -> Policy:
    """By which rules a report counts: current and planned judgments of one kind of grader against one baseline."""
    return Policy(studies=tuple(study.id for study in studies), baseline=baseline, graders=group_of_kind(kind))
