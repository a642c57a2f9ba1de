"""`guildhall analyze agreement`, `effects` and `marks`: graders held against each other, from plain files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.show import as_json, ends, note, share, table, warn, with_ends
from guildhall.cli.workspace import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guildhall.analysis.accountability import JudgeOfFile
    from guildhall.analysis.agreement_report import AgreementReport
    from guildhall.domain.estimates import Estimate


NAMES = {"human_human": "human-human", "human_auto": "human-auto", "auto_auto": "auto-auto"}


def agreement(
    file: Annotated[
        Path, typer.Argument(help="Rows: sample, model, rater, kind (human or auto), score; optionally task, order.")
    ],
    interval: Annotated[str, typer.Option(help="population or fixed-samples.")] = "population",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="The paper's bootstrap read literally; it does not cover.")
    ] = False,
    within: Annotated[
        float | None, typer.Option(help="Test whether the grader is within this much of people, e.g. 0.05.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Allowance of the alternative annotator test.")] = 0.2,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Agreement of people with people, with automatic graders, and what a constant verdict would reach."""
    from guildhall.analysis.accountability import judges_of_file
    from guildhall.analysis.agreement_report import agreement_report, named_interval
    from guildhall.analysis.ratings_table import read_ratings

    kind = "as-published" if as_published else named_interval(interval)
    report = agreement_report(read_ratings(file), interval=kind, within=within, epsilon=epsilon, level=level)
    judges = judges_of_file(file, level=level)
    if json:
        as_json({**_shape(report), "judges": {name: _judge_shape(name, one) for name, one in judges.items()}})
        return
    _show(report)
    for name, one in judges.items():
        _show_judge(name, one)


def _judge_shape(name: str, one: JudgeOfFile) -> dict[str, Any]:
    constant = one.constant and one.constant._asdict()
    return {**one._asdict(), "constant": constant, "warnings": one.warnings(name)}


def _show_judge(name: str, one: JudgeOfFile) -> None:
    said = {"flips when the sides are swapped": one.flips, "the first order less the second": one.position}
    said["agreement with itself in one order"] = one.repeats
    for words, found in said.items():
        if found is not None and found.value is not None:
            note(f"{name}: {words}: {with_ends(found.value, found.interval)}, n {found.n_judgments}")
    for words in one.warnings(name):
        warn(words)


def _shape(report: AgreementReport) -> dict[str, Any]:
    constant, test, stand_in = report.constant, report.within, report.alternative
    return {
        **{name: getattr(report.overall, name) for name in NAMES},
        "by_model": {model: {name: getattr(one, name) for name in NAMES} for model, one in report.by_model.items()},
        "mean_over_models": report.mean_over_models,
        "best_constant": constant
        and {
            "verdict": constant.verdict,
            "agreement": constant.agreement,
            "margin": constant.margin,
            "beaten": constant.beaten,
        },
        "discrimination": report.discrimination,
        "chance_corrected": report.chance_corrected,
        "within": test and {"d": test.d, "gap": test.gap, "upper_bound": test.upper_bound, "within": test.within},
        "alternative_annotator": stand_in and stand_in._asdict(),
        "n_ratings_excluded": report.n_ratings_excluded,
    }


def _show(report: AgreementReport) -> None:
    shown = [("all", report.overall), *report.by_model.items()]
    table(
        "Agreement: mean over samples of 1 - |X - Y|",
        ["samples of", *(text for words in NAMES.values() for text in (words, "n"))],
        [
            [
                model,
                *(
                    text
                    for name in NAMES
                    for m in (getattr(one, name),)
                    for text in (with_ends(m.value, m.interval), m.n_samples)
                ),
            ]
            for model, one in shown
        ],
        numeric=(2, 4, 6),
    )
    note(f"unit of the interval: {report.overall.human_human.unit}; {report.overall.human_human.method}")
    if report.constant:
        words = "beaten" if report.constant.beaten else "NOT beaten"
        note(f"best constant verdict: {report.constant.verdict} at {share(report.constant.agreement.value)}, {words}")
        auc = report.discrimination
        note(f"discrimination within model (AUC): {share(auc.value)} {ends(auc.interval)}")
    for name, one in report.chance_corrected.items():
        note(f"{name}: {share(one.value)} {ends(one.interval)}")
    if report.within:
        words = {True: "yes", False: "no", None: "cannot tell"}[report.within.within]
        note(f"within {report.within.d:g} of people: {words} (upper bound {share(report.within.upper_bound)})")
    if report.alternative:
        words = "passes" if report.alternative.passes else "does not pass"
        note(f"alternative annotator test (epsilon {report.alternative.epsilon:g}): {words}")


def effects(
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows: task, model, grader, score; optionally sample, shown_first, length_ratio, kin, day."
        ),
    ],
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: JsonOption = False,
) -> None:
    """Place, length, kinship, time and severity of graders, each in score points with its interval."""
    from guildhall.analysis.effects import read_effects

    found = read_effects(file, level=level)
    if json:
        as_json(
            {
                "effects": found.effects,
                "severities": found.severities,
            }
        )
        return
    _show_effects("What sways graders (score points)", "effect", found.effects)
    _show_effects("How kind each grader is, against the others on the same samples", "grader", found.severities)


def _show_effects(title: str, head: str, found: Mapping[str, Estimate]) -> None:
    table(
        title,
        [head, "value", "interval", "judgments"],
        [_cells(name, one) for name, one in found.items()],
        numeric=(1, 3),
    )
    for name, one in found.items():
        if one.why_no_interval:
            note(f"{name}: {one.why_no_interval}")


def _cells(name: str, one: Estimate) -> list[str]:
    ends = "none" if one.interval is None else f"{one.interval[0]:+.3f} to {one.interval[1]:+.3f}"
    return [name, "none" if one.value is None else f"{one.value:+.3f}", ends, str(one.n_judgments or 0)]


def marks(
    file: Annotated[Path, typer.Argument(help="Rows: grader, author, mark (a number; may be empty).")],
    json: JsonOption = False,
) -> None:
    """Medians of the marks received and given, and each grader's bias: the median it gave less that of all marks."""
    from guildhall.analysis.marks import cross_mark_file

    models, found, n_excluded = cross_mark_file(file)
    received, given, bias = (_known(one.tolist()) for one in (found.received, found.given, found.bias))
    if json:
        medians = {
            model: dict(zip(models, _known(row), strict=True))
            for model, row in zip(models, found.medians.tolist(), strict=True)
        }
        rows = [
            {"model": model, "received": received[at], "given": given[at], "bias": bias[at], "gave": medians[model]}
            for at, model in enumerate(models)
        ]
        as_json({"models": rows, "n_marks": int(found.counts.sum()), "n_excluded": n_excluded})
        return
    order = sorted(range(len(models)), key=lambda at: (-math.inf if received[at] is None else received[at], models[at]))
    table(
        "Marks (medians)",
        ["model", "received", "given", "bias"],
        [[models[at], _shown(received[at]), _shown(given[at]), _shown(bias[at], "+.2f")] for at in reversed(order)],
        numeric=range(1, 4),
    )
    note("bias: above zero is lenient; marks to oneself count, as in the published test")
    if n_excluded:
        note(f"{n_excluded} rows without a mark are left out")


def _known(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _shown(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else f"{value:{form}}"
