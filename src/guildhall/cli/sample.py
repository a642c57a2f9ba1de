"""`guildhall sample`: models do tasks, in a sandbox; what they made is kept, picked from and brought in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.executing import AddressOption, ExecutorOption, Where, chosen_executor
from guildhall.cli.progress import live_table
from guildhall.cli.show import as_json, done, note
from guildhall.cli.show_study import show_forecast, show_status
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
def run(
    study: StudyOption = DEFAULT_STUDY,
    executor: ExecutorOption = Where.HERE,
    address: AddressOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make every submission that is not made yet; stop and start again at will."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import Sampling, require_no_faults
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace, patient=True) as opened:
        open_study = OpenStudy.open(study, opened, executor=chosen_executor(executor, address))
        stage = Sampling()
        with live_table(open_study.id, lambda: stage.status(open_study), quiet=json):
            report = stage.run(open_study)
    if json:
        as_json(report)
    else:
        show_status(open_study.id, report)
    require_no_faults(report)


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
    from guildhall.errors import FaultsOfOurs, InputError
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import retry_failed
    from guildhall.study.studies import OpenStudy

    if not failed:
        raise InputError("say what to retry: `guildhall sample retry --failed`")
    with Workspace.find(workspace, patient=True) as opened:
        report = retry_failed(OpenStudy.open(study, opened))
    if json:
        as_json(report)
    else:
        done(f"{report['retried']} items tried again, {report['failed']} failed")
    if report["failed"]:
        raise FaultsOfOurs(
            f"{report['failed']} items failed again", str(report["why_failed"]), fix="mend that and retry once more"
        )


@app.command("pick")
def pick(
    judge: Annotated[str, typer.Option(help="The judge's model.")] = "scripted/picker",
    n: Annotated[int, typer.Option("--n", min=2, max=26, help="How many tries of an author are compared.")] = 4,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Let a judge pick the best of N tries, unlabelled and in random order; picks and losers are kept."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.deriving import pick_for_study
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        picking = pick_for_study(OpenStudy.open(study, opened), judge=judge, n=n)
    if json:
        as_json({"picks": picking.picks, "skipped": picking.skipped, "left": picking.left})
    else:
        failed = sum(one.chosen is None for one in picking.picks)
        done(f"{len(picking.picks) - failed} picked, {failed} unreadable, {picking.skipped} with fewer than two tries")


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="A folder of task folders, Inspect logs, or a submission table.")],
    author: Annotated[str | None, typer.Option(help="What the author is called; logs name their model.")] = None,
    model: Annotated[str, typer.Option(help="The model that made them, as far as known.")] = "unknown",
    files: Annotated[Path | None, typer.Option(help="For logs: the folder with one folder of files a task.")] = None,
    study: Annotated[
        Path | None, typer.Option(help="The study file whose wordings it was made for; else the newest versions.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Bring in submissions made elsewhere; what is not as it should be is recorded, never repaired silently."""
    from guildhall.sampling.outside import bring
    from guildhall.store.workspace import Workspace
    from guildhall.study.studies import wordings_of

    with Workspace.find(workspace) as opened:
        brought = bring(source, wordings_of(study, opened), author=author, model=model, files=files, workspace=opened)
    problems = sum(len(submission.problems) for submission in brought.submissions)
    if json:
        as_json(
            {
                "submissions": len(brought.submissions),
                "new": brought.new,
                "files": sum(len(submission.files) for submission in brought.submissions),
                "problems": problems,
                "unknown_tasks": brought.unknown,
                "tasks_twice": brought.twice,
            }
        )
    else:
        done(f"{brought.new} new of {len(brought.submissions)} submissions, {problems} problems recorded")
    if brought.twice:
        told = ", ".join(brought.twice[:5])
        note(f"{len(brought.twice)} tasks stand more than once for one try, and each of them would be judged: {told}")
    if brought.unknown:
        note(f"not tasks of this workspace: {', '.join(brought.unknown[:5])}")


@app.command("underspecify")
def underspecify(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    brief: Annotated[Path | None, typer.Option(help="A file with the shorter brief.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Let a model draft it; a draft is not used until confirmed.")
    ] = None,
    confirmed_by: Annotated[str | None, typer.Option(help="The reviewer who found the task can still be done.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Keep an under-specified brief beside a task's own, with its token ratio and the mean of all there are."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.deriving import add_variant, mean_token_ratio

    with Workspace.find(workspace) as opened:
        variant = add_variant(task, brief=brief, model=model, confirmed_by=confirmed_by, workspace=opened)
        mean, n = mean_token_ratio(opened)
    if json:
        as_json(variant.model_dump(mode="json") | {"mean_token_ratio": mean, "variants": n})
    else:
        state = f"confirmed by {variant.confirmed_by}" if variant.confirmed_by else "a draft, not used until confirmed"
        done(f"{variant.task}: {variant.token_ratio:.0%} of the tokens ({variant.tokenizer}), {state}")
        note(f"over {n} tasks under-specified briefs have {mean:.0%} of the tokens; in the paper 42%")
