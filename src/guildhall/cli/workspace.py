"""`guildhall init`, and the options that several other commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, done

WorkspaceOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads this at run time
    typer.Option(
        "--workspace",
        "-w",
        envvar="GUILDHALL_WORKSPACE",
        help="The workspace folder; the current folder when it holds one.",
        show_default=False,
    ),
]
ChangedOption = Annotated[bool, typer.Option("--changed", help="Go on although the study file changed.")]
WhyOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--why", help="The reason for --changed; every report prints it.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def init(
    path: Annotated[Path, typer.Argument(help="The folder to make or upgrade.")] = Path(),
    database: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A PostgreSQL URL; a SQLite file in the folder when absent.", show_default=False),
    ] = None,
    blobs: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Where files live, e.g. s3://bucket/folder; in the folder when absent. Credentials come from the "
            "environment.",
            show_default=False,
        ),
    ] = None,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Bring an older workspace to this version; make one where there is none.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make a workspace: a folder with a database, the files by digest, and its settings."""
    from guildhall.store.workspace import SETTINGS, Workspace

    if upgrade and (path / SETTINGS).exists():
        workspace = Workspace.upgrade(path)
    else:
        workspace = Workspace.create(path, database=database, blobs=blobs)
    with workspace:
        facts = {
            "workspace": str(workspace.path),
            "database": workspace.shown_url,
            "blobs": workspace.at.blobs or str(workspace.blobs.folder),
            "schema": workspace.store.revision(),
        }
    if json:
        as_json(facts)
    else:
        done(f"workspace ready at {facts['workspace']} ({facts['database']}, schema {facts['schema']})")
