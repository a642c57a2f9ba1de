"""`guildhall tasks`: bring tasks in, look at them, check one's own, take them out again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.tasks_release import release, screen, tag, vocabulary
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.taskbank.review.standing import ReviewFigures
from guildhall.taskbank.statistics import BankCoverage, BankStatistics, Summary, paper_figures

if TYPE_CHECKING:
    from guildhall.domain.tasks import Task


def show_review(found: ReviewFigures) -> None:
    """What became of drafts, for a bank that has any."""
    if not found.tasks:
        return
    rate = "none decided" if found.acceptance_rate is None else f"{found.acceptance_rate:.1%}"
    rows = [
        ("Drafts", f"{found.tasks}: {found.accepted} accepted, {found.rejected} rejected, {found.open} open"),
        ("Acceptance rate", rate),
        ("Reviews per task", "none" if found.reviews_per_task is None else f"{found.reviews_per_task:.2f}"),
        ("Versions per task", "none" if found.versions_per_task is None else f"{found.versions_per_task:.2f}"),
    ]
    table("Review", ["", ""], rows)


def show_statistics(found: BankStatistics, gold: BankStatistics | None, *, target: int) -> None:
    """The counts, then the paper's tables: the gold subset beside the full set, and the paper's own figures."""
    paper, sets = paper_figures(), {"full": found, **({"gold": gold} if gold else {})}
    counts = [
        ("Tasks", found.tasks),
        ("Sectors", found.sectors),
        ("Occupations", found.occupations),
        ("Reference files", f"{found.reference_files} in {found.tasks_with_reference_files} tasks"),
        ("Expert files", f"{found.deliverable_files} in {found.tasks_with_expert_files} tasks"),
        ("Rubric items", f"{found.rubric_items}, of which {found.negative_rubric_items} negative"),
        (f"Occupations of {target} tasks or more", sum(n >= target for n in found.tasks_by_occupation.values())),
    ]
    if found.tasks:
        counts.append(("Tasks with a reference file", f"{found.tasks_with_reference_files / found.tasks:.1%}"))
    table("The bank", ["", ""], counts)
    table("Tasks by sector", ["sector", "tasks"], found.tasks_by_sector.items(), numeric=[1])
    short = [(occupation, n) for occupation, n in found.tasks_by_occupation.items() if n < target]
    if short:
        table(f"Occupations of fewer than {target} tasks", ["occupation", "tasks"], short, numeric=[1])
    for title, field in (
        ("Quality, difficulty, length, value", "quality_and_length"),
        ("Files per task", "files_per_task"),
    ):
        rows = [_cells(name, row) for name, one in sets.items() for row in getattr(one, field)]
        named = {row[0] for row in rows}
        rows += [
            [measure, of, *(f"{value:,.2f}" for value in values), ""]
            for of, measures in paper.summaries.items()
            for measure, values in measures.items()
            if measure in named
        ]
        columns = ["", "of", "mean", "std", "min", "25%", "50%", "75%", "max", "unknown"]
        table(title, columns, sorted(rows, key=lambda row: row[0]), numeric=list(range(2, 10)))
    covered = [_coverage(name, row) for name, one in sets.items() for row in one.onet]
    covered += [(name, "paper, gold", n, of, f"{n / of:.1%}", "") for name, (n, of) in paper.coverage.items()]
    columns = ["", "of", "distinct", "in O*NET", "share", "tasks tagged"]
    table("O*NET coverage", columns, sorted(covered, key=lambda row: str(row[0])), numeric=[2, 3, 4, 5])
    for row in found.onet:
        if row.strange:
            note(f"{row.name}: not O*NET's, and covering nothing: {', '.join(row.strange)}")
    labels: list[tuple[object, ...]] = [
        (label, of, count, f"{count / sum(one.specification.values()):.2%}")
        for of, one in sets.items()
        for label, count in one.specification.items()
    ]
    labels += [
        (label, of, "", f"{share:.2f}%") for of, one in paper.specification.items() for label, share in one.items()
    ]
    shown = sorted(labels, key=lambda row: str(row[0]))
    table("How well briefs are specified", ["label", "of", "tasks", "share"], shown, numeric=[2, 3])


def _coverage(of: str, row: BankCoverage) -> tuple[object, ...]:
    distinct = "not recorded" if row.distinct is None else row.distinct
    listed = "unknown" if row.published is None else row.published
    return (row.name, of, distinct, listed, "" if row.share is None else f"{row.share:.1%}", row.tasks_tagged)


def _cells(of: str, row: Summary) -> list[str]:
    if row.recorded == 0:
        return [row.name, of, *[""] * 7, f"all {row.not_recorded}"]
    values = (row.mean, row.std, row.min, row.q25, row.median, row.q75, row.max)
    shown = ["" if value is None else f"{value:,.2f}" for value in values]
    return [row.name, of, *shown, str(row.not_recorded) if row.not_recorded else ""]


app = typer.Typer(no_args_is_help=True, help="Bring tasks in, look at them, check one's own, take them out again.")

Sector = Annotated[Optional[str], typer.Option(help="Only sectors that contain these words.")]  # noqa: UP045
OccupationName = Annotated[str | None, typer.Option("--occupation", help="Only occupations that contain these words.")]
FileType = Annotated[Optional[str], typer.Option("--file-type", help="Only tasks with such a file, e.g. xlsx.")]  # noqa: UP045
MinHours = Annotated[Optional[float], typer.Option(help="Only tasks of at least so many expert hours.")]  # noqa: UP045
MaxHours = Annotated[Optional[float], typer.Option(help="Only tasks of at most so many expert hours.")]  # noqa: UP045


@app.command("new")
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make; its name becomes the task's id.")],
    title: Annotated[str, typer.Option(help="A short title.")] = "Untitled task",
    sector: Annotated[str, typer.Option(help="The sector's official title.")] = "Information",
    occupation: Annotated[str, typer.Option(help="The occupation's official title.")] = "Editors",
    json: JsonOption = False,
) -> None:
    """Start a task of your own: a folder to fill in."""
    from guildhall.taskbank.folder import new_task

    made = new_task(folder, title=title, sector=sector, occupation=occupation)
    if json:
        as_json({"folder": str(made)})
    else:
        done(f"{made} is ready: fill in brief.md, task.toml and rubric.toml, then `guildhall tasks check {made}`")


@app.command("check")
def check(
    paths: Annotated[list[Path], typer.Argument(help="Task folders, or folders of them.")], json: JsonOption = False
) -> None:
    """Report every fault of task folders at once, with file and line; exit code 2 when there is any."""
    from guildhall.errors import UnreadableFile
    from guildhall.taskbank.folder import check_folder, task_folders

    folders = [folder for path in paths for folder in task_folders(path)]
    if not folders:
        raise UnreadableFile(paths[0], "holds no task folder", fix="a task folder has a task.toml")
    faults = [fault for folder in folders for fault in check_folder(folder).faults]
    if json:
        as_json(
            {"tasks": len(folders), "faults": [{"file": str(f.file), "line": f.line, "words": f.words} for f in faults]}
        )
    else:
        for fault in faults:
            typer.echo(str(fault))
        (note if faults else done)(f"{len(folders)} tasks checked, {len(faults)} faults")
    if faults:
        raise typer.Exit(2)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of task.toml."""
    from guildhall.taskbank.folder import TaskFile

    as_json(TaskFile.model_json_schema())


