"""`guildhall analyze power`: how many judgments a question needs, from a file of judgments or from assumptions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from guildhall.cli.show import as_json, done, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.design import GraderNeed, JudgmentsNeeded
    from guildhall.analysis.design_files import ModelPlan


def power(
    file: Annotated[Path | None, typer.Argument(help="Rows: task, model, sample, score. Without: assumptions.")] = None,
    width: Annotated[float, typer.Option(help="Half-width the interval should have.")] = 0.05,
    difference: Annotated[float, typer.Option(help="Difference between two models that should be found.")] = 0.05,
    chance: Annotated[float, typer.Option("--power", help="Chance with which it should be found.")] = 0.8,
    rate: Annotated[float, typer.Option(help="Without a file: the rate to expect.")] = 0.5,
    samples: Annotated[int, typer.Option(help="Without a file: samples a task.")] = 3,
    graders: Annotated[int, typer.Option(help="Without a file: graders a sample.")] = 3,
    models: Annotated[int, typer.Option(help="Models, for the count of graders a task needs.")] = 1,
    set_size: Annotated[int, typer.Option(help="Deliverables shown together, the expert's among them.")] = 2,
    exposure: Annotated[int, typer.Option(help="How often one grader may see one task.")] = 1,
    convention: Annotated[str, typer.Option(help="What counts: half_tie, win or win_or_tie.")] = "half_tie",
    json: JsonOption = False,
) -> None:
    """Tasks and judgments for a width or a power, where the next one is worth most, and graders a task needs."""
    from guildhall.analysis.design import graders_needed

    people = graders_needed(models=models, samples=samples, graders=graders, set_size=set_size, exposure=exposure)
    aims = _Aims(width, difference, chance)
    if file is not None:
        _from_file(file, aims, people, convention, json)
        return
    _from_assumptions(rate, samples, graders, aims, people, json)
    if not json:
        done(
            f"{people.gradings_per_task} gradings a task need {people.graders_per_task} graders at exposure {exposure}"
        )


class _Aims(NamedTuple):
    width: float
    difference: float
    power: float


def _from_file(file: Path, aims: _Aims, people: GraderNeed, convention: str, json: bool) -> None:
    from guildhall.analysis.design_files import read_plans
    from guildhall.analysis.ppi_models import named_convention

    plans = read_plans(
        file,
        half_width=aims.width,
        difference=aims.difference,
        power=aims.power,
        convention=named_convention(convention),
    )
    if json:
        as_json({"models": [_plan(one) for one in plans], "graders": asdict(people)})
        return
    table(
        f"For +/-{aims.width:g}, or to find {aims.difference:g} with power {aims.power:g}",
        ["model", "rate", "tasks now", "for width", "judgments", "for power", "judgments", "best spent on"],
        [_cells(one) for one in plans],
        numeric=range(1, 7),
    )


def _from_assumptions(rate: float, samples: int, graders: int, aims: _Aims, people: GraderNeed, json: bool) -> None:
    from guildhall.analysis.design import Components, tasks_for_power, tasks_for_width

    parts = Components.of_rate(rate)
    for_width = tasks_for_width(parts, aims.width, samples=samples, graders=graders)
    for_power = tasks_for_power(parts, aims.difference, samples=samples, graders=graders, power=aims.power)
    if json:
        assumed = {"rate": rate, "components": asdict(parts)}
        needs = {"for_width": asdict(for_width), "for_power": asdict(for_power), "graders": asdict(people)}
        as_json({"assumed": assumed, **needs})
        return
    done(_words(for_width, f"an interval of +/-{aims.width:g} at a rate of {rate:g}"))
    done(_words(for_power, f"power {aims.power:g} for a difference of {aims.difference:g} between two models"))


def _words(need: JudgmentsNeeded, aim: str) -> str:
    return f"{aim}: {need.tasks} tasks x {need.samples} samples x {need.graders} grades = {need.judgments} judgments"


def _plan(one: ModelPlan) -> dict[str, Any]:
    return asdict(one) | {"best": one.worth.best}


def _cells(one: ModelPlan) -> list[str]:
    return [
        one.model,
        f"{one.rate:.3f}",
        str(one.tasks),
        str(one.for_width.tasks),
        str(one.for_width.judgments),
        str(one.for_power.tasks),
        str(one.for_power.judgments),
        one.worth.best,
    ]
