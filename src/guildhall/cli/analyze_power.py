"""`guildhall analyze ppi` and `power`: few human and many automatic judgments; how many a question needs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from guildhall.cli.show import as_json, done, drawn_rows, note, show_drawn, table
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guildhall.analysis.design import GraderNeed, JudgmentsNeeded, ModelPlan
    from guildhall.analysis.drawn_studies import DrawnStudy
    from guildhall.analysis.ppi_models import ModelPpi


def ppi(
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows: model, auto, human (may be empty); optionally task, probability, grader. "
            "With left and right instead of model: Bradley-Terry scores."
        ),
    ],
    convention: Annotated[str, typer.Option(help="What counts: half_tie, win or win_or_tie.")] = "half_tie",
    strata: Annotated[str | None, typer.Option(help="A column of strata, e.g. occupation.")] = None,
    folds: Annotated[int, typer.Option(help="Tune lambda across this many folds of tasks; 0 tunes it once.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Prediction-powered rates: valid with few human labels, narrower where the automatic grader agrees."""
    from guildhall.analysis.ppi_models import holds_pairs, named_convention, ppi_by_model, read_ppi

    if holds_pairs(file):
        _ratings(file, level=level, json=json)
        return
    found = ppi_by_model(
        read_ppi(file, stratum=strata), convention=named_convention(convention), folds=folds, level=level
    )
    if json:
        rows = [_row(one) for one in found]
        # One model alone is shown at the top level too, so that scripts need not unwrap a list of one.
        as_json({"convention": convention, **(rows[0] if len(rows) == 1 else {}), "models": rows})
        return
    table(
        f"Prediction-powered {convention} rate",
        ["model", "estimate", "interval", "human only", "interval", "labels", "worth"],
        [_joined_cells(one) for one in found],
        numeric=range(1, 7),
    )
    for one in found:
        if one.estimate.why_no_interval:
            note(f"{one.model}: {one.estimate.why_no_interval}")


def _ratings(file: Path, *, level: float, json: bool) -> None:
    from guildhall.analysis.ppi_models import read_pair_ppi
    from guildhall.analysis.ppi_ratings import ppi_ratings

    rows = read_pair_ppi(file)
    found, classical = ppi_ratings(rows, level=level), ppi_ratings(rows, lam=0.0, level=level)
    pairs = sorted(zip(found.models, found.scores, classical.scores, strict=True), key=lambda one: -(one[1].value or 0))
    if json:
        shown = [{"model": model, "estimate": score, "classical": plain} for model, score, plain in pairs]
        as_json({"lambda": found.lam, "effective_human_n": found.effective_human_n, "models": shown})
        return
    table(
        "Prediction-powered Bradley-Terry scores (log-odds)",
        ["model", "score", "interval", "human only", "interval"],
        [[model, _share(a.value), _ends(a.interval), _share(b.value), _ends(b.interval)] for model, a, b in pairs],
        numeric=range(1, 5),
    )
    note(f"{found.scores[0].n_judgments} human labels are worth {found.effective_human_n:.0f}; lambda {found.lam:.2f}")


def _row(one: ModelPpi) -> dict[str, Any]:
    return {
        "model": one.model,
        "estimate": one.estimate,
        "classical": one.classical,
        "lambda": one.lam,
        "effective_human_n": one.effective_human_n,
        "n_human": one.n_human,
        "n_auto": one.n_auto,
    }


def _joined_cells(one: ModelPpi) -> list[str | None]:
    classical = one.classical
    return [
        one.model,
        _share(one.estimate.value),
        _ends(one.estimate.interval),
        _share(classical.value) if classical else None,
        _ends(classical.interval) if classical else None,
        str(one.n_human),
        f"{one.effective_human_n:.0f}" if one.effective_human_n is not None else None,
    ]


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def _ends(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


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
    tasks: Annotated[int, typer.Option(help="Tasks of the study that is drawn.")] = 60,
    pool: Annotated[list[int] | None, typer.Option(help="Graders there may be; may be given again.")] = None,
    minutes: Annotated[float, typer.Option(help="Minutes a grading takes.")] = 60.0,
    wage: Annotated[float | None, typer.Option(help="Dollars an hour.")] = None,
    severity: Annotated[float, typer.Option(help="How far graders differ (SD, logits); a file says it itself.")] = 0.5,
    json: JsonOption = False,
) -> None:
    """Tasks and judgments for a width or a power, and what so many graders in so many hours would show.

    The study is drawn many times over, with tasks, graders, tastes, ties and lost gradings. A file is taken for a
    pilot: how far its tasks and graders differ is used, its rates are not looked at.
    """
    from guildhall.analysis.design import graders_needed
    from guildhall.analysis.drawn_studies import Assumed, PlannedWork, assumed_from, drawn_table
    from guildhall.analysis.outcomes import read_outcomes

    people = graders_needed(models=models, samples=samples, graders=graders, set_size=set_size, exposure=exposure)
    aims = _Aims(width, difference, chance)
    asked = PlannedWork(tasks=tasks, samples=samples, graders_per_set=graders, minutes=minutes, wage_usd=wage)
    assumed = Assumed(rate=rate, severity=severity) if file is None else assumed_from(read_outcomes(file))
    drawn = drawn_table(asked, assumed, graders=pool or DRAWN_POOLS)
    if file is not None:
        _from_file(file, aims, people, convention, drawn, json)
    else:
        _from_assumptions(rate, samples, graders, aims, people, drawn, json)
    if json:
        return
    show_drawn(drawn, assumed, tasks=tasks)
    if file is None:
        done(
            f"{people.gradings_per_task} gradings a task need {people.graders_per_task} graders at exposure {exposure}"
        )


DRAWN_POOLS = (3, 6, 10, 20)


class _Aims(NamedTuple):
    width: float
    difference: float
    power: float


def _from_file(
    file: Path, aims: _Aims, people: GraderNeed, convention: str, drawn: Sequence[DrawnStudy], json: bool
) -> None:
    from guildhall.analysis.design import read_plans
    from guildhall.analysis.ppi_models import named_convention

    plans = read_plans(
        file,
        half_width=aims.width,
        difference=aims.difference,
        power=aims.power,
        convention=named_convention(convention),
    )
    if json:
        as_json({"models": [_plan(one) for one in plans], "graders": asdict(people), "drawn": drawn_rows(drawn)})
        return
    table(
        f"For +/-{aims.width:g}, or to find {aims.difference:g} with power {aims.power:g}",
        ["model", "rate", "tasks now", "for width", "judgments", "for power", "judgments", "best spent on"],
        [_cells(one) for one in plans],
        numeric=range(1, 7),
    )


def _from_assumptions(
    rate: float, samples: int, graders: int, aims: _Aims, people: GraderNeed, drawn: Sequence[DrawnStudy], json: bool
) -> None:
    from guildhall.analysis.design import Components, tasks_for_power, tasks_for_width

    parts = Components.of_rate(rate)
    for_width = tasks_for_width(parts, aims.width, samples=samples, graders=graders)
    for_power = tasks_for_power(parts, aims.difference, samples=samples, graders=graders, power=aims.power)
    if json:
        assumed = {"rate": rate, "components": asdict(parts)}
        needs = {"for_width": asdict(for_width), "for_power": asdict(for_power), "graders": asdict(people)}
        as_json({"assumed": assumed, **needs, "drawn": drawn_rows(drawn)})
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