@app.command("import")
def import_(
    source: Annotated[str, typer.Argument(help="A table, a folder, or a hub data set such as openai/gdpval@REVISION.")],
    without_files: Annotated[bool, typer.Option("--without-files", help="From a hub: only the table.")] = False,
    revision: Annotated[Optional[str], typer.Option(help="Recorded as the revision of a local copy.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import tasks: all of them or, when one cannot be read, none."""
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.gdpval import fetch, hub_name
    from guildhall.taskbank.importing import import_tasks, read_source

    path, named, pinned = Path(source), None, revision
    hub = None if path.exists() else hub_name(source)
    with Workspace.find(workspace) as opened:
        if hub:
            snapshot = fetch(*hub, with_files=not without_files)
            path, named, pinned = snapshot.folder, snapshot.repository, snapshot.commit
        result = import_tasks(opened, read_source(path, source=named, revision=pinned))
    if json:
        as_json({**vars(result), "revision": pinned})
        return
    done(f"{result.new} tasks imported, {result.known} known already, {result.files} files kept")
    if result.revised:
        note(f"{result.revised} tasks differ from what was kept: they are new versions beside the old ones")
    if result.files_absent:
        note(f"{result.files_absent} files are listed whose bytes are not beside the table: known by name only")


@app.command("list")
def list_(
    sector: Sector = None,
    occupation: OccupationName = None,
    file_type: FileType = None,
    min_hours: MinHours = None,
    max_hours: MaxHours = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List tasks, one line each."""
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.listing import TaskFilter, newest_tasks

    wanted = TaskFilter(
        sector=sector, occupation=occupation, file_type=file_type, min_hours=min_hours, max_hours=max_hours
    )
    with Workspace.find(workspace) as opened:
        tasks = newest_tasks(opened.store, wanted)
    if json:
        shown = {"id", "version", "title", "sector", "occupation", "expert_hours", "review"}
        as_json([task.model_dump(mode="json", include=shown) | {"value_usd": task.value_usd} for task in tasks])
        return
    rows = [
        (task.id, task.occupation, len(task.reference_files), len(task.expert_files), _hours(task.expert_hours))
        for task in tasks
    ]
    table(f"{len(tasks)} tasks", ["task", "occupation", "in", "out", "hours"], rows, numeric=[2, 3, 4])


def _hours(hours: float | None) -> str:
    return "?" if hours is None else f"{hours:g}"


@app.command("show")
def show(
    task: Annotated[str, typer.Argument(help="A task's id, id@version, or the beginning of its id.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show one task: brief, files, rubric."""
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.listing import find_task

    with Workspace.find(workspace) as opened:
        found = find_task(opened.store, task)
    if json:
        as_json(found)
        return
    typer.secho(f"{found.title or found.id}  ({found.key})", bold=True)
    typer.echo(f"{found.sector} / {found.occupation}; {_hours(found.expert_hours)} expert hours\n")
    typer.echo(found.brief.strip() + "\n")
    for kind, files in (("reference", found.reference_files), ("expert", found.expert_files)):
        for file in files:
            typer.echo(f"{kind:>10}  {file.name}" + ("" if file.digest else "  (name only)"))
    for item in found.rubric.items if found.rubric else ():
        typer.echo(f"{item.points:+10d}  {item.text}")


@app.command("stats")
def stats(
    onet: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A folder with O*NET's Task Statements, for the share of tasks covered."),
    ] = None,
    where: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Only tasks with, for example, occupation=Editors or ids=FILE; repeat it."),
    ] = None,
    gold: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The gold subset: a release's folder, or a file of task ids; shown beside the full set."),
    ] = None,
    target: Annotated[int, typer.Option(min=1, help="Tasks an occupation should have.")] = 30,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Count the bank and give the paper's Tables 3 to 7 beside its own; what was not recorded says so."""
    from guildhall.errors import InputError
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.listing import TaskFilter, newest_tasks, task_ids
    from guildhall.taskbank.review.histories import all_histories
    from guildhall.taskbank.review.standing import review_figures
    from guildhall.taskbank.statistics import bank_statistics

    with Workspace.find(workspace) as opened:
        tasks = newest_tasks(opened.store, TaskFilter.parse(where or ()))
        reviewed = review_figures(all_histories(opened.store))
    published = _published(onet, tasks) if onet else None
    found, subset = bank_statistics(tasks, published_tasks=published), None
    if gold is not None:
        ids = set(task_ids(gold))
        chosen = [task for task in tasks if task.id in ids]
        if not chosen:
            raise InputError(f"{gold} names no task of this bank; give a release of it, or a file of its task ids")
        subset = bank_statistics(chosen, published_tasks=published)
    if json:
        more = {"review": reviewed.model_dump(mode="json"), "paper": paper_figures().model_dump(mode="json")}
        as_json(found.model_dump(mode="json") | more | ({"gold": subset.model_dump(mode="json")} if subset else {}))
    else:
        show_statistics(found, subset, target=target)
        show_review(reviewed)


def _published(onet: Path, tasks: Sequence[Task]) -> int:
    from guildhall.occupations.tasks import published_tasks

    published = published_tasks(onet, (task.occupation for task in tasks))
    for title in published.without:
        note(f"O*NET lists no tasks for {title}; they are not in the total")
    return len(published.tasks)


@app.command("export")
def export(
    target: Annotated[Path, typer.Argument(help="The folder to write into.")],
    layout: Annotated[str, typer.Option(help="folders: to edit; gdpval: the public data set's layout.")] = "folders",
    sector: Sector = None,
    occupation: OccupationName = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write tasks as folders, or in the public data set's layout."""
    from guildhall.errors import UnknownName
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.exporting import export_folders, export_gdpval
    from guildhall.taskbank.listing import TaskFilter, newest_tasks

    layouts = {"folders": export_folders, "gdpval": export_gdpval}
    if layout not in layouts:
        raise UnknownName("layout", layout, known=sorted(layouts))
    with Workspace.find(workspace) as opened:
        tasks = newest_tasks(opened.store, TaskFilter(sector=sector, occupation=occupation))
        absent = layouts[layout](tasks, opened.blobs, target)
    if json:
        as_json({"tasks": len(tasks), "folder": str(target), "files_absent": absent})
        return
    done(f"{len(tasks)} tasks written to {target}")
    if absent:
        note(f"{absent} files could not be written: only their names are known here")


app.command("screen")(screen)
app.command("tag")(tag)
app.command("vocabulary")(vocabulary)
app.command("release")(release)
