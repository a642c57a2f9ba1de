"""Which automatic graders a study names: its judges, its panel, the baselines, or any model by its string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guildhall.domain.judges import JudgePlan
from guildhall.errors import InputError, UnknownName
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel, ByPanel
from guildhall.grading.judges.panel import PanelPlan
from guildhall.grading.judges.settings import PanelSettings
from guildhall.study.artefacts import read_examples, read_weights
from guildhall.study.studies import OpenStudy


def graders_of(study: OpenStudy, names: Sequence[str] = ()) -> list[AutomaticGrader]:
    """The graders of these names: judges and panel of the study, baselines, or any model string; all without names."""
    settings, plans = study.file.grading, judge_plans(study)
    known: dict[str, AutomaticGrader] = {plan.name: ByModel(plan) for plan in plans}
    if settings.panel is not None:
        known[settings.panel.name] = ByPanel(_panel(study, settings.panel))
    known |= {name: ByBaseline(name) for name in settings.baselines}
    if not names:
        return list(known.values())
    return [known[name] if name in known else _unlisted(name, known) for name in names]


def judge_plans(study: OpenStudy) -> tuple[JudgePlan, ...]:
    """The study's judges; those who are shown examples name the very collection, which is kept with the workspace."""
    return tuple(_with_examples(plan, study) for plan in study.file.judges)


def _with_examples(plan: JudgePlan, study: OpenStudy) -> JudgePlan:
    asked = plan.examples
    if asked is None:
        return plan
    collection = read_examples(study.folder / asked.file)
    if not collection.content_digest().startswith(asked.version or ""):
        raise InputError(
            f"{asked.file} is version {collection.version}, and judge {plan.name!r} is to be shown {asked.version}"
        )
    kept = study.workspace.blobs.put(collection.canonical())
    return plan.but(examples=asked.but(version=kept))


def _panel(study: OpenStudy, asked: PanelSettings) -> PanelPlan:
    """The study's judges as one, with given votes or with votes fitted to people's judgments."""
    members, seed = judge_plans(study), study.file.study.seed
    plan = PanelPlan(name=asked.name, members=members, draw=asked.draw, seed=seed, weights=asked.weights)
    if asked.weights_from is None:
        return plan
    fit = read_weights(study.folder / asked.weights_from)
    if strangers := {member.name for member in members} ^ set(fit.weights):
        raise InputError(
            f"{asked.weights_from} was fitted for other members than this panel has ({', '.join(sorted(strangers))}); "
            "fit again with `guildhall grade weigh`"
        )
    return plan.but(weights=fit.weights, fitted=fit.version)


def _unlisted(name: str, known: Mapping[str, AutomaticGrader]) -> AutomaticGrader:
    if name in BASELINES:
        return ByBaseline(name)
    if "/" in name:
        return ByModel(plan_of(name))
    raise UnknownName("judge", name, known=sorted({*known, *BASELINES}))


def plan_of(model: str) -> JudgePlan:
    """A judge that is nothing but a model string."""
    return JudgePlan(name=model.replace("/", "-"), model=model)
