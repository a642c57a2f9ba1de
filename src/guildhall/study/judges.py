"""Which automatic graders a study names: its judges, its panel, the baselines, or any model by its string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from guildhall.domain.judges import Gradability, JudgePlan, RubricMark
from guildhall.domain.judgments import Judgment
from guildhall.errors import InputError, UnknownName
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.gradability import ungradable
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel, ByPanel
from guildhall.judging.rubrics import rubric_judge
from guildhall.store.workspace import Workspace
from guildhall.study.freezing import fenced_as
from guildhall.study.studies import OpenStudy
from guildhall.taskbank.listing import latest_tasks


def graders_of(study: OpenStudy, names: Sequence[str] = ()) -> list[AutomaticGrader]:
    """The graders of these names: judges and panel of the study, baselines, or any model string; all without names."""
    settings, judges = study.file.grading, study.judges
    known: dict[str, AutomaticGrader] = {plan.name: ByModel(plan) for plan in judges.plans}
    if judges.panel is not None:
        known[judges.panel.name] = ByPanel(judges.panel)
    known |= {name: ByBaseline(name) for name in settings.baselines}
    if not names:
        return list(known.values())
    return [known[name] if name in known else _unlisted(study, name, known) for name in names]


def _unlisted(study: OpenStudy, name: str, known: Mapping[str, AutomaticGrader]) -> AutomaticGrader:
    if name in BASELINES:
        return ByBaseline(name)
    if "/" in name:
        return ByModel(plan_of(study, name))
    raise UnknownName("judge", name, known=sorted({*known, *BASELINES}))


def plan_of(study: OpenStudy, name: str) -> JudgePlan:
    """The judge of the study's file of this name, else one that is nothing but a model string.

    The latter goes on without fences where it judged so before.
    """
    if named := next((plan for plan in study.judges.plans if plan.name == name), None):
        return named
    plan, store = JudgePlan(name=name.replace("/", "-"), model=name), study.workspace.store
    before = [*ByModel(plan).graders(), *(rubric_judge(plan, whole=whole) for whole in (True, False))]
    known = any(store.count(kind, grader=one.key) for kind in (Judgment, RubricMark) for one in before)
    return plan if known else fenced_as(plan, None)


def ungradable_tasks(workspace: Workspace) -> dict[str, str]:
    """Task id -> why it is out."""
    return ungradable(workspace.store, latest_tasks(workspace.store).values())


def mark_task(workspace: Workspace, task: str, *, gradable: bool, reason: str | None, by: str) -> Gradability:
    """A person's word on one task; it counts before the rule's, and a later word before an earlier one."""
    if task not in latest_tasks(workspace.store):
        raise UnknownName("task", task, fix="see `guildhall tasks list`")
    if not reason:
        raise InputError('say why: `--reason "..."`')
    word = Gradability(task=task, gradable=gradable, reason=reason, by=by, made_at=datetime.now(UTC))
    workspace.store.add(word)
    return word
