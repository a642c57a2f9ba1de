"""`guildhall doctor`: what this machine can do, and how to mend what it cannot."""

from __future__ import annotations

from typing import Annotated

import typer

from guildhall.cli.show import as_json, note, table
from guildhall.cli.workspace import JsonOption


def doctor(
    json: JsonOption = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when anything is missing.")] = False,
) -> None:
    """Say what this machine can and cannot do, and how to fix it."""
    from guildhall.machine import examine

    findings = examine()
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
    if strict and not all(finding.present for finding in findings):
        raise typer.Exit(4)
