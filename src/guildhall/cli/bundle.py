"""`guildhall bundle`: a workspace's records and files as one archive, out and in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.store.bundles import Contents, check_bundle, export_bundle, import_bundle
from guildhall.store.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Move a workspace's records and files as one archive.")
BundleFile = Annotated[Path, typer.Argument(metavar="FILE", help="The bundle, by custom named *.guildhall.tar.")]


@app.command("export")
def export(file: BundleFile, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Write everything in the workspace to one archive; the same content gives the same bytes."""
    with Workspace.find(workspace) as opened:
        _show("exported to", file, export_bundle(opened.store, opened.blobs, file), json)


@app.command("import")
def import_(file: BundleFile, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Add what a bundle holds; refused whole when a single byte of it was changed."""
    with Workspace.find(workspace) as opened:
        contents = import_bundle(opened.store, opened.blobs, file)
        if "judgments" in contents.rows:
            # A library that takes its time to load, and few bundles need it.
            from guildhall.store.verdict_parts import close_parts

            close_parts(opened.store, opened.verdict_parts)
        _show("imported from", file, contents, json)


@app.command("check")
def check(file: BundleFile, json: JsonOption = False) -> None:
    """Verify every byte of a bundle; needs no workspace and changes nothing."""
    _show("sound:", file, check_bundle(file), json)


def _show(did: str, file: Path, contents: Contents, json: bool) -> None:
    facts = {
        "file": str(file),
        "records": contents.rows,
        "files": len(contents.present),
        "files_absent": contents.absent,
    }
    if json:
        as_json(facts)
        return
    rows = ", ".join(f"{count} {name}" for name, count in contents.rows.items()) or "no records"
    done(f"{did} {file}: {rows}, {len(contents.present)} files")
    if contents.absent:
        note(f"{contents.absent} files are known by name only: their bytes were never fetched into this workspace")
