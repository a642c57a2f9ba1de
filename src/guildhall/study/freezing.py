"""The design a study file stands for: its sections, its judges to the last setting, and the whole plan of analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from guildhall.domain.design import FORMAT, Design, Extension
from guildhall.domain.judges import FENCE, JudgePlan, PanelPlan, PlannedJudge
from guildhall.domain.studies import Study
from guildhall.errors import InputError
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.settings import PanelSettings
from guildhall.store.blobs import Blobs
from guildhall.study.artefacts import read_examples, read_weights
from guildhall.study.file import StudyFile


@dataclass(frozen=True)
class Judges:
    """The judges of a study file, with everything their files add: examples by version, votes by fit."""

    plans: tuple[JudgePlan, ...]
    panel: PanelPlan | None


def design_of_file(
    file: StudyFile, judges: Judges, extends: Extension | None, *, outside: Sequence[str] = ()
) -> Design:
    """What is frozen of a study file; how work is paced is not among it.

    `outside` names the author of each try that was made elsewhere.
    """
    parts: dict[str, Any] = {
        "format": FORMAT,
        "tasks": file.tasks,
        "prices": file.prices,
        "released": {author.name: author.released for author in file.authors if author.released},
        "baseline": file.study.baseline,
        "blinding": file.study.blinding,
    }
    if judges.plans:
        settings = file.grading
        asked = tuple(map(_planned, judges.plans))
        parts |= {"judges": asked, "sweeps": settings.sweeps, "set_size": settings.set_size}
    rehearsal = file.study.rehearsal or None
    maybe = {"people": file.people, "panel": judges.panel, "extends": extends, "rehearsal": rehearsal}
    design = Design.model_validate(parts | {name: part for name, part in maybe.items() if part is not None})
    try:
        tries = [author.name for author in file.sampled for _ in range(author.samples)]
        return design.planned(file.plan, authors=[*tries, *outside])
    except ValidationError as error:
        faults = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
        raise InputError(
            f"the [plan] of study {file.study.id!r} does not fit the rest of its file: {faults}"
        ) from error


def judges_of(file: StudyFile, folder: Path, blobs: Blobs, *, begun: Study | None) -> Judges:
    """The judges a study file names, with the fences of the form in which it began, if it has begun.

    A collection of examples is kept with the workspace.
    """
    plans = tuple(_with_examples(fenced_as(plan, begun), folder, blobs) for plan in file.judges)
    asked = file.grading.panel
    return Judges(plans, None if asked is None else _panel(asked, plans, folder, seed=file.study.seed))


def fenced_as(plan: JudgePlan, begun: Study | None) -> JudgePlan:
    """A judge keeps the fences it began with, and those from before there were any keep none: its verdicts count on."""
    if begun is None:
        return plan.but(fence=FENCE)
    known = {judge.plan.name: judge.plan.fence for judge in begun.design.judges}
    return plan.but(fence=known.get(plan.name, FENCE if begun.design.format else None))


def _planned(plan: JudgePlan) -> PlannedJudge:
    digests = dict.fromkeys(one.prompt_digest for one in ByModel(plan).graders() if one.prompt_digest)
    return PlannedJudge(plan=plan, prompt_digests=tuple(digests))


def _with_examples(plan: JudgePlan, folder: Path, blobs: Blobs) -> JudgePlan:
    asked = plan.examples
    if asked is None:
        return plan
    collection = read_examples(folder / asked.file)
    if not collection.content_digest().startswith(asked.version or ""):
        raise InputError(
            f"{asked.file} is version {collection.version}, and judge {plan.name!r} is to be shown {asked.version}"
        )
    kept = blobs.put(collection.canonical())
    return plan.but(examples=asked.but(version=kept))


def _panel(asked: PanelSettings, members: tuple[JudgePlan, ...], folder: Path, *, seed: int) -> PanelPlan:
    """The study's judges as one, with given votes or with votes fitted to people's judgments."""
    plan = PanelPlan(name=asked.name, members=members, draw=asked.draw, seed=seed, weights=asked.weights)
    if asked.weights_from is None:
        return plan
    fit = read_weights(folder / asked.weights_from)
    if strangers := {member.name for member in members} ^ set(fit.weights):
        raise InputError(
            f"{asked.weights_from} was fitted for other members than this panel has ({', '.join(sorted(strangers))}); "
            "fit again with `guildhall grade weigh`"
        )
    return plan.but(weights=fit.weights, fitted=fit.version)
