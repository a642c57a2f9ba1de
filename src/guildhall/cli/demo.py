"""`guildhall demo`: an offline tour of the whole pipeline on the sample bank, one step a stage.

`guildhall demo --serve`: a few tasks of the sample bank opened for grading, and a page with doors for a grader, a
manager, an author and a reader of the report. Where no
model has done these tasks, a stand-in takes its place: it hands in part of the expert's own files. It is named as
simulated wherever an author is named, so that nobody takes its win rate for a model's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import done, note

if TYPE_CHECKING:
    from guildhall.analysis.accountability import Account
    from guildhall.domain.halls import Member
    from guildhall.domain.tasks import Task
    from guildhall.store.workspace import Workspace
    from guildhall.web.site import Site


STUDY = "demo-hall"
_TASKS = 3


def serve_demo(path: Path, *, port: int, files_port: int) -> None:
    """Open the hall of a demo workspace and serve it until interrupted."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.serving import serve
    from guildhall.web.site import Addresses

    def ready(site: Site) -> None:
        doors = write_doors(site, path)
        done(f"serving {site.addresses.app}; stop with Ctrl-C. Open this page: it has a door for each role")
        typer.echo(doors.resolve())

    addresses = Addresses(f"http://localhost:{port}", f"http://files.localhost:{files_port}")
    with Workspace.create(path) as workspace:
        open_demo(workspace)
        serve(workspace, bind="127.0.0.1", port=port, files_port=files_port, addresses=addresses, ready=ready)


def open_demo(workspace: Workspace) -> None:
    """Plan a small study for people and make its files ready; a second time nothing is done again."""
    from guildhall.documents.looking import documents
    from guildhall.domain.design import FORMAT, Design, PlanChoices
    from guildhall.domain.halls import HallDesign
    from guildhall.domain.studies import Study
    from guildhall.grading.opening import open_hall
    from guildhall.judging.preparing import Preparer

    chosen = _chosen(workspace)
    _stand_in(workspace, chosen)
    people = HallDesign(graders_per_set=1, minimum_reason_words=5, minutes_per_set=20)
    study = workspace.store.newest(Study, id=STUDY) or Study(
        id=STUDY,
        title="Demo: the work of experts and of simulated authors",
        seed=1,
        tasks=tuple(task.key for task in chosen),
        design=Design(format=FORMAT, people=people).planned(PlanChoices(), authors=()),
    )
    workspace.store.add(study)
    with documents(workspace.path / "cache") as looking:
        opened = open_hall(workspace, study, Preparer(workspace, looking))
    done(f"{len(opened.layout.slots)} sets ready to be judged, {opened.omissions} things could not be shown")


def _chosen(workspace: Workspace) -> list[Task]:
    """Tasks whose expert work is there and small, so that the hall opens in seconds."""
    from guildhall.taskbank.listing import newest_tasks

    whole = [task for task in newest_tasks(workspace.store) if task.expert_files]
    return sorted(whole, key=lambda task: (sum(file.size or 0 for file in task.expert_files), task.id))[:_TASKS]


def _stand_in(workspace: Workspace, tasks: list[Task]) -> None:
    """Keep a simulated submission for each task no model has done."""
    from guildhall.domain.authors import ModelRun
    from guildhall.domain.submissions import Submission

    author = ModelRun(name="simulated-stand-in", model="scripted/stand-in")
    for task in tasks:
        done_by_models = [one for one in workspace.store.find(Submission, task=task.id) if one.author.kind == "model"]
        if done_by_models:
            continue
        part = task.expert_files[: max(1, len(task.expert_files) - 1)]
        workspace.store.add(
            Submission(task=task.id, task_version=task.version, author=author, files=part, origin="simulated")
        )
        note(f"{task.id}: no model has done it, so a simulated stand-in hands in {len(part)} of the expert's files")


DOORS = (
    (
        "grader",
        "Grade a pair",
        "Read two deliverables side by side, say which is better, and why.",
        "20 minutes, as an expert",
    ),
    (
        "manager",
        "Manage a study",
        "See how far it is, who holds what, and where graders disagree.",
        "a study that has begun",
    ),
    (
        "author",
        "Write a task",
        "Turn a piece of your own work into a brief with files and a rubric.",
        "saved as you type",
    ),
)


