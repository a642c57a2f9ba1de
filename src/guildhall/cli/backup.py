"""`guildhall backup`: a workspace as it is at one moment, kept, verified and brought back."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.store.backup import Backup

app = typer.Typer(no_args_is_help=True, help="Keep a workspace as it is now, while it is in use; bring it back.")
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup, by custom named *.guildhall-backup.tar.")]


@app.command("make")
def make(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The backup to write; in a folder that is given, it is named by the time."),
    ],
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Leave files out when their own store is backed up elsewhere.")
    ] = True,
    lacking: Annotated[
        bool, typer.Option("--lacking", help="Go on where files that records name are gone; they are told.")
    ] = False,
    keep: Annotated[
        Optional[int],  # noqa: UP045 - typer reads this at run time
        typer.Option(min=1, help="With a folder: remove older backups in it beyond so many.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Back the workspace up while it is in use: everything in it at one moment but its secret, which is kept apart.

    A file that a record names and that is gone is refused by its name (exit code 3). Exit code 8 when the backup was
    made and files of the workspace are damaged or lacking; then no older backup is removed.
    """
    from guildhall.store.backup import take_backup
    from guildhall.store.workspace import Workspace

    now = time.time()
    target = file / name_for(now) if file.is_dir() else file
    with Workspace.find(workspace) as opened:
        made = take_backup(opened, target, now=now, files=files, lacking=lacking)
    # The last whole backup is never removed for the sake of one that is not.
    removed = remove_older(file, keep=keep) if keep and file.is_dir() and made.whole else []
    _show(target, made, json, removed=[str(one) for one in removed])
    if not json:
        note("it does not hold the workspace's secret, which `backup restore` asks for: keep guildhall.key apart")
        note("it holds what the workspace holds, what people wrote too: keep it as safe")
    _tell_damage(made)


@app.command("verify")
def verify(file: BackupFile, json: JsonOption = False) -> None:
    """Read every byte of a backup and hold it against its digests; needs no workspace and changes nothing."""
    from guildhall.store.backup import check_backup

    held = check_backup(file)
    _show(file, held, json)
    _tell_damage(held)


@app.command("restore")
def restore(
    file: BackupFile,
    path: Annotated[Path, typer.Argument(help="The folder to make; it must not hold anything yet.")],
    database: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="An empty PostgreSQL database, for a backup of one.", show_default=False),
    ] = None,
    blobs: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where files are to live, e.g. s3://bucket/folder.", show_default=False),
    ] = None,
    key_file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--key-file", help="The file with the workspace's secret: its guildhall.key.", show_default=False),
    ] = None,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="The secret is lost: go on without names, addresses and webhooks.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make a workspace from a backup; every byte of it is verified before anything is written."""
    from guildhall.store.audit import broken_links
    from guildhall.store.backup import restore_backup

    made = restore_backup(file, path, database=database, blobs=blobs, key=key_file, new_key=new_key)
    with made as restored:
        broken = broken_links(restored.store)
        facts = {
            "workspace": str(path),
            "database": restored.shown_url,
            "schema": restored.store.revision(),
            "audit_rows_broken": broken,
        }
    if json:
        as_json(facts)
    else:
        done(f"{path} is restored ({facts['database']}, schema {facts['schema']})")
        note(f"see that all of it is there: `guildhall doctor --deep --workspace {path}`")
    if broken:
        note(f"the audit log was broken when the backup was made, first in row {broken[0]}")
        raise typer.Exit(8)


_NAME = re.compile(r"\d{8}T\d{6}Z\.guildhall-backup\.tar")
"""Only files named by us are ever removed."""


def name_for(now: float) -> str:
    """The file name of a backup made at a time; names sort by it."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}.guildhall-backup.tar"


def remove_older(folder: Path, *, keep: int) -> list[Path]:
    """Remove all but the newest backups of a folder, the newest of which is known to be whole; what was removed."""
    found = sorted(file for file in folder.iterdir() if _NAME.fullmatch(file.name))
    older = found[: max(0, len(found) - keep)]
    for file in older:
        file.unlink()
    return older


def _show(file: Path, held: Backup, json: bool, **more: Any) -> None:
    made_at = datetime.fromtimestamp(held.made_at, UTC).isoformat(timespec="seconds")
    rows = sum(held.rows.values())
    if json:
        facts = {"backup": str(file), "made_at": made_at, "schema": held.schema, "database": held.database}
        as_json(
            {**facts, "rows": held.rows, "files": held.files, "damaged": held.damaged, "missing": held.missing, **more}
        )
        return
    files = f"{held.files} files" if held.with_files else "no files, as asked"
    state = "is whole" if held.whole else "lacks files"
    done(f"{file} {state}: {held.database} at schema {held.schema}, {rows} rows, {files}, made {made_at}")


def _tell_damage(held: Backup) -> None:
    for files, what in ((held.damaged, "damaged"), (held.missing, "gone")):
        if files:
            note(f"{len(files)} files of the workspace were {what} before the backup, first {files[0]}")
    if not held.whole:
        raise typer.Exit(8)
