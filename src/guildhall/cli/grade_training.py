"""`guildhall grade calibrate`, `apply`, `weigh` and `examples`: graders trained on people's judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from guildhall.cli.show import as_json, done, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

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
    from guildhall.study.weighing import ballots_from, study_ballots, weigh, weights_card

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
    from guildhall.study.exemplifying import examples_card, examples_of
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
    from guildhall.analysis.ratings_table import read_ratings
    from guildhall.analysis.training_rows import evidence_from
    from guildhall.store.workspace import Workspace
    from guildhall.study.accounting import study_evidence
    from guildhall.study.studies import OpenStudy

    if file is not None:
        return [], evidence_from(read_ratings(file))
    with Workspace.find(workspace) as opened:
        return study_evidence(OpenStudy.open(study, opened))
