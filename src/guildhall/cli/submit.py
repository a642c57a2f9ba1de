"""`guildhall submit`: the package the public GDPval grading service takes, checked; and what it sends back, read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption

app = typer.Typer(no_args_is_help=True, help="The package the public grading service takes, and the grades it returns.")

BaseOption = Annotated[Path | None, typer.Option("--base", help="The public table; all its rows and columns are kept.")]


@app.command("openai")
def openai(
    out: Annotated[Path, typer.Argument(help="The folder to make.")],
    author: Annotated[str, typer.Option(help="Whose submissions.")],
    sample: Annotated[int, typer.Option(min=1, help="Which try of that author.")] = 1,
    base: BaseOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write the parquet table and the file tree, and check them; exit code 8 when a fault is found."""
    from guildhall.sampling.package import check_package
    from guildhall.store.workspace import Workspace
    from guildhall.study.exports import pack_author

    with Workspace.find(workspace) as opened:
        packed = pack_author(author, sample=sample, out=out, base=base, workspace=opened)
    faults = check_package(out, base=base)
    if json:
        as_json({**packed.model_dump(), "faults": faults})
    else:
        done(f"{out}: {packed.rows} rows, {packed.with_submission} with a submission, {packed.files} files")
        if packed.empty:
            note(f"{len(packed.empty)} rows have no submission and will be graded as such")
    _report(faults)


@app.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="A package, made here or elsewhere.")],
    base: BaseOption = None,
    json: JsonOption = False,
) -> None:
    """Name every fault of a package; exit code 8 when there is any."""
    from guildhall.sampling.package import check_package

    faults = check_package(folder, base=base)
    if json:
        as_json({"faults": faults})
    else:
        done(f"{folder}: {len(faults)} faults")
    _report(faults)


@app.command("grades")
def grades(
    file: Annotated[Path, typer.Argument(help="What the service sent back.")],
    model: Annotated[str, typer.Option(help="What the author is called in the rows.")] = "model",
    json: JsonOption = False,
) -> None:
    """Read returned grades into rows that `guildhall analyze win-rate` takes; errors are counted, never zeros."""
    from guildhall.sampling.package import as_rows, read_grades

    read = read_grades(file)
    rows = as_rows(read, model=model)
    errors = {grade.task: grade.errors for grade in read if grade.errors}
    if json:
        as_json({"rows": rows, "tasks": len(read), "errors": errors})
    else:
        scores = [row["score"] for row in rows]
        mean = f"mean {sum(scores) / len(scores):.4f}" if scores else "no grade"
        done(f"{len(read)} tasks, {len(rows)} grades, {mean}; {len(errors)} tasks with an error")


def _report(faults: list[str]) -> None:
    for fault in faults:
        typer.echo(fault, err=True)
    if faults:
        raise typer.Exit(8)
