"""`guildhall demo`: an offline tour of the whole pipeline on the sample bank, one step a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import done

if TYPE_CHECKING:
    from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class Step:
    """One stage of the tour: a title, and what it does to the workspace."""

    title: str
    run: Callable[[Workspace], None]


def demo(
    path: Annotated[Path, typer.Argument(help="The workspace to make, or to go on with.")] = Path("demo-workspace"),
    serve: Annotated[bool, typer.Option("--serve", help="Then open a study for grading in a browser.")] = False,
    port: Annotated[int, typer.Option(help="With --serve: the port of the pages.")] = 8460,
    files_port: Annotated[int, typer.Option(help="With --serve: the port of the deliverables.")] = 8461,
    tasks: Annotated[
        Optional[int],  # noqa: UP045 - typer reads this at run time
        typer.Option(min=1, help="Let the study mean only the first so many tasks.", show_default=False),
    ] = None,
) -> None:
    """Tour the whole pipeline offline, with no key and no account, on the sample bank."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.demonstration import demo_study

    with Workspace.create(path) as workspace:
        demo_study(workspace, first=tasks)
        for number, step in enumerate(STEPS, 1):
            typer.secho(f"\n{number}/{len(STEPS)}  {step.title}", fg="cyan", bold=True)
            step.run(workspace)
    typer.secho(f"\nThe demo's workspace is {path}; look round with:", bold=True)
    for command in ("tasks list", "tasks show sample-accounting-bank-reconciliation", "tasks stats"):
        typer.echo(f"  guildhall {command} --workspace {path}")
    if serve:
        from guildhall.cli.demo_hall import serve_demo

        serve_demo(path, port=port, files_port=files_port)


def _import_bank(workspace: Workspace) -> None:
    from guildhall.taskbank.importing import import_tasks, read_source
    from guildhall.taskbank.sample import sample_folder

    with sample_folder() as folder:
        result = import_tasks(workspace, read_source(folder))
    done(f"{result.new} tasks imported, {result.known} known already, {result.files} files kept")


def _check_bank(_workspace: Workspace) -> None:
    from guildhall.taskbank.folder import check_folder, task_folders
    from guildhall.taskbank.sample import sample_folder

    with sample_folder() as folder:
        checked = [check_folder(inner) for inner in task_folders(folder)]
    faults = [fault for one in checked for fault in one.faults]
    for fault in faults:
        typer.echo(str(fault))
    done(f"{len(checked)} tasks checked, {len(faults)} faults")


def _show_bank(workspace: Workspace) -> None:
    from guildhall.cli.bank_tables import show_statistics
    from guildhall.taskbank.listing import newest_tasks
    from guildhall.taskbank.statistics import bank_statistics

    show_statistics(bank_statistics(newest_tasks(workspace.store)))


def _sample_bank(workspace: Workspace) -> None:
    """Two scripted authors do every task, confined; where that cannot be, what they once made is replayed."""
    from guildhall.cli.progress import live_table
    from guildhall.cli.show import note
    from guildhall.cli.study import show_status
    from guildhall.study.demonstration import demo_study, replayed_because
    from guildhall.study.stages import Sampling

    study, stage = demo_study(workspace), Sampling()
    study.freeze(changed=True)
    if (reason := replayed_because(study)) is not None:
        note(f"no sandbox can run here: {reason}")
        note("their recorded deliverables are replayed; nothing ran on this machine, and every submission says so")
        show_status("What the two authors had made", stage.status(study))
        return
    with live_table("two authors at work", lambda: stage.status(study)):
        show_status("What the two authors made", stage.run(study))


def _judge(workspace: Workspace) -> None:
    """Simulated graders judge every pair through the same queue as people; they are named as simulated throughout."""
    from guildhall.cli.show import note
    from guildhall.errors import NotEnoughData
    from guildhall.study.demonstration import demo_study
    from guildhall.study.people import People

    try:
        report = People().run(demo_study(workspace))
    except NotEnoughData as reason:
        note(f"nothing was judged: {reason}")
        return
    preferred = f"who preferred the expert's work in {report['simulated_preferred_expert']} of them"
    done(f"{report['done']} of {report['planned']} gradings done by simulated graders, {preferred}")
    if report["parts_not_shown"]:
        note(f"{report['parts_not_shown']} parts of files could not be shown to them")


def _judge_by_program(workspace: Workspace) -> None:
    """A baseline that needs no model measures what a program can, and is held to account by the simulated graders."""
    from guildhall.cli.grade_tables import show_account, show_grades
    from guildhall.cli.show import note
    from guildhall.errors import NothingJudged
    from guildhall.study.accounting import accounts_of
    from guildhall.study.demonstration import demo_study
    from guildhall.study.judges import graders_of
    from guildhall.study.judging import grades, judge_study, rows_of

    study, baseline = demo_study(workspace), "rubric-and-format"
    (grader,) = graders_of(study, [baseline])
    try:
        judge_study(study, grader)
        show_grades(baseline, grades(rows_of(study), baseline))
        for account in accounts_of(study, [baseline]).accounts:
            show_account(account)
    except NothingJudged as reason:
        note(f"nothing was judged: {reason}")


def _report(workspace: Workspace) -> None:
    from guildhall.cli.show import note, table
    from guildhall.errors import NothingJudged
    from guildhall.grading.viewing import newest_study
    from guildhall.reports.words import interval_percent, percent
    from guildhall.study.reporting import write_report

    folder = workspace.path / "report"
    try:
        findings = write_report(workspace, newest_study(workspace.store, "demo"), folder)
    except NothingJudged as reason:
        note(f"no report was written: {reason}")
        return
    rows = [
        (one.model, one.wins, one.ties, one.losses, percent(one.win_or_tie.value), interval_percent(one.win_or_tie))
        for one in findings.headline
    ]
    columns = ("model", "wins", "ties", "losses", "win or tie", "95 % interval")
    table("Against the expert, by simulated graders", columns, rows, numeric=(1, 2, 3, 4))
    done(f"the report is {folder / 'report.html'}")


STEPS = (
    Step("Check the sample bank: real tasks, labelled as samples", _check_bank),
    Step("Import it into a workspace", _import_bank),
    Step("What the bank holds", _show_bank),
    Step("Two scripted authors do the tasks, each in a sandbox of its own", _sample_bank),
    Step("Simulated graders compare their work with the expert's, blind", _judge),
    Step("A program that needs no model judges the same pairs, and is held to account", _judge_by_program),
    Step("What the judgments say, and how sure one may be", _report),
)
