"""`guildhall backup` and `guildhall restore`: a workspace as it is at one moment, kept and brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption

BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup, by custom named *.guildhall-backup.tar.")]


def backup(
    file: BackupFile,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Leave files out when their own store is backed up elsewhere.")
    ] = True,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Back the workspace up while it is in use: everything in it at one moment, people and keys included."""
    from guildhall.store.backup import take_backup
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        made = take_backup(opened, file, files=files)
    if json:
        as_json({"backup": str(file), "schema": made.schema, "database": made.database, "files": made.files})
    else:
        done(f"{file} holds the {made.database} database at schema {made.schema} and {made.files} files")
        note("it holds what the workspace holds, personal data and keys too: keep it as safe")


def restore(
    file: BackupFile,
    path: Annotated[Path, typer.Argument(help="The folder to make; it must not hold a workspace yet.")],
    database: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="An empty PostgreSQL database, for a backup of one.", show_default=False),
    ] = None,
    blobs: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where files are to live, e.g. s3://bucket/folder.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a workspace from a backup; every byte of it is verified before anything is written."""
    from guildhall.store.backup import restore_backup

    with restore_backup(file, path, database=database, blobs=blobs) as restored:
        facts = {"workspace": str(path), "database": restored.shown_url, "schema": restored.store.revision()}
    if json:
        as_json(facts)
    else:
        done(f"{path} is restored ({facts['database']}, schema {facts['schema']})")
        note(f"see that all of it is there: `guildhall doctor --deep --workspace {path}`")