def write_doors(site: Site, path: Path) -> Path:
    """A page in the workspace, for its owner's eyes alone: its links let in whoever holds them."""
    from guildhall.reports.page import environment

    doors = [
        {"link": f"{site.addresses.app}/enter/{_link(site, role)}", "title": title, "what": what, "facts": facts}
        for role, title, what, facts in DOORS
    ]
    if (path / "report" / "report.html").exists():
        what = "Every figure with its interval, what it rests on, and what it cannot say."
        facts = "of simulated graders"
        doors.append({"link": "report/report.html", "title": "Read the report", "what": what, "facts": facts})
    page = path / "demo.html"
    page.touch(mode=0o600)
    page.chmod(0o600)
    page.write_text(environment().get_template("demo.html").render(doors=doors))
    return page


def _link(site: Site, role: str) -> str:
    return site.door.new_link(_member(site, role).id, now=time.time(), lasts_s=86400)


def _member(site: Site, role: str) -> Member:
    from guildhall.domain.halls import Member, Role
    from guildhall.errors import UnknownName
    from guildhall.taskbank.listing import newest_tasks

    name = f"demo-{role}"
    try:
        return site.roster.by_code_name(name)
    except UnknownName:
        occupations = tuple(sorted({task.occupation for task in newest_tasks(site.store)}))
        return site.roster.invite(
            Member(id=name, code_name=name, role=Role(role), occupations=occupations), personal={}
        )


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
    _say_where(path)
    if serve:
        serve_demo(path, port=port, files_port=files_port)


def _say_where(path: Path) -> None:
    """The last lines: the study's file, what to try next, and at the very end the report."""
    typer.secho(f"\nAll of this is one study, {path / 'study.toml'}. Go on with:", bold=True)
    for command, what in (
        (f"guildhall study rows demo --where model=careful --workspace {path}", "the judgments behind a number"),
        (f"guildhall tasks stats --workspace {path}", "what the bank holds"),
        (f"guildhall demo {path} --serve", "judge such pairs yourself, in a browser"),
    ):
        typer.echo(f"  {command}\n      {what}")
    if (report := path / "report" / "report.html").exists():
        typer.secho("\nThe report (open it in a browser):", bold=True)
        typer.echo(f"  {report.resolve()}")


def _import_bank(workspace: Workspace) -> None:
    from guildhall.taskbank.importing import import_tasks, read_source
    from guildhall.taskbank.listing import newest_tasks
    from guildhall.taskbank.sample import sample_folder
    from guildhall.taskbank.statistics import bank_statistics

    with sample_folder() as folder:
        result = import_tasks(workspace, read_source(folder))
    done(f"{result.new} tasks imported, {result.known} known already, {result.files} files kept")
    found = bank_statistics(newest_tasks(workspace.store))
    done(
        f"the bank holds {found.tasks} tasks of {found.occupations} occupations in {found.sectors} sectors, with "
        f"{found.reference_files} reference files, {found.deliverable_files} expert files and "
        f"{found.rubric_items} rubric items"
    )


def _check_bank(_workspace: Workspace) -> None:
    from guildhall.taskbank.folder import check_folder, task_folders
    from guildhall.taskbank.sample import sample_folder

    with sample_folder() as folder:
        checked = [check_folder(inner) for inner in task_folders(folder)]
    faults = [fault for one in checked for fault in one.faults]
    for fault in faults:
        typer.echo(str(fault))
    done(f"{len(checked)} tasks checked, {len(faults)} faults")


def _plan(workspace: Workspace) -> None:
    """What `guildhall study plan` says: calls, hours and dollars, before anything is spent."""
    from guildhall.cli.show_study import show_forecast
    from guildhall.study.demonstration import demo_study
    from guildhall.study.people import People
    from guildhall.study.stages import Sampling

    study = demo_study(workspace)
    show_forecast(f"{study.id}: {len(study.tasks)} tasks", Sampling().plan(study))
    people = People().plan(study)
    hours = f"people would need {people['hours']:.0f} h" if people.get("hours") else "hours unknown"
    done(f"then {people['gradings']} gradings by simulated graders ({hours})")


