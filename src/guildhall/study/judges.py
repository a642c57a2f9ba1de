"""Which automatic graders a study names: its judges, its panel, the baselines, or any model by its string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guildhall.domain.judges import JudgePlan
from guildhall.errors import UnknownName
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel, ByPanel
from guildhall.study.freezing import judges_of
from guildhall.study.studies import OpenStudy


def graders_of(study: OpenStudy, names: Sequence[str] = ()) -> list[AutomaticGrader]:
    """The graders of these names: judges and panel of the study, baselines, or any model string; all without names."""
    settings, judges = study.file.grading, judges_of(study.file, study.folder, study.workspace.blobs)
    known: dict[str, AutomaticGrader] = {plan.name: ByModel(plan) for plan in judges.plans}
    if judges.panel is not None:
        known[judges.panel.name] = ByPanel(judges.panel)
    known |= {name: ByBaseline(name) for name in settings.baselines}
    if not names:
        return list(known.values())
    return [known[name] if name in known else _unlisted(name, known) for name in names]


def _unlisted(name: str, known: Mapping[str, AutomaticGrader]) -> AutomaticGrader:
    if name in BASELINES:
        return ByBaseline(name)
    if "/" in name:
        return ByModel(plan_of(name))
    raise UnknownName("judge", name, known=sorted({*known, *BASELINES}))


def plan_of(model: str) -> JudgePlan:
    """A judge that is nothing but a model string."""
    return JudgePlan(name=model.replace("/", "-"), model=model)
