"""`guildhall peer`: the Boswell Test, in which models write essays and mark each other's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.show import as_json_line

app = typer.Typer(no_args_is_help=True, help="The Boswell Test: models write, models mark, marks are read correctly.")


@app.command("read-grade")
def read_grade(
    file: Annotated[Path, typer.Argument(help="JSON lines, CSV or Parquet with a `text` column (and `id`).")],
    infer: Annotated[
        bool,
        typer.Option("--infer", help="Suggest a grade from words of praise where none is stated (marked inferred)."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON lines are always printed; accepted for symmetry.")] = False,  # noqa: ARG001
) -> None:
    """Read the overall grade each reply states, one JSON line a reply."""
    from guildhall.peer.replies import readings

    for row in readings(file, infer=infer):
        as_json_line(row)