def _sample_bank(workspace: Workspace) -> None:
    """Two scripted authors do every task, confined; where that cannot be, what they once made is replayed."""
    from guildhall.cli.progress import live_table
    from guildhall.cli.show import note
    from guildhall.cli.show_study import show_status
    from guildhall.study.demonstration import demo_study, replayed_because
    from guildhall.study.stages import Sampling, require_deliveries

    study, stage = demo_study(workspace), Sampling()
    study.freeze(why="the demo's study file was edited")
    if (reason := replayed_because(study)) is not None:
        note(f"no sandbox can run here: {reason}")
        note("their recorded deliverables are replayed; nothing ran on this machine, and every submission says so")
        show_status("What the two authors had made", stage.status(study))
        return
    with live_table("two authors at work", lambda: stage.status(study)):
        report = stage.run(study)
    show_status("What the two authors made", report)
    require_deliveries(report)


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
    given, right, ties = (int(str(report[name])) for name in ("done", "simulated_preferred_expert", "simulated_ties"))
    done(f"{given} of {report['planned']} gradings done by simulated graders, who saw blinded views and nothing else")
    done(
        f"against the planted quality (the expert's work is the better by design) they are right in {right} "
        f"({right / max(1, given):.0%}), tie in {ties} and are wrong in {given - right - ties}"
    )
    if report["parts_not_shown"]:
        note(f"{report['parts_not_shown']} parts of files could not be shown to them")


def _judge_by_program(workspace: Workspace) -> None:
    """A baseline that needs no model measures what a program can, and is held to account by the simulated graders."""
    from guildhall.cli.grade_tables import show_grades
    from guildhall.cli.show import note
    from guildhall.errors import NothingJudged
    from guildhall.study.accounting import accounts_of
    from guildhall.study.demonstration import demo_study
    from guildhall.study.judges import graders_of
    from guildhall.study.judging import grades_by, judge_study

    study, baseline = demo_study(workspace), "rubric-and-format"
    (grader,) = graders_of(study, [baseline])
    try:
        judge_study(study, grader)
        show_grades(baseline, grades_by(study, [baseline])[baseline])
        for account in accounts_of(study, [baseline]).accounts:
            _hold_to_account(account, workspace.path)
    except NothingJudged as reason:
        note(f"nothing was judged: {reason}")


def _hold_to_account(account: Account, path: Path) -> None:
    """The heart of a judge's account: its agreement beside people's own and beside a verdict that never changes."""
    from guildhall.cli.show import note
    from guildhall.reports.number_format import percent

    if account.agreement is None or account.agreement.constant is None:
        return
    overall, constant = account.agreement.overall, account.agreement.constant
    done(
        f"on the {overall.human_auto.n_tasks} tasks a program can grade it agrees with the simulated graders "
        f"{percent(overall.human_auto.value)} of the time, they with each other "
        f"{percent(overall.human_human.value)}, and {constant.verdict}, which looks at nothing, with them "
        f"{percent(constant.agreement.value)}"
    )
    if not constant.beaten:
        note(f"so {account.grader} is not shown to be better than {constant.verdict}")
    done(f"its whole account: guildhall grade account --study {path / 'study.toml'} --workspace {path}")


def _report(workspace: Workspace) -> None:
    from guildhall.cli.show import note, table
    from guildhall.errors import NothingJudged
    from guildhall.reports.number_format import shown
    from guildhall.store.wordings import newest_study
    from guildhall.study.reporting import write_study_report

    folder = workspace.path / "report"
    try:
        report = write_study_report(workspace, newest_study(workspace.store, "demo"), folder)
    except NothingJudged as reason:
        note(f"no report was written: {reason}")
        return
    headline = report.headline
    rows = [(*row[:4], *shown(row[5], "percent")) for row in (headline.rows if headline else ())]
    columns = ("model", "wins", "ties", "losses", "win or tie", "95 % interval")
    table("Against the expert, by simulated graders", columns, rows, numeric=(1, 2, 3, 4))
    figures = len(list(folder.glob("figures/*.svg")))
    done(f"written to {folder}: a page, Markdown, JSON, a workbook, tables, and {figures} figures")


STEPS = (
    Step("Check the sample bank: real tasks, labelled as samples", _check_bank),
    Step("Import it into a workspace", _import_bank),
    Step("What the study takes, before anything is spent", _plan),
    Step("Two scripted authors do the tasks, each in a sandbox of its own", _sample_bank),
    Step("Simulated graders compare their work with the expert's, blind", _judge),
    Step("A program that needs no model judges the same pairs, and is held to account", _judge_by_program),
    Step("What the judgments say, and how sure one may be", _report),
)
