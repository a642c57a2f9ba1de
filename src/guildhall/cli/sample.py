"""`guildhall sample`: models do tasks, in a sandbox; what they made is kept, picked from and brought in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.progress import live_table
from guildhall.cli.show import as_json, done
from guildhall.cli.study import show_forecast, show_status
from guildhall.cli.workspace import JsonOption, WorkspaceOption

app = typer.Typer(no_args_is_help=True, help="Models do tasks in a sandbox, and everything they made is kept.")

StudyOption = Annotated[Path, typer.Option("--study", "-s", help="The study file that names tasks and authors.")]
DEFAULT_STUDY = Path("study.toml")


@app.command("plan")
def plan(study: StudyOption = DEFAULT_STUDY, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show items, expected calls, time and money before anything is spent."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import Sampling
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        report = Sampling().plan(OpenStudy.open(study, opened))
    if json:
        as_json(report)
    else:
        show_forecast(str(study), report)


@app.command("run")
def run(study: StudyOption = DEFAULT_STUDY, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Make every submission that is not made yet; stop and start again at will."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import Sampling
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        open_study, stage = OpenStudy.open(study, opened), Sampling()
        with live_table(open_study.id, lambda: stage.status(open_study), quiet=json):
            report = stage.run(open_study)
    if json:
        as_json(report)
    else:
        show_status(open_study.id, report)


@app.command("status")
def status(study: StudyOption = DEFAULT_STUDY, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Count what is done, running and failed, how submissions ended, and what they cost."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import Sampling
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        report = Sampling().status(OpenStudy.open(study, opened))
    if json:
        as_json(report)
    else:
        show_status(str(study), report)


@app.command("retry")
def retry(
    failed: Annotated[
        bool, typer.Option("--failed", help="Items that failed by fault of a provider or sandbox.")
    ] = False,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Try failed items again; each new submission names the one it replaces."""
    from guildhall.errors import InputError
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import retry_failed
    from guildhall.study.studies import OpenStudy

    if not failed:
        raise InputError("say what to retry: `guildhall sample retry --failed`")
    with Workspace.find(workspace) as opened:
        report = retry_failed(OpenStudy.open(study, opened))
    if json:
        as_json(report)
    else:
        done(f"{report['retried']} items tried again, {report['failed']} failed")
