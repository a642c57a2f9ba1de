"""`guildhall analyze power`: how many judgments a question needs, from a file of judgments or from assumptions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, done, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from guildhall.analysis.design import Need
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
    from guildhall.analysis.design import Components, graders_needed, tasks_for_power, tasks_for_width
    from guildhall.analysis.design_files import read_plans
    from guildhall.analysis.ppi_models import named_convention

    people = graders_needed(models=models, samples=samples, graders=graders, set_size=set_size, exposure=exposure)
    if file is not None:
        plans = read_plans(
            file, half_width=width, difference=difference, power=chance, convention=named_convention(convention)
        )
        if json:
            as_json({"models": [_plan(one) for one in plans], "graders": asdict(people)})
            return
        table(
            f"For +/-{width:g}, or to find {difference:g} with power {chance:g}",
            [
                "model",
                "rate",
                "tasks now",
                "tasks for width",
                "judgments",
                "tasks for power",
                "judgments",
                "best spent on",
            ],
            [_cells(one) for one in plans],
            numeric=range(1, 7),
        )
        return
    parts = Components.of_rate(rate)
    for_width = tasks_for_width(parts, width, samples=samples, graders=graders)
    for_power = tasks_for_power(parts, difference, samples=samples, graders=graders, power=chance)
    if json:
        as_json(
            {
                "assumed": {"rate": rate, "components": asdict(parts)},
                "for_width": asdict(for_width),
                "for_power": asdict(for_power),
                "graders": asdict(people),
            }
        )
        return
    done(_words(for_width, f"an interval of +/-{width:g} at a rate of {rate:g}"))
    done(_words(for_power, f"power {chance:g} for a difference of {difference:g} between two models"))
    done(f"{people.gradings_per_task} gradings a task need {people.graders_per_task} graders at exposure {exposure}")


def _words(need: Need, aim: str) -> str:
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
