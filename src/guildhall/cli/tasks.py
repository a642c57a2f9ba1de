"""`guildhall tasks`: bring tasks in, look at them, check one's own, take them out again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.progress import counted
from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.tasks_release import release, screen, stats, tag, vocabulary
from guildhall.cli.workspace import JsonOption, WorkspaceOption

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
    source: Annotated[
        str, typer.Argument(help="A table, a folder, a zip, or a hub data set such as openai/gdpval@REVISION.")
    ],
    without_files: Annotated[
        bool, typer.Option("--without-files", help="Keep files that are not here by name only; from a hub, the table.")
    ] = False,
    revision: Annotated[Optional[str], typer.Option(help="Recorded as the revision of a local copy.")] = None,  # noqa: UP045
    licence: Annotated[Optional[str], typer.Option(help="Recorded where the data set's card states none.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import tasks with every file they list: all of them or, naming whatever is wrong, none."""
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.importing import import_tasks, opened_source

    with (
        Workspace.find(workspace) as opened,
        opened_source(source, revision=revision, licence=licence, with_files=not without_files) as incoming,
    ):
        result = import_tasks(opened, incoming, without_files=without_files, progress=counted("files", quiet=json))
        about = next((task.provenance for task in incoming.tasks if task.provenance), None)
    if json:
        facts = about.model_dump(include={"revision", "licence"}) if about else {"revision": None, "licence": None}
        as_json({**vars(result), **facts})
        return
    done(f"{result.new} tasks imported, {result.known} known already, {result.files} files kept")
    if about and about.licence is None:
        note("no licence is stated beside the data: say it with --licence before you publish anything of it")
    if result.revised:
        note(f"{result.revised} tasks differ from what was kept: they are new versions beside the old ones")
    if result.files_absent:
        note(f"{result.files_absent} files are listed whose bytes are not beside the table: known by name only")
    if result.files_unlisted:
        note(f"{result.files_unlisted} files lie among them that no task lists; they were left")


@app.command("enrich")
def enrich(
    wages: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A folder with the OEWS files: national, and by sector.", show_default=False),
    ] = None,
    hours: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A table with a task's id and its expert hours.", show_default=False),
    ] = None,
    hours_column: Annotated[str, typer.Option(help="The column that holds hours.")] = "hours",
    hours_from: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Whose hours they are, in words; printed wherever they are used.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Join wages and hours to tasks that state none; each keeps its source, and what is not found stays unknown."""
    from guildhall.occupations.sources import published_wages
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.banks import enrich_tasks, read_hours

    told = read_hours(hours, column=hours_column, source=hours_from) if hours else None
    paid = published_wages(wages) if wages else None
    with Workspace.find(workspace) as opened:
        made = enrich_tasks(opened.store, wage=paid.of if paid else None, hours=told)
    if json:
        as_json(vars(made))
        return
    done(f"{made.changed} of {made.tasks} tasks are new versions with figures joined to them")
    note(f"hours are known of {made.with_hours} tasks, wages of {made.with_wage}; the others stay unknown")
    for words in made.unknown:
        note(words)


@app.command("diff")
def diff(
    before: Annotated[str, typer.Argument(help="A table, folder, zip, hub data set or workspace.")],
    after: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="Another; the workspace's bank when absent.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say what changed between two banks: tasks that came, went or differ, and in what."""
    from guildhall.taskbank.banks import bank_differences, bank_of, opened_bank

    with opened_bank(before) as first, opened_bank(after, workspace) as second:
        found = bank_differences(first, second)
        facts = [bank_of(one).model_dump(mode="json") for one in (first, second)]
    if json:
        as_json({"before": facts[0], "after": facts[1], **vars(found)})
        return
    for name, bank in zip(("before", "after"), facts, strict=True):
        typer.echo(f"{name}: {bank['name']}, {bank['tasks']} tasks, digest {bank['digest'][:12]}")
    lists = (("came", found.added), ("went", found.removed))
    rows = [(task, what, "") for what, tasks in lists for task in tasks]
    rows += [(task, "differs", "; ".join(words)) for task, words in found.changed.items()]
    table(f"{len(rows)} tasks differ, {found.same} are the same", ["task", "", "in"], rows)


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
    wage = "?" if found.hourly_wage_usd is None else f"{found.hourly_wage_usd:,.2f}"
    typer.echo(f"{found.sector} / {found.occupation}; {_hours(found.expert_hours)} expert hours, ${wage} an hour")
    for figure, source in (found.sources or {}).items():
        typer.echo(f"{figure}: {source}")
    typer.echo()
    typer.echo(found.brief.strip() + "\n")
    for kind, files in (("reference", found.reference_files), ("expert", found.expert_files)):
        for file in files:
            typer.echo(f"{kind:>10}  {file.name}" + ("" if file.digest else "  (name only)"))
    for item in found.rubric.items if found.rubric else ():
        typer.echo(f"{item.points:+10d}  {item.text}")


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


app.command("stats")(stats)
app.command("screen")(screen)
app.command("tag")(tag)
app.command("vocabulary")(vocabulary)
app.command("release")(release)
