"""`guildhall doctor`: what this machine can do, and how to mend what it cannot; with --deep, a workspace's health."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.machine import Ability


def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Look at every record, reference, lease and file of the workspace instead.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the table of verdicts anew from the judgments that are kept.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Close a workspace's folder and files to everybody but their owner.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when anything is missing.")] = False,
) -> None:
    """Say what this machine can and cannot do, and how to fix it; or whether a workspace is whole."""
    if repair:
        _repair(workspace, json and not (deep or rebuild))
    if rebuild:
        _rebuild(workspace, json and not deep)
    if deep:
        _deep(workspace, json)
    if deep or rebuild or repair:
        return
    from guildhall.machine import examine

    findings = [*examine(), *_of_workspace(workspace)]
    if json:
        as_json([vars(finding) for finding in findings])
    else:
        rows = [
            ("yes" if finding.present else "no", finding.name, finding.detail or finding.fix, finding.used_for)
            for finding in findings
        ]
        table("This machine", ["", "what", "found, or how to get it", "used for"], rows)
        missing = [finding for finding in findings if not finding.present]
        note(f"{len(missing)} of {len(findings)} are missing; what needs them says so and the rest works without")
        for words in _open_files(workspace):
            note(words)
    if dead := [one for one in findings if one.used_for == _VITAL and not one.present]:
        note(f"{dead[0].name}: {dead[0].fix}")
        raise typer.Exit(8)
    if strict and not all(finding.present for finding in findings):
        raise typer.Exit(4)


_VITAL = "the workspace"


def _of_workspace(named: WorkspaceOption) -> list[Ability]:
    """Database, clock and disk of the workspace that is named, or that lies in this folder."""
    from guildhall.machine import Ability
    from guildhall.store.checking import vital_signs
    from guildhall.store.workspace import SETTINGS

    path = named or Path.cwd()
    signs = vital_signs(path) if named or (path / SETTINGS).exists() else []
    return [Ability(name, not fix, found, _VITAL, fix) for name, found, fix in signs]


def _open_files(workspace: WorkspaceOption) -> list[str]:
    from guildhall.store.checking import open_files
    from guildhall.store.workspace import SETTINGS

    folder = workspace or Path.cwd()
    return list(open_files(folder)) if (folder / SETTINGS).exists() else []


def _repair(workspace: WorkspaceOption, json: bool) -> None:
    from guildhall.store.checking import close_to_others
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        closed = close_to_others(opened.path)
    as_json({"closed": closed}) if json else done(f"closed {closed} files and folders to everybody but their owner")


def _rebuild(workspace: WorkspaceOption, json: bool) -> None:
    """The table all results are computed from, made again; nothing that was kept is changed."""
    from guildhall.store.verdicts import rebuild
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        judgments = rebuild(opened.store)
    as_json({"judgments": judgments}) if json else done(f"made the table of verdicts anew from {judgments} judgments")


def _deep(workspace: WorkspaceOption, json: bool) -> None:
    """Everything a workspace promised to keep; exit code 8 when something is lost, damaged, doubled or dangling."""
    from guildhall.store.checking import examine_workspace, upkeep
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        health = examine_workspace(opened)
        health.notes += upkeep(opened)
    if json:
        as_json({"faults": [vars(fault) for fault in health.faults], "notes": health.notes, "looked_at": health.counts})
    else:
        if health.faults:
            rows = [(fault.check, fault.subject, fault.what) for fault in health.faults]
            table("Faults", ["check", "what", "is wrong"], rows)
        for words in health.notes:
            note(words)
        looked = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in health.counts.items()) or "nothing"
        done(f"{len(health.faults)} faults; looked at {looked}")
    if health.faults:
        raise typer.Exit(8)
