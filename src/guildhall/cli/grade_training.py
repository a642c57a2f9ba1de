"""`guildhall grade account`, `calibrate`, `apply`, `weigh` and `examples`: judges held against people, and trained on
their judgments.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.grade_tables import show_account
from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.analysis.accountability import Account


def account(
    judge: Annotated[list[str] | None, typer.Option("--judge", "-j", help="A judge; all without.")] = None,
    against: Annotated[
        str | None, typer.Option(help="A judge to compare agreement with, beside the baselines.")
    ] = None,
    study: Annotated[Path, typer.Option("--study", "-s", help="The study file.")] = Path("study.toml"),
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Hold judges to account: agreement with people beside constant verdicts, biases, reliability, coverage, cost."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.accounting import accounts_of
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        found = accounts_of(OpenStudy.open(study, opened), judge or [], against=against)
    if json:
        judges = [account_json(one) for one in found.accounts]
        as_json({"judges": judges, "ungradable": found.ungradable, "gains": found.gains})
        return
    for one in found.accounts:
        show_account(one, found.gains.get(one.grader, {}))
    if found.ungradable:
        note(f"{len(found.ungradable)} of {found.tasks} tasks are left out as ungradable")


def account_json(found: Account) -> dict[str, Any]:
    """An account in the shape `--json` promises: every figure an estimate."""
    from dataclasses import asdict

    from guildhall.domain.estimates import Estimate

    shape: dict[str, Any] = {"grader": found.grader, "people": found.people, "coverage": asdict(found.coverage)}
    if found.agreement is not None:
        constant = found.agreement.constant
        shape |= {
            "human_human": found.agreement.overall.human_human,
            "human_auto": found.agreement.overall.human_auto,
            "by_model": {name: one.human_auto for name, one in found.agreement.by_model.items()},
            "discrimination": found.agreement.discrimination,
            "best_constant": constant
            and {
                "verdict": constant.verdict,
                "agreement": constant.agreement,
                "margin": constant.margin,
                "beaten": constant.beaten,
            },
        }
    for name, value in vars(found).items():
        if isinstance(value, Estimate):
            shape[name] = value
    shape["criteria"] = found.criteria
    return {**shape, "cost_per_verdict_usd": found.cost_per_verdict_usd}


FileArgument = Annotated[
    Path | None, typer.Argument(help="Rows as for `analyze agreement`; without a file, the study's judgments.")
]
FoldsOption = Annotated[int, typer.Option(min=2, max=50, help="Folds of whole tasks.")]
SeedOption = Annotated[int, typer.Option(help="The seed tasks are dealt to folds by.")]
SplitsOption = Annotated[int, typer.Option(min=1, max=100, help="How many deals of tasks gains are averaged over.")]
StudyOption = Annotated[Path, typer.Option("--study", "-s", help="The study file.")]
DEFAULT_STUDY = Path("study.toml")


def calibrate(
    file: FileArgument = None,
    out: Annotated[Path, typer.Option(help="Where the artefact goes; its card goes beside it.")] = Path(
        "calibrator.json"
    ),
    name: Annotated[str, typer.Option(help="What the trained grader is called.")] = "calibrator",
    folds: FoldsOption = 10,
    seed: SeedOption = 0,
    splits: SplitsOption = 5,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Train a calibrator on people's judgments, cross-validated by task, and say honestly what it gains."""
    from datetime import UTC, datetime

    from guildhall.study.training import model_card, train

    _, evidence = _evidence(file, study, workspace)
    trained = train(evidence, name=name, folds=folds, seed=seed, splits=splits, now=datetime.now(UTC))
    _hand_over(trained, model_card(trained), out, json)


def weigh(
    file: FileArgument = None,
    out: Annotated[Path, typer.Option(help="Where the votes go; their card goes beside them.")] = Path(
        "panel-weights.json"
    ),
    name: Annotated[str, typer.Option(help="What the fit is called.")] = "panel-weights",
    folds: FoldsOption = 10,
    seed: SeedOption = 0,
    splits: SplitsOption = 5,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Fit the votes of a panel's members to people's judgments, and say honestly what that gains over equal votes."""
    from datetime import UTC, datetime

    from guildhall.store.workspace import Workspace
    from guildhall.study.studies import OpenStudy
    from guildhall.study.training import ballots_from, study_ballots, weigh, weights_card

    if file is not None:
        ballots = ballots_from(_evidence(file, study, workspace)[1])
    else:
        with Workspace.find(workspace) as opened:
            ballots = study_ballots(OpenStudy.open(study, opened))
    fitted = weigh(ballots, name=name, folds=folds, seed=seed, splits=splits, now=datetime.now(UTC))
    _hand_over(fitted, weights_card(fitted), out, json)


def apply(
    calibrator: Annotated[Path, typer.Argument(help="What `calibrate` wrote.")] = Path("calibrator.json"),
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print the chances of loss, tie and win that a calibrator gives every judged submission of a study."""
    from guildhall.study.artefacts import read_calibrator
    from guildhall.study.training import chances_of

    trained = read_calibrator(calibrator)
    samples, evidence = _evidence(None, study, workspace)
    chances = chances_of(trained, samples, evidence)
    if json:
        as_json(chances)
        return
    rows = [
        (one.sample[:12], f"{one.loss:.2f}", f"{one.tie:.2f}", f"{one.win:.2f}", one.verdict, one.seen)
        for one in chances
    ]
    title = f"{trained.name}, version {trained.version}"
    table(title, ("submission", "loss", "tie", "win", "verdict", "seen by people"), rows, numeric=(1, 2, 3, 4))
    done(f"{len(rows)} submissions")


def examples(
    out: Annotated[Path, typer.Option(help="Where the collection goes; its card goes beside it.")] = Path(
        "examples.json"
    ),
    name: Annotated[str, typer.Option(help="What the collection is called.")] = "examples",
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Collect the pairs people judged, as examples a judge can be shown; no author is in any of it."""
    from datetime import UTC, datetime

    from guildhall.store.workspace import Workspace
    from guildhall.study.accounting import examples_card, examples_of
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        made = examples_of(OpenStudy.open(study, opened), name=name, now=datetime.now(UTC))
    _hand_over(made, examples_card(made), out, json)


def _hand_over(trained: Any, card: str, out: Path, json: bool) -> None:
    from guildhall.study.artefacts import write_trained

    artefact, beside = write_trained(trained, card, out)
    if json:
        as_json({**trained.model_dump(mode="json"), "version": trained.version})
    else:
        typer.echo(card)
        done(f"{artefact} and {beside} written")


def _evidence(file: Path | None, study: Path, workspace: Path | None) -> tuple[list[str], Any]:
    from guildhall.analysis.calibrator import evidence_from
    from guildhall.analysis.ratings_table import read_ratings
    from guildhall.store.workspace import Workspace
    from guildhall.study.accounting import study_evidence
    from guildhall.study.studies import OpenStudy

    if file is not None:
        return [], evidence_from(read_ratings(file))
    with Workspace.find(workspace) as opened:
        return study_evidence(OpenStudy.open(study, opened))
